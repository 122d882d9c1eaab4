"""`privacy-audit` of keys: in which order they stand in a reply tells no more than is claimed."""

import math
from collections.abc import Sequence

import numpy as np

from .....reference.arrays import Matrix
from ....findings.excluded import Excluded, would_show
from ....findings.note import Note
from ....run.checks import Reason, without_privacy
from ...numbers.checks.pair_check import PairEvents, PairEvidence, compared
from ...numbers.checks.privacy_audit import ClaimedLevelCheck
from ...numbers.claim import NumbersClaim
from ...numbers.evidence.two_events import Hits, Level, both_ways
from ...numbers.planning.pairs import NumberPair
from ..claim import KeysClaim

_SCALES = 30.0  # above the threshold: such a key is always released
_OTHERS = 0.2  # of the releases of the first pair, of each other size


class KeysPrivacyAudit(ClaimedLevelCheck):
    """Keys far above the threshold, one of which gets a record: which of them stands first.

    The order of noisy counts is as private as the counts; that of exact ones is not private at all,
    nor that of coarser ones, which the record carries over a step.
    """

    claim: KeysClaim
    draws = 2_000
    cause = Note(
        "order-tells-counts", "keys are released in an order that their exact counts decide"
    )

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        """Why it does not apply to a claim."""
        if claim.mechanism.width == 1:
            return Note("single-value", "a single key has no order")
        return without_privacy(claim)

    def made(self) -> list[NumberPair]:
        """Of equals, the middle one passes another, whichever is first."""
        keys = self.claim.mechanism.keys
        made = []
        for often in steps(max(keys.threshold, 1.0) + _SCALES * self.noise.family.scale):
            few = often - 1
            if self.claim.mechanism.replaces:
                made.append(self._pair((often, few), (few, often)))
            elif keys.cells == 2:
                made += [self._pair((few, few), more) for more in ((often, few), (few, often))]
            else:
                made.append(self._pair((few,) * 3, (few, often, few)))
        return made

    def _pair(self, here: tuple[int, ...], there: tuple[int, ...]) -> NumberPair:
        """A pair of inputs in which some keys, chosen by the run's seed, have these counts."""
        width = self.claim.mechanism.width
        chosen = np.random.default_rng([self.seed, 2]).choice(width, len(here), replace=False)
        places, made = np.sort(chosen), []
        for counts in (here, there):
            values = np.zeros(width, dtype=np.int64)
            values[places] = counts
            made.append(values)
        named = [str(place) for place in places]
        one, other = (
            f"counts of {_listed([str(n) for n in counts])} in keys {_listed(named)}"
            for counts in (here, there)
        )
        return NumberPair((one, other), made[0], made[1], (0.0, 1.0), places, np.zeros(len(here)))

    def releases(self, pair: NumberPair) -> int:
        first = pair is self.pairs[0]
        return self.most(self.wanted if first else math.ceil(_OTHERS * self.wanted))

    def evidence(self, pair: NumberPair) -> "OrderEvidence":
        return OrderEvidence(self.level, pair.coordinates.size)

    def event(self, pair: NumberPair, evidence: PairEvidence) -> tuple[str, float, float]:
        assert isinstance(evidence, OrderEvidence)
        place, here, there = evidence.worst
        first, second = pair.coordinates[place : place + 2]
        words = compared(f"key {first} stands before key {second}", here, there, pair.words)
        return words, max(here, there), min(here, there)

    def passed(
        self, found: list[tuple[NumberPair, PairEvidence]], excludes: Sequence[Excluded]
    ) -> str:
        _, evidence = found[0]
        return (
            f"the order of two keys in {evidence.pairs:,} releases of neighbours does not "
            f"contradict {self.level}{would_show(excludes)}"
        )


class OrderEvidence(PairEvents):
    """Wagers on which of two keys, of each with the next, stands first, in either direction.

    level: claimed; keys: how many are looked at.
    """

    def __init__(self, level: Level, keys: int = 2) -> None:
        super().__init__(2 * (keys - 1), (level,))

    @property
    def worst(self) -> tuple[int, float, float]:
        """The key whose order with the next tells most, and how often it is first in either."""
        place = self.best[0] % (len(self.counts) // 2)
        return (place, *self.rates(place))

    def hits(self, here: Matrix, there: Matrix) -> tuple[Hits, Hits]:
        """Places (n, k) in the reply, 0 where a key is not in it."""
        return both_ways(_first(here), _first(there))


def steps(least: float) -> list[int]:
    """Counts above `least` that are rounded or cut otherwise than those one lower, often first.

    A power of ten, of two and of e, and halves of ten, a hundred and a thousand: cut to digits or
    bits, to a magnitude, or rounded.
    """
    powers = [base ** math.ceil(math.log(least + 1.0, base)) for base in (10.0, 2.0, math.e)]
    halves = [(2 * math.ceil(least / (2 * step)) + 1.5) * step for step in (10, 100, 1_000)]
    return [math.ceil(count) for count in [*map(_exact, powers), *halves]]


def _exact(power: float) -> float:
    """A power that floats have carried off a whole number."""
    return float(round(power)) if abs(power - round(power)) < 1e-6 * power else power


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _first(places: Matrix) -> Hits:
    """Whether (n, k - 1) each key stands before the next."""
    both = (places[:, :-1] > 0) & (places[:, 1:] > 0)
    return np.asarray(both & (places[:, :-1] < places[:, 1:]))
