"""Asks the target what the search has found, and shows the releases to `noise-law`."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ....findings.note import Note
from ....paths.background import BackgroundSearch, Searched, searched_spec
from ....paths.counting import Outcome
from ....paths.left_out import LeftOut
from ....paths.lines import not_exercised
from ....paths.search import Call, Candidate, Reached, Search, in_turns
from ....run.error_budget import log_threshold
from ....run.request import RunRequest
from ....targets import Refused, TargetError
from ....targets.replies import CallError
from ..checks.at_branches import BranchInput
from ..checks.fresh_noise import FreshNoise
from ..checks.noise_law import NoiseLaw
from ..claim import NumbersClaim
from ..gathering import Gathering
from ..planning.asked import Asked, Batch, Draws, asked_for
from ..planning.plan import NumbersPlan
from .candidates import MOST_RELEASES, NumberSource, nats_of_a_draw, out_of_reach
from .inputs import GROWS, SERVED

_AFTER = 4_096  # releases: what shows earlier does not wait for the search
_SPARE = 28.0  # nats: of weights, and so that one input in a hundred misses half the noise
_ROUNDS = 4  # in which the releases of all inputs are asked
_INPUTS, _MOST, _LEAST = 40, 8_000, 12  # inputs, releases in all, and of an input
_ROWS = 2_000_000  # records that are sent for them
_FULL = 50_000  # queries from which the search runs
_MOST_REFUSED = 20_000  # records of a refused input that is judged: it is sent some forty times


@dataclass(frozen=True)
class _Chosen:
    """A sequence that is asked, how often, and the input of each of its calls.

    outcomes: that it was kept for; asked: None where a number of an input is not finite, whose
    releases nobody can judge.
    """

    reached: Reached
    outcomes: set[Outcome]
    repeats: int
    asked: tuple[Asked | None, ...]

    @property
    def judged(self) -> int:
        """How many of the calls are judged, each as an input of its own: the last ones."""
        return len(self.asked) if self.reached.candidate.every else 1


class NumberSteering:
    """The search beside a run of numbers, and what it found.

    Args:
        gathering: asks.
        request: of the run.
        releases: of a pass.
    """

    def __init__(
        self, gathering: Gathering, request: RunRequest, releases: Callable[[], int]
    ) -> None:
        self.gathering, self._done = gathering, False
        self.searched: Searched | None = None
        self._search: BackgroundSearch | None = None
        self._outcomes = set[Outcome]()  # whose inputs were asked for to the end
        self._law = next((c for c in gathering.checks if isinstance(c, NoiseLaw)), None)
        plan, claim = gathering.plan, gathering.claim
        if self._law is None or not steers(claim, plan):
            return
        spec = searched_spec(gathering.state.target, claim, request)
        if isinstance(spec, LeftOut):
            self.searched = Searched(why=str(spec))
            self._law.of_code = self.searched.words
        elif spec is not None:
            needed = self._law.log_threshold + _SPARE
            self._search = BackgroundSearch(
                spec,
                claim,
                lambda: NumberSource(claim, plan, request.seed, needed, releases()),
            )

    def ask(self) -> bool:
        """Asks what was found, once the run has asked enough; False when the run should end."""
        if self._search is None or self._done or self.gathering.state.queries < _AFTER:
            return True
        return self.ask_now()

    def ask_now(self) -> bool:
        """Asks what was found, wherever the run stands; False when the run should end."""
        gathering, law = self.gathering, self._law
        if self._search is None or self._done or law is None:
            return True
        self._done = True
        gathering.state.tell("waiting for the search of the code")
        self.searched = self._search.wait()
        law.of_code = self.searched.words
        if self.searched.search is not None:
            self._ask_refused(self.searched.search)
        most = min(most_steered(gathering.claim), gathering.state.left)
        chosen = [self._chosen(*one) for one in choose(self.searched.reached, most)]
        if chosen:
            law.begin_branches([_input_of(one) for one in chosen for _ in range(one.judged)])
            self._ask(law, chosen)
        return not gathering.stops()

    def _ask(self, law: NoiseLaw, chosen: Sequence[_Chosen]) -> None:
        """Asks every input in rounds, each for its share of what half the noise needs there."""
        left_out = set[int]()
        for turn in range(_ROUNDS):
            place = 0
            for number, one in enumerate(chosen):
                judged = range(place, place := place + one.judged)
                if number in left_out:
                    continue
                self.gathering.state.tell("asking at branches of the code")
                batches, of_each = list[Batch](), [list[Batch]() for _ in judged]
                times = range(turn, one.repeats, _ROUNDS)
                if one.reached.candidate.every:  # calls between would move it to other places
                    times = range(one.repeats if turn == 0 else 0)
                for _ in times:
                    found = self._sequence(one, answered=bool(turn or batches))
                    if found is None:
                        left_out.add(number)
                        break
                    batches += found
                    for own, batch in zip(of_each, found[-one.judged :], strict=True):
                        own.append(batch)
                self._show(law, dict(zip(judged, of_each, strict=True)), batches)
            if self.gathering.stops():
                return
        for number, one in enumerate(chosen):
            if number not in left_out:
                self._outcomes |= one.outcomes

    def _sequence(self, one: _Chosen, *, answered: bool) -> list[Batch] | None:
        """The releases of a sequence, the last ones last; None where a judged call is refused.

        answered: whether it was answered before, so that a refusal is an error: to leave it out
        because of what noise may have decided would not be fair.

        A call before these may be refused, as inputs that are not finite are.
        """
        gathering, found = self.gathering, list[Batch]()
        target, release = gathering.state.target, gathering.claim.release
        calls = list(zip(one.reached.candidate.calls, one.asked, strict=True))
        for place, ((values, size), asked) in enumerate(calls):
            judged = place >= len(calls) - one.judged
            try:
                if asked is None:
                    target.ask(values, size)
                    gathering.state.spend(size)
                    continue
                batch = asked_for(target, release, asked, [size])
            except Refused as refusal:
                if judged and answered:
                    raise CallError(
                        release.text(values, size),
                        f"was refused, although this input was answered before: {refusal}",
                        code="refused-later",
                    ) from None
                if judged:
                    return None
                continue
            except TargetError:
                if asked is None:
                    return None
                raise
            gathering.state.spend(size)
            found.append(batch)
        return found

    def _show(
        self, law: NoiseLaw, of_each: Mapping[int, Sequence[Batch]], batches: Sequence[Batch]
    ) -> None:
        """Shows releases to the law, those of judged calls alone, and whether any are copies.

        Releases in single precision are left out of these: beside others they would be taken for
        finer floats than they are, and some are alike by chance.
        """
        gathering, coordinates = self.gathering, self.gathering.plan.coordinates
        typed = gathering.claim.release.typed
        fine = tuple(batch for batch in batches if not typed(batch.asked.values))
        for place, own in of_each.items():
            if own:
                law.observe_branch(place, Draws(tuple(own), gathering.placing, coordinates))
        law.refuted  # noqa: B018 - a look: evidence that refutes is kept as it is now
        for fresh in gathering.checks if fine else ():
            if isinstance(fresh, FreshNoise):
                fresh.observe(Draws(fine, gathering.placing, coordinates))
                fresh.refuted  # noqa: B018 - as above

    def _ask_refused(self, search: Search) -> None:
        """Asks what the copy did not answer although the claim serves it: the existing way."""
        contract, state = self.gathering.contract, self.gathering.state
        unanswered = [
            one for one in search.unanswered if one.way in SERVED and one.rows <= _MOST_REFUSED
        ]
        if not unanswered or contract.by_data.waits:
            return
        fewest = min(unanswered, key=lambda one: one.rows)
        typical = self.gathering.plan.inputs[0].records
        more = [one for one in unanswered if one.way == GROWS and one.rows > typical + 1]
        named = {id(fewest): fewest}
        if more:
            many = min(more, key=lambda one: one.rows)
            named[id(many)] = many
        contract.ask_more(state, [self._asked(one.calls[0][0]) for one in named.values()])

    def _chosen(self, reached: Reached, outcomes: set[Outcome]) -> _Chosen:
        calls = reached.candidate.calls
        asked = tuple(self._asked(values) if _is_finite(values) else None for values, _ in calls)
        return _Chosen(reached, outcomes, repeats_of(reached.candidate), asked)

    def _asked(self, values: Any) -> Asked:
        mechanism = self.gathering.claim.mechanism
        return Asked.of(mechanism.release, values, mechanism.aggregation.exact(values), "steered")

    def close(self) -> None:
        """Ends a search that is still going on."""
        if self._search is not None:
            self._search.close()

    def lines(self) -> list[Note]:
        """What was not exercised in the code, for the warnings of a pass."""
        if self.searched is None:
            return []
        search = self.searched.search
        if search is None:
            return [*self.searched.left_out]
        beyond = out_of_reach(search)
        return not_exercised(search, self._outcomes, self.gathering.state.queries, beyond)


def steers(claim: NumbersClaim, plan: NumbersPlan) -> bool:
    """Whether inputs may be steered: a run of numbers at full breadth."""
    return claim.kind.name == "numbers" and claim.gate.max_queries >= _FULL and plan.share == 1.0


@cache
def most_steered(claim: NumbersClaim) -> int:
    """Releases that are asked of what the search has found, at most."""
    share = claim.kind.checks.shares[NoiseLaw.id]
    nats = log_threshold(share, claim.gate.false_alarm) + _SPARE
    width = min(claim.mechanism.width, MOST_RELEASES)
    each = math.ceil(nats / (nats_of_a_draw(claim) * width))
    return min(_MOST, _INPUTS * min(max(_LEAST, each), MOST_RELEASES))


def choose(reached: Sequence[Reached], most: int) -> list[tuple[Reached, set[Outcome]]]:
    """The sequences that are asked, with all outcomes that they were kept for.

    One of each outcome first, as far as `most` releases go.
    """
    chosen: dict[tuple[Any, ...], tuple[Reached, set[Outcome]]] = {}
    left, rows = most, _ROWS
    for one in in_turns(reached, lambda it: (it.candidate.cost, it.candidate.rows)):
        candidate = one.candidate
        times, key = repeats_of(candidate), tuple(_key(call) for call in candidate.calls)
        if key in chosen:
            chosen[key][1].add(one.outcome)
            continue
        releases = times * sum(size for _, size in candidate.calls)
        if releases <= left and times * candidate.rows <= rows:
            chosen[key] = one, {one.outcome}
            left, rows = left - releases, rows - times * candidate.rows
    return list(chosen.values())


def repeats_of(candidate: Candidate) -> int:
    """How often a sequence is asked, until half the noise would have shown."""
    return max(1, math.ceil(max(candidate.answers, _LEAST) / candidate.calls[-1][1]))


def _input_of(chosen: _Chosen) -> BranchInput:
    decision, calls = chosen.reached.decision, chosen.reached.candidate.calls
    asked = chosen.asked[-1]
    assert asked is not None
    place = f"{decision.file}:{decision.line}" if decision.file else ""
    outcome = chosen.reached.outcome[1]
    return BranchInput(asked, place, decision.text, outcome, len(calls), calls[-1][1])


def _key(call: Call) -> tuple[Any, ...]:
    values, size = call
    tensors = values if isinstance(values, list) else [values]
    return size, *((tensor.dtype.str, tensor.shape, tensor.tobytes()) for tensor in tensors)


def _is_finite(values: Any) -> bool:
    tensors = values if isinstance(values, list) else [values]
    return all(bool(np.isfinite(tensor).all()) for tensor in tensors)
