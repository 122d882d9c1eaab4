"""The search for inputs that take what a plan's own inputs hardly take, on a shadow of the target.

It sees no judged answer. Executions are counted, never seconds, so that seed and source determine
what is found.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..findings.note import Fields
from .asked import CallEnd, CallSeen
from .counting import Outcome
from .decision import Decision, decision_words
from .left_out import LeftOut
from .shadow import Shadow

Call = tuple[Any, int]
"""An input, and how many releases a call asks for."""

NOISES = (1, 2, 3)
"""Under each of these an outcome must come: what one's own noise decides is no branch to ask."""

_MOST_CALLS = 3_000  # executions of candidates, without those that confirm
_A_CALL = 256  # releases that count as one more execution
_MOST_CONFIRMED = 150  # candidates that are run under several noises
_AT_ONCE = 24  # candidates in one process
_KEPT = 3  # sequences of each outcome, of one way to make them
_CHEAPER = 0.7  # of the dearest one kept, at which another takes its place
_LONGEST_PERIOD, _PERIODS = 64, 3
_MOST_ROWS = 1_000_000  # of all candidates; as many of those that are confirmed
_ROWS_AT_ONCE = 30_000  # of the candidates in one process, but for one that is larger
_MANY_ROWS = 2_000  # from which a candidate is confirmed without being run twice over


@dataclass(frozen=True)
class Candidate:
    """Calls in their order, whose last one is judged.

    answers: of it, that half the noise takes to show; every: whether each call is judged by itself,
    as the outcome comes with every so-manieth call, from which one on nobody knows; after_refusal:
    whether it is asked in any case, where a call before the last one is refused; way: in which it
    is made, by which some of each are kept; rows: of all its inputs, where what a call takes grows
    with them.
    """

    calls: tuple[Call, ...]
    answers: float
    way: str = ""
    rows: int = 0
    every: bool = False
    after_refusal: bool = False

    @property
    def cost(self) -> float:
        """Answers in all until half the noise would show, those before the last call included."""
        last = max(1, self.calls[-1][1])
        before = sum(size for _, size in self.calls[:-1])
        return self.answers * (1.0 + before / last)

    @property
    def repeats(self) -> int:
        """How often it is asked, until half the noise would have shown."""
        return max(1, math.ceil(self.answers / self.calls[-1][1]))

    @property
    def judged(self) -> int:
        """How many of the calls are judged, each as an input of its own: the last ones."""
        return len(self.calls) if self.every else 1


@dataclass(frozen=True)
class PlannedCalls:
    """Calls that a plan makes, one after the other.

    inputs: of each call, by which equal ones are known; answers: how many of the plan's each stands
    for; nats: of evidence against half the noise that one of them brings; noise: under which.
    """

    calls: tuple[Call, ...]
    inputs: tuple[bytes, ...]
    answers: tuple[float, ...]
    nats: tuple[float, ...]
    noise: int = NOISES[0]


Tried = Sequence[tuple[Candidate, tuple[float, float]]]
"""Candidates, and the two sides of a comparison that each came to."""


class InputSource(ABC):
    """What a kind of release knows of its inputs.

    shares: numbers between 0 and 1 in the source, which may be meant as shares of a total; turns:
    how often the other side of a comparison is looked for; kept_of_a_way: candidates of an outcome,
    of one way to make them, that are kept; needed: nats of evidence with which half the noise has
    shown.
    """

    needed: float
    shares: tuple[float, ...] = ()
    turns = 1
    kept_of_a_way = _KEPT

    @abstractmethod
    def planned(self) -> Iterator[PlannedCalls]:
        """The calls of the plan."""

    def candidates(self, constants: Sequence[int]) -> Iterator[Candidate]:
        """Inputs that a plan may ask, made of whole numbers in the source, the cheapest first.

        None where nothing is searched.
        """
        return iter(())

    def telling(self) -> Candidate | None:
        """One call, on the input that tells most of the noise; None where calls are not counted."""
        return None

    def across(self, number: int, tried: Tried, turn: int) -> Iterable[Candidate]:
        """Inputs that may take a comparison of two numbers to the outcome that never came.

        number: of the decision; tried: candidates, with the two sides that each gave it.
        """
        return ()

    def kept(self, kept: Sequence[Candidate], candidate: Candidate) -> list[Candidate] | None:
        """The candidates that are kept of an outcome once one more takes it; None: as they were."""
        alike = [one for one in kept if one.way == candidate.way]
        if len(alike) >= self.kept_of_a_way and candidate.cost >= _CHEAPER * alike[-1].cost:
            return None
        others = [one for one in kept if one.way != candidate.way]
        best = sorted([*alike, candidate], key=lambda one: one.cost)[: self.kept_of_a_way]
        return sorted(others + best, key=lambda one: one.cost)

    def out_of_reach(self, search: "Search") -> Mapping[Outcome, str]:
        """What outcomes would take that no input of a run has, in words."""
        return {}


