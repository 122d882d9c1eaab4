"""What the checks of pairs share: the releases of two neighbours are compared until they differ."""

import math
from collections.abc import Sequence
from typing import Any

from .....reference.arrays import Matrix
from .....reference.numbers.moves import move_epsilon
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.verdict import Verdict
from ....run.checks import Check, Reason, RunContext
from ....targets import Refused
from ..claim import NumbersClaim
from ..evidence.two_events import SEEN, Hits, LearnedEvents, Level, TwoEvents
from ..planning.asked import finite
from ..planning.pairs import NumberPair
from ..planning.plan import NumbersPlan

_FEWEST = 200  # draws of each input
_FIRST, _SHARE, _LARGEST = 25, 0.2, 1_000
"""Releases per call: in the first one, later as a share of those before, and at most."""
_MOST_NUMBERS = 20_000_000  # of all releases of an input together
_AT_ONCE = 2_000_000  # numbers per call
_BY_BINOMIAL = "the binomial law of how often an event comes that the other input never has"
_DELTAS = (1e-5, 1e-3, 0.02)
"""Deltas at which Gaussian noise has an epsilon: small ones for rare events, large for others."""


class PairEvents(TwoEvents):
    """Evidence from events fixed beforehand; subclasses say of which releases they hold."""

    def hits(self, here: Matrix, there: Matrix) -> tuple[Hits, Hits]:
        """Which events hold, from releases (n, d) of either input; see `TwoEvents.count`."""
        raise NotImplementedError

    def observe(self, here: Matrix, there: Matrix) -> None:
        """Adds as many releases (n, d) of the one input as of the other."""
        self.count(*self.hits(here, there))


PairEvidence = PairEvents | LearnedEvents


