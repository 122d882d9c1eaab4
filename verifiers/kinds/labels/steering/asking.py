"""Asks the target what the search has found, and shows the labels to `class-probabilities`."""

import math
from collections.abc import Sequence

from ....findings.note import Note
from ....paths.background import BackgroundSearch, Searched, searched_spec
from ....paths.counting import Outcome
from ....paths.left_out import LeftOut
from ....paths.lines import code_hints, not_exercised
from ....paths.search import Candidate, Reached, in_turns
from ....run.error_budget import log_threshold
from ....run.request import RunRequest
from ....targets import Refused
from ..checks.at_branches import BranchHistogram
from ..checks.input_contract import RefusedLaterError
from ..gathering.gathering import LabelsGathering
from ..planning.plan import Plan
from ..registry import SHARES
from .candidates import LabelSource

MOST_QUERIES = 3_000
"""Labels that are asked of inputs that the search has found."""

_AFTER = 8_192  # queries: what shows earlier does not wait for the search
_SPARE = 40.0  # nats: of weights, and so that one run in a thousand misses half the noise
_ROUNDS = 8  # in which the labels of all inputs are asked
_FULL = 50_000  # planned queries from which the search runs


class LabelSteering:
    """The search beside a run of labels, and what it found.

    Args:
        gathering: asks.
        request: of the run.
    """

    def __init__(self, gathering: LabelsGathering, request: RunRequest) -> None:
        self.gathering, self._asked = gathering, False
        self.searched: Searched | None = None
        self._search: BackgroundSearch | None = None
        self._outcomes = set[Outcome]()  # whose inputs were asked for to the end
        self._split = set[_Key]()  # sequences whose calls were made in several parts
        plan, claim = gathering.plan, gathering.plan.claim
        if not steers(plan) or gathering.observers.labels is None:
            return
        spec = searched_spec(gathering.state.target, claim, request)
        if isinstance(spec, LeftOut):
            self.searched = Searched(why=str(spec))
        elif spec is not None:
            needed = log_threshold(SHARES["class-probabilities"], claim.gate.false_alarm) + _SPARE
            others = gathering.contract.serves_other_totals

            def source() -> LabelSource:
                return LabelSource(plan, request.seed, needed, other_totals=others)

            refuses = claim.mechanism.refuses
            self._search = BackgroundSearch(spec, claim, source, refuses=refuses)

    def close(self) -> None:
        """Ends a search that is still going on."""
        if self._search is not None:
            self._search.close()

    def ask(self) -> bool:
        """Asks what was found, once the run has asked enough; False when the run should end."""
        gathering = self.gathering
        if self._search is None or self._asked or gathering.state.queries < _AFTER:
            return True
        return self.ask_now()

    def ask_now(self) -> bool:
        """Asks what was found, wherever the run stands; False when the run should end."""
        gathering = self.gathering
        if self._search is None or self._asked:
            return True
        self._asked = True
        gathering.state.tell("waiting for the search of the code")
        self.searched = self._search.wait()
        if gathering.observers.labels is not None:
            gathering.observers.labels.of_code = self.searched.words or None
        chosen = choose(self.searched.reached, min(MOST_QUERIES, gathering.state.left))
        labels = gathering.observers.labels
        if not chosen or labels is None:
            return True
        inputs = [_input_of(reached) for reached in chosen for _ in range(_judged(reached))]
        labels.begin_branches(inputs)
        self._ask(chosen)
        return gathering.goes_on

    def _ask(self, chosen: Sequence[Reached]) -> None:
        """Asks every input in rounds, each for its share of what half the noise needs there.

        What comes with every so-manieth call is asked in one round: calls of other inputs between
        would move it to other places.
        """
        refused = set[int]()
        for turn in range(_ROUNDS):
            place = 0
            for number, reached in enumerate(chosen):
                judged = range(place, place := place + _judged(reached))
                if number in refused or not self.gathering.goes_on:
                    continue
                self.gathering.state.tell("asking at branches of the code")
                whole, every = _repeats(reached.candidate), reached.candidate.every
                times = range(turn, whole, _ROUNDS) if not every else range(whole * (turn == 0))
                for _ in times:
                    if not self._sequence(reached.candidate, judged):
                        refused.add(number)
                        break
                self.gathering.say_seen()
        asked = {_key(one.candidate) for k, one in enumerate(chosen) if k not in refused}
        asked -= self._split
        found = () if self.searched is None else self.searched.reached
        self._outcomes.update(one.outcome for one in found if _key(one.candidate) in asked)

    def lines(self) -> list[Note]:
        """What was not exercised in the code, and hints, for the warnings of a pass."""
        if self.searched is None:
            return []
        if self.searched.search is None:
            return [*self.searched.left_out]
        search, noise = self.searched.search, self.gathering.plan.claim.mechanism.noise
        return [
            *not_exercised(search, self._outcomes, self.gathering.state.queries),
            *code_hints(search, whole=noise.unrounded is not noise),
        ]

    def _sequence(self, candidate: Candidate, judged: range) -> bool:
        """Asks the calls of a sequence; False where one that is judged is refused.

        judged: the places of the inputs, the last of which is that of the last call.
        """
        asking, state = self.gathering.asking, self.gathering.state
        check = self.gathering.observers.labels
        assert check is not None
        for number, (votes, size) in enumerate(candidate.calls):
            place = len(judged) - len(candidate.calls) + number
            try:
                labels = asking.call(votes, size)
            except Refused as refusal:
                if place < 0:
                    continue
                assert check.branches is not None
                if check.branches.counts[judged[place]].any():
                    named = self.gathering.plan.claim.named(votes)
                    message = f"{named} is refused, but was answered: {refusal}"
                    raise RefusedLaterError(message) from None
                return False
            if getattr(state.target, "parts", (size,)) != (size,):
                self._split.add(_key(candidate))  # a slow target's calls are smaller
            state.spend(labels.size)
            if place >= 0:
                check.observe_branch(judged[place], labels)
        return True