class Exercised:
    """How far a plan's answers exercise each outcome."""

    def __init__(self) -> None:
        self._each: defaultdict[Outcome, Counter[bytes]] = defaultdict(Counter)
        self._asked = Counter[bytes]()
        self._nats = dict[bytes, float]()

    def add(self, seen: Sequence[CallSeen], planned: PlannedCalls) -> None:
        """Adds what a run of these calls took."""
        given = zip(seen, planned.inputs, planned.answers, planned.nats, strict=False)
        for call, key, answers, nats in given:
            self._nats[key] = nats
            self._asked[key] += answers  # type: ignore[assignment]
            for outcome in call.taken if call.ended is CallEnd.ANSWERED else ():
                self._each[outcome][key] += answers  # type: ignore[assignment]

    @property
    def outcomes(self) -> set[Outcome]:
        """Those that came at all."""
        return set(self._each)

    def answers(self, outcome: Outcome) -> float:
        """Answers of calls in which it came."""
        return float(sum(self._each.get(outcome, {}).values()))

    def nats(self, outcome: Outcome) -> float:
        """Nats that half the noise would make there, on the input where they are most.

        Answers of one input are judged together: where the outcome comes in a share of them alone,
        so much of each nat is left.
        """
        each: Counter[bytes] = self._each.get(outcome, Counter())
        found = (n * n / self._asked[key] * self._nats[key] for key, n in each.items())
        return max(found, default=0.0)


AFTER_REFUSAL: Outcome = (-1, "")
_AFTER_REFUSAL = Decision("", 0, "the call before was refused", ("",))


@dataclass(frozen=True)
class Reached:
    """A sequence that takes an outcome which the plan hardly takes.

    Of `AFTER_REFUSAL`, no decision is known: a test that ends in `raise` may still leave its mark.
    """

    outcome: Outcome
    decision: Decision
    candidate: Candidate

    @property
    def place(self) -> str:
        """`file.py:12`; empty where no line is known."""
        return f"{self.decision.file}:{self.decision.line}" if self.decision.file else ""

    @property
    def words(self) -> str:
        """The decision and the way that it goes, as reports name them."""
        return decision_words(self.place, self.decision.text, self.outcome[1])

    @property
    def after(self) -> str:
        """Which of several calls the last one is, at the end of what was asked; empty of one."""
        calls = len(self.candidate.calls)
        return "" if calls == 1 else f", the last of {calls} calls"

    @property
    def fields(self) -> Fields:
        """Where it is, of a finding."""
        return {"file": self.place, "outcome": self.outcome[1]}


def in_turns(reached: Sequence[Reached]) -> list[Reached]:
    """The first sequence of each outcome, then the second of each; of a turn the cheapest first."""
    met, turned = Counter[Outcome](), list[tuple[int, bool, float, int, Reached]]()
    for one in reached:
        of = one.candidate
        turned.append((met[one.outcome], not one.decision.shown, of.cost, of.rows, one))
        met[one.outcome] += 1
    return [one for *_, one in sorted(turned, key=lambda it: it[:-1])]