class PairCheck(Check):
    """Asks both inputs of each pair in turn, in calls that grow, until the evidence refutes.

    A pair is left out where the target refuses it, or where the null allows so much that nothing
    would show; if every pair is, the check does not apply. Each pair has evidence of its own, and
    an equal part of the check's share of `false_alarm`.
    """

    claim: NumbersClaim
    plan: NumbersPlan
    queries: int = 0
    draws: int
    """How many draws of each input a pass has looked at."""
    cause: Note
    """Of a pair that is told apart."""

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self.noise = claim.mechanism.added
        self.pairs = self.made()
        self.wanted = max(min(_FEWEST, self.draws), math.ceil(plan.share * self.draws))
        self.log_threshold += math.log(max(len(self.pairs), 1))

    def made(self) -> list[NumberPair]:
        """The pairs that are asked."""
        raise NotImplementedError

    def evidence(self, pair: NumberPair) -> PairEvidence:
        """New evidence for a pair."""
        raise NotImplementedError

    def fail_finding(self, pair: NumberPair, evidence: PairEvidence) -> Outcome:
        """The outcome where a pair is told apart."""
        raise NotImplementedError

    def passed(
        self, found: list[tuple[NumberPair, PairEvidence]], excludes: Sequence[Excluded]
    ) -> str:
        """What to say where no pair is told apart; excludes: what that excludes."""
        raise NotImplementedError

    @property
    def asks(self) -> int:
        return sum(2 * self.releases(pair) for pair in self.pairs if self._tells(pair))

    def _tells(self, pair: NumberPair) -> bool:
        """Whether any event could show in the releases that are asked of a pair."""
        return self.evidence(pair).share_needed(self.log_threshold, self.pairs_of(pair)) <= 1.0

    def conclude(self, context: RunContext) -> Outcome | None:
        found, left_out = [], []
        for pair in self.pairs:
            evidence = self.evidence(pair)
            if not self._tells(pair):
                few = f" in {self.releases(pair):,} releases" if self.plan.share < 1.0 else ""
                message = f"the claim allows {pair.name} so much that nothing would show{few}"
                left_out.append(Note("cannot-be-seen-here", message))
                continue
            try:
                whole = self._gather(context, pair, evidence)
            except Refused as refusal:
                why = f"the target refuses {pair.name}: {refusal}"
                left_out.append(Note("input-refused", why))
                continue
            if evidence.log_e_value >= self.log_threshold:
                return self.fail_finding(pair, evidence)
            if not whole:
                context.use_up()
                return None
            found.append((pair, evidence))
        if not found:
            whys = "; ".join(why.message for why in left_out)
            refused = [why.code for why in left_out if why.code == "input-refused"]
            nothing = Note((refused or ["cannot-be-seen-here"])[0], whys)
            return Outcome(Verdict.NOT_APPLICABLE, Finding.of(nothing), self.queries)
        excludes = self.excluded_by([pair for pair, _ in found])
        passed = Finding(self.passed(found, excludes), excludes=excludes)
        return Outcome(Verdict.PASS, passed, self.queries)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """By all pairs in which anything could show."""
        return self.excluded_by([pair for pair in self.pairs if self._tells(pair)])

    def excluded_by(self, pairs: Sequence[NumberPair]) -> tuple[Excluded, ...]:
        """What a pass excludes by these pairs, which were asked: an event of one input alone."""
        pairs = self.told_of(pairs)
        if not pairs:
            return ()
        needed = [
            self.evidence(pair).share_needed(self.log_threshold, self.bets(pair)) for pair in pairs
        ]
        code, size = self.cause_of(pairs[0]).code, {"share": max(needed)}
        inputs = dict.fromkeys(words for pair in pairs for words in pair.words)
        asked = sum(2 * self.releases(pair) for pair in pairs)
        return (self.entry(code, size, inputs, asked, method=_BY_BINOMIAL, probability=SEEN),)

    def told_of(self, pairs: Sequence[NumberPair]) -> Sequence[NumberPair]:
        """Of which pairs a pass says what would have been seen: of the first."""
        return pairs[:1]

    def cause_of(self, pair: NumberPair) -> Note:
        """Why a pair is told apart, if it is."""
        return self.cause

    def bets(self, pair: NumberPair) -> int:
        """On how many pairs of draws something is bet."""
        return self.pairs_of(pair)

    def releases(self, pair: NumberPair) -> int:
        """Releases of each input of a pair: as many as make enough draws, or as memory allows."""
        return self.most(math.ceil(self.wanted / pair.coordinates.size))

    def pairs_of(self, pair: NumberPair) -> int:
        """How many pairs of draws these releases make."""
        return self.releases(pair) * pair.coordinates.size

    def most(self, wanted: int) -> int:
        """`wanted` releases, or as many as memory and time allow."""
        return max(2, min(wanted, _MOST_NUMBERS // self.claim.mechanism.width))

    def _gather(self, context: RunContext, pair: NumberPair, evidence: PairEvidence) -> bool:
        """Asks a pair; False where the budget ends before it is told apart or wholly asked."""
        left = self.releases(pair)
        while left:
            size = self.call(pair, left)
            if context.left < 2 * size:
                return False
            here = self._released(context, pair.here, size)
            there = self._released(context, pair.there, size)
            evidence.observe(here[:, pair.coordinates], there[:, pair.coordinates])
            if evidence.log_e_value >= self.log_threshold:
                return True
            left -= size
        return True

    def call(self, pair: NumberPair, left: int) -> int:
        """Releases of the next call for an input of a pair, of which so many are left."""
        largest = max(1, min(_LARGEST, _AT_ONCE // self.claim.mechanism.width))
        return min(max(_FIRST, int(_SHARE * (self.releases(pair) - left))), left, largest)

    def _released(self, context: RunContext, values: Any, size: int) -> Matrix:
        reply = context.target.ask(values, size)
        context.spend(size)
        self.queries += size
        context.tell(self.id, context.queries)
        return finite(self.claim.release, reply, values, size)


def compared(words: str, often: float, rarely: float, inputs: tuple[str, str]) -> str:
    """An event in words, with its shares in the releases of two inputs, the likelier one first."""
    one, other = inputs
    return (
        f"{words} in {often:.2%} of the releases of {one} and in {rarely:.2%} of those of its "
        f"neighbour, {other}"
    )


def levels(claim: NumbersClaim, pair: NumberPair) -> tuple[Level, ...]:
    """The epsilons and deltas that the claimed noise gives a number that moves as the pair's does.

    Raises ValueError for whole noise on a number that moves by a fraction.
    """
    family = claim.mechanism.aggregation.noise.family
    deltas = (0.0,) if family.pure else _DELTAS
    whole = family.whole and (pair.exact[1] - pair.exact[0]).is_integer()
    move = round(pair.move) if whole else pair.move
    return tuple(Level(move_epsilon(family, move, delta), delta) for delta in deltas)


def beyond(level: Level, pairs: int) -> str:
    """Why an event is too frequent, by the claimed noise; `[privacy]` plays no part."""
    return (
        f"the claimed noise gives a number that moves as theirs does {level}, which does not allow "
        f"that ({pairs:,} pairs)"
    )


def of_pair(often: float, rarely: float, level: Level, pairs: int) -> dict[str, float]:
    """What a message tells of an event that one of two inputs has too often, as fields."""
    allowed = {"epsilon": level.epsilon, "delta": level.delta}
    return {"often": often, "rarely": rarely, **allowed, "pairs": pairs}


def fractions(claim: NumbersClaim) -> Reason:
    """Why whole noise hides nothing, where sums need not be whole; None where it does hide."""
    family = claim.mechanism.aggregation.noise.family
    if not family.whole or claim.mechanism.of_whole_numbers:
        return None
    return Note(
        "whole-noise-on-fractions",
        f"{family} is added to sums of any numbers: it hides whole ones alone, of records between "
        "whole lower and upper",
    )
