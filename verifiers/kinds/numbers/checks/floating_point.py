"""`floating-point`: the low bits of a release do not reveal what the noise should hide."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.numbers.floats import ulp
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import Reason
from ....run.phase import Phase
from ..claim import NumbersClaim
from ..evidence.two_events import Hits
from ..planning.pairs import NumberPair, low_pairs, off_grid_pairs
from .pair_check import PairCheck, PairEvents, PairEvidence, beyond, levels, of_pair

_DIGITS = {53: np.float64, 24: np.float32}
_GRIDS = ((53, 41), (24, 13))
"""Digits of floats, and how many powers of two below the scale a grid is that they show."""

_FINER = (0, 1, 2)  # powers of two below the spacing of what is summed


@dataclass(frozen=True)
class BitEvent:
    """An event of released numbers, by its name and a test.

    first: whether it is likelier at the first input of the pair than at the second.
    """

    name: str
    test: Callable[[Vector], Hits]
    first: bool


def bit_events(exact: tuple[float, float], scale: float) -> tuple[BitEvent, ...]:
    """The events of a pair of exact numbers, of which the second lies farther from 0.

    Where the first is 0, the release is the noise itself, and events of its own bits are added.
    """
    found = []
    spacing = _exponent(exact[1])
    for digits, word in ((53, "a double"), (24, "single precision")):
        for finer in _FINER:
            power = spacing - digits - finer
            name = f"a bit at or below 2^{power} is set"
            found.append(BitEvent(name, partial(_low, power), True))
        if exact[0] == 0.0:
            name = f"the last bit of {word} is set just below a power of two"
            found.append(BitEvent(name, partial(_cross, exact[1], digits), True))
            name = f"the release is no product of the scale with {word}"
            found.append(BitEvent(name, partial(_hole, scale, digits), False))
    return tuple(found)


def grid_events(exact: tuple[float, float], scale: float) -> tuple[BitEvent, ...]:
    """Events of a pair that lies on no grid: with noise on one, releases lie whole steps off it."""
    found = []
    for number, first in zip(exact, (True, False), strict=True):
        for digits, finer in _GRIDS:
            power = _exponent(scale) - finer
            name = f"the release lies a multiple of 2^{power} off {number:.6g}"
            found.append(BitEvent(name, partial(_beside, number, power, digits), first))
    return tuple(found)


def _exponent(number: float) -> int:
    return int(np.frexp(number)[1]) - 1


def _low(power: int, numbers: Vector) -> Hits:
    """Whether the lowest bit that is set is worth 2^power or less: no multiple of twice that."""
    with np.errstate(over="ignore"):  # what is infinite then is a multiple of all that is small
        multiples = np.ldexp(numbers, -power - 1)
    return np.asarray(multiples != np.rint(multiples))


def _beside(number: float, power: int, digits: int, numbers: Vector) -> Hits:
    """Whether a release lies a multiple of 2^power off a number, but for what floats lose."""
    steps = np.ldexp(numbers - number, -power)
    lost = 2.0 * ulp(np.maximum(np.abs(numbers), abs(number)), digits)
    return np.asarray(np.abs(steps - np.rint(steps)) <= np.ldexp(lost, -power))


def _cross(move: float, digits: int, numbers: Vector) -> Hits:
    """On the other side of 0, within the move below a power of two, the last bit set.

    From the number moved away such a release is a sum with noise of the next binade, whose spacing
    is twice as wide.
    """
    mantissa, exponent = np.frexp(-numbers if move > 0 else numbers)
    above = np.ldexp(1.0, exponent)
    near = (above - np.abs(numbers) < abs(move)) & (above >= 2.0 * abs(move))
    return np.asarray((mantissa > 0) & near & (np.ldexp(mantissa, digits) % 2.0 == 1.0))


def _hole(scale: float, digits: int, numbers: Vector) -> Hits:
    """Whether no float times the scale is the release: such products leave floats out."""
    kind: Any = _DIGITS[digits]
    with np.errstate(over="ignore"):
        released, by = numbers.astype(kind), kind(scale)
    around = released / by
    hit = np.asarray(released == numbers)  # of another precision there is nothing to say
    for number in (around, np.nextafter(around, kind(-np.inf)), np.nextafter(around, kind(np.inf))):
        hit &= number * by != released
    return hit


_OFF_GRID = Note("sums-off-grid", "noise on a grid is added to exact numbers that lie off it")


class LowBits(PairEvents):
    """Wagers that low bits tell two exact numbers apart more than the claimed noise allows."""

    def __init__(self, claim: NumbersClaim, pair: NumberPair) -> None:
        scale = claim.mechanism.aggregation.noise.family.scale
        self.events = bit_events(pair.exact, scale)
        if pair.off_grid:
            self.events = grid_events(pair.exact, scale)
        super().__init__(len(self.events), levels(claim, pair))

    def hits(self, here: Matrix, there: Matrix) -> tuple[Hits, Hits]:
        """Every number is a draw."""
        sides = []
        for released in (here, there):
            numbers = released.ravel()
            sides.append(np.stack([event.test(numbers) for event in self.events], axis=1))
        first = np.array([event.first for event in self.events])
        return np.where(first, *sides), np.where(first, *sides[::-1])


class FloatingPoint(PairCheck):
    """Pairs of exact numbers around which floats are spaced differently, or that lie on no grid."""

    id = "floating-point"
    phase = Phase.OWN
    draws = 5_000
    cause = Note("low-bits-tell", "noise is drawn and added in floating point")

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        noise = claim.mechanism.aggregation.noise
        if noise.family.whole:
            return Note("no-low-bits", f"{noise.family} is whole: its releases have no low bits")
        if noise.grid:
            message = f"{noise} is claimed to be rounded: noise-law holds releases to that grid"
            return Note("no-low-bits", message)
        return None

    def made(self) -> list[NumberPair]:
        pairs = low_pairs(self.claim.mechanism, self.plan.coordinates)
        if self.claim.mechanism.floating_point == "exact":
            pairs += off_grid_pairs(self.claim.mechanism, self.plan.coordinates)
        return pairs

    def evidence(self, pair: NumberPair) -> LowBits:
        return LowBits(self.claim, pair)

    def fail_finding(self, pair: NumberPair, evidence: PairEvidence) -> Outcome:
        """A warning where the claim has ideal arithmetic."""
        assert isinstance(evidence, LowBits)
        place, level = evidence.best
        event = evidence.events[place]
        often, rarely = evidence.rates(place)
        inputs = pair.exact if event.first else pair.exact[::-1]
        message = (
            f"low bits tell {pair.exact[0]:g} from {pair.exact[1]:g}: {event.name} in "
            f"{often:.2%} of the releases of {inputs[0]:g} and {rarely:.2%} of those of "
            f"{inputs[1]:g}: {beyond(level, evidence.pairs)}"
        )
        if self.claim.mechanism.floating_point == "exact":
            cause = self.cause_of(pair)
            seen = of_pair(often, rarely, level, evidence.pairs)
            found = Finding.caused(message, cause, event=event.name, **seen)
            return Outcome(Verdict.FAIL, found, self.queries)
        warning = f'{self.id}: {message}; floating_point = "exact" would make this a failure'
        allowed = f'allowed, since the claim has floating_point = "ideal": {message}'
        rates: Fields = {"event": event.name, "often": often, "rarely": rarely}
        noted = Note("low-bits-allowed", warning, rates)
        found = Finding(allowed, self.cause.message, warnings=(noted,))
        return Outcome(Verdict.PASS, found, self.queries)

    def passed(
        self, found: list[tuple[NumberPair, PairEvidence]], excludes: Sequence[Excluded]
    ) -> str:
        pair, evidence = found[0]
        message = f"low bits were not seen to tell {pair.name} apart, in {evidence.pairs:,} pairs"
        return message + would_show(excludes or super().excluded_by([pair]))

    def excluded_by(self, pairs: Sequence[NumberPair]) -> tuple[Excluded, ...]:
        """Nothing where low bits that tell are allowed."""
        exact = self.claim.mechanism.floating_point == "exact"
        return super().excluded_by(pairs) if exact else ()

    def cause_of(self, pair: NumberPair) -> Note:
        return _OFF_GRID if pair.off_grid else self.cause