class Search:
    """Runs a plan's calls on a shadow, then candidates, and keeps what reaches more."""

    def __init__(self, shadow: Shadow, source: InputSource) -> None:
        self.shadow, self.source = shadow, source
        self.exercised = Exercised()
        self.spared = frozenset[str]()  # lines that `allow` of the claim names
        self.met = set[Outcome]()  # by the plan or by any candidate
        self.reached: defaultdict[Outcome, list[Candidate]] = defaultdict(list)
        self.unanswered: list[Candidate] = []  # of one call
        self.sides = dict[int, list[tuple[Candidate, tuple[float, float]]]]()
        self._left, self._confirmed = _MOST_CALLS, 0
        self._rows_left = self._rows_to_confirm = _MOST_ROWS

    def run(self) -> list[Reached]:
        """What was reached, by the outcome. Raises LeftOut."""
        failed, answered = self.shadow.trouble, False
        for planned in self.source.planned():
            seen = self.shadow.run(planned.calls, planned.noise)
            if len(seen) < len(planned.calls):
                why = self.shadow.trouble or "it ended"
                raise LeftOut(f"its copy did not answer the calls of the plan: {why}")
            self.exercised.add(seen, planned)
            answered = answered or any(call.ended is not CallEnd.FAILED for call in seen)
            failed = failed or self.shadow.trouble or next((call.why for call in seen), "")
        if not answered:  # as a source that is named may be called otherwise
            raise LeftOut(f"its copy answered no call of the plan: {failed or 'it ended'}")
        self.met.update(self.exercised.outcomes)
        self.source.shares = self.shadow.shares
        candidates = self.source.candidates(self.shadow.constants)
        self._try_all(candidates)
        for turn in range(self.source.turns):
            for number in self.one_sided():
                self._try_all(self.source.across(number, self.sides[number], turn))
        for period in sorted({c for c in self.shadow.constants if 1 < c <= _LONGEST_PERIOD}):
            self._try_every(period)
        found = []
        for outcome, kept in sorted(self.reached.items(), key=lambda item: item[0]):
            refusal = outcome == AFTER_REFUSAL
            decision = _AFTER_REFUSAL if refusal else self.shadow.decisions[outcome[0]]
            found += [Reached(outcome, decision, candidate) for candidate in kept]
        return found

    def lacking(self, outcome: Outcome) -> bool:
        """Whether the plan's answers would not show half the noise where an outcome is taken."""
        return self.exercised.nats(outcome) < self.source.needed

    def _try_all(self, candidates: Iterable[Candidate]) -> None:
        waiting = iter(candidates)
        while self._left > 0:
            some = list(self._next(waiting))
            if not some:
                return
            self._try(some)

    def _next(self, waiting: Iterator[Candidate]) -> Iterator[Candidate]:
        """Those that are run in one process; none once the rows are used up."""
        rows = 0
        for candidate in islice(waiting, _AT_ONCE):
            if candidate.rows > self._rows_left:
                self._rows_left = 0
                return
            self._rows_left -= candidate.rows
            rows += candidate.rows
            yield candidate
            if rows >= _ROWS_AT_ONCE:
                return

    def _try(self, some: list[Candidate]) -> None:
        """Runs some candidates one after the other, and confirms those that take more."""
        calls = [call for candidate in some for call in candidate.calls]
        self._left -= sum(executions(size) for _, size in calls)
        seen = self.shadow.run(calls, NOISES[0])
        place = 0
        for candidate in some:
            place += len(candidate.calls)
            if place > len(seen):
                return
            last, own = seen[place - 1], seen[place - len(candidate.calls) : place]
            ends = {call.ended for call in own[:-1]}
            refused = candidate.after_refusal and CallEnd.REFUSED in ends
            if refused and last.ended is CallEnd.ANSWERED and AFTER_REFUSAL not in self.reached:
                self.reached[AFTER_REFUSAL] = [candidate]
            if last.ended is CallEnd.ANSWERED and CallEnd.FAILED not in ends:
                self._look_at(candidate, last)
            elif len(candidate.calls) == 1:
                self.unanswered.append(candidate)

    def _look_at(self, candidate: Candidate, last: CallSeen) -> None:
        for number, sides in last.sides.items():
            self.sides.setdefault(number, []).append((candidate, sides))
        wanted = {outcome for outcome in last.taken if self._wants(outcome, candidate)}
        self.met.update(last.taken)
        rows = len(NOISES) * self._times(candidate) * candidate.rows
        if not wanted or self._confirmed >= _MOST_CONFIRMED or rows > self._rows_to_confirm:
            return
        self._confirmed += 1
        self._rows_to_confirm -= rows
        for outcome in self._recurring(candidate) & wanted:
            known = self.reached[outcome]
            self.reached[outcome] = self.source.kept(known, candidate) or known

    @staticmethod
    def _times(candidate: Candidate) -> int:
        """How often a candidate is run, one after the other, to be confirmed."""
        return 1 if candidate.rows > _MANY_ROWS else 2

    def _wants(self, outcome: Outcome, candidate: Candidate) -> bool:
        """Whether a candidate would be kept for an outcome."""
        known = self.reached.get(outcome, ())
        return self.lacking(outcome) and self.source.kept(known, candidate) is not None

    def _recurring(self, candidate: Candidate) -> set[Outcome]:
        """The outcomes of the last call, run twice over, that come under every noise."""
        found: set[Outcome] | None = None
        calls = candidate.calls * self._times(candidate)
        for noise in NOISES:
            seen = self.shadow.run(calls, noise)
            failed = any(call.ended is CallEnd.FAILED for call in seen)
            if failed or len(seen) < len(calls) or seen[-1].ended is not CallEnd.ANSWERED:
                return set()
            found = set(seen[-1].taken) if found is None else found & set(seen[-1].taken)
        return found or set()

    def _try_every(self, period: int) -> None:
        """Looks for outcomes that come with every so-manieth call alone."""
        one = self.source.telling()
        places: dict[Outcome, list[int]] = {}
        if one is None or self._left < _PERIODS * period:
            return
        self._left -= _PERIODS * period
        for place, call in enumerate(self.shadow.run(one.calls * (_PERIODS * period), NOISES[0])):
            for outcome in call.taken:
                places.setdefault(outcome, []).append(place)
        for outcome, met in places.items():
            regular = [met[0] + period * turn for turn in range(_PERIODS)]
            if met == regular and self.lacking(outcome) and not self.reached[outcome]:
                self.met.add(outcome)
                each = Candidate(one.calls * period, one.answers, every=True)
                self.reached[outcome] = [each]

    def one_sided(self) -> list[int]:
        """The comparisons of two numbers of which one outcome never came."""
        return [
            number
            for number in self.sides
            if not all((number, way) in self.met for way in self.shadow.decisions[number].outcomes)
        ]


def nearest(tried: Tried) -> Candidate:
    """The candidate at which the two sides of a comparison were nearest to each other."""
    return min(tried, key=lambda one: abs(one[1][0] - one[1][1]))[0]


def executions(size: int) -> int:
    """What a call counts: one that asks for many releases takes longer."""
    return 1 + size // _A_CALL