def steers(plan: Plan) -> bool:
    """Whether inputs may be steered: a plan of some size, of any histogram, each label fresh."""
    claim = plan.claim
    kept = claim.mechanism.caching or bool(claim.given)
    wanted = claim.gate.paths is not False and not kept
    return wanted and min(plan.queries, claim.gate.max_queries) >= _FULL


def choose(reached: Sequence[Reached], most: int) -> list[Reached]:
    """The sequences that are asked: the cheapest of each outcome first, as far as `most` goes."""
    chosen, left, known = list[Reached](), float(most), set[_Key]()
    for one in in_turns(reached, lambda it: (not it.decision.shown, it.candidate.cost)):
        cost = _repeats(one.candidate) * sum(size for _, size in one.candidate.calls)
        if cost <= left and _key(one.candidate) not in known:
            known.add(_key(one.candidate))
            chosen.append(one)
            left -= cost
    return chosen


_Key = tuple[tuple[bytes, int], ...]


def _key(candidate: Candidate) -> _Key:
    """By which equal sequences are known."""
    return tuple((votes.tobytes(), size) for votes, size in candidate.calls)


def _judged(reached: Reached) -> int:
    """How many of the calls of a sequence are judged, each as an input of its own."""
    return len(reached.candidate.calls) if reached.candidate.every else 1


def _repeats(candidate: Candidate) -> int:
    """How often a sequence is asked, until half the noise would have shown."""
    return max(1, math.ceil(candidate.answers / candidate.calls[-1][1]))


def _input_of(reached: Reached) -> BranchHistogram:
    decision, calls = reached.decision, reached.candidate.calls
    histogram = tuple(int(v) for v in calls[-1][0])
    place = f"{decision.file}:{decision.line}" if decision.file else ""
    return BranchHistogram(histogram, place, decision.text, reached.outcome[1], len(calls))
