"""Evidence that one record moves a release farther than the claim allows."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from .....reference.numbers.families import Whole
from ....evidence.mixture import EvenMixture

_FURTHER = np.array([0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0])  # scales beyond what is allowed
_LEAST, _TRIED = 0.01, 150  # scales, and moves tried for what a pass would have seen
_FINE, _BODY, _VALUES = 200, 25.0, 6_000  # of a law: steps in a scale, scales, and values in all
_QUANTILE = 2.33
_STRIDE = 12  # of moves tried, before those between
_LEAST_TOLD = -1e6  # nats that a release takes at most
_CALIBRATION = 0.5  # of the e-value 0.5 p^-0.5, for moves beyond all bounds

_RATES = np.geomspace(0.005, 0.95, 12)  # of the largest at which a moment is finite
_STEEP = np.array([0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0])  # over the scale, where all are
_MOST_GAINED = 1e6  # nats of a release: more would prove no more


class MovedTooFar(EvenMixture):
    """Wagers for each coordinate and sign that the noise is centred beyond what is allowed.

    The noise is log-concave, so that the ratio of its densities at two centres grows with the
    release. A ratio to the farthest centre allowed is therefore a fair wager for every centre up to
    it. One more wager is on moves of any size: a calibrated p-value of the release under the
    farthest centre allowed.
    """

    def __init__(self, noise: NumberNoise, dimensions: int) -> None:
        self.noise, self.draws = noise, 0
        self.gains = np.zeros((2, dimensions, _FURTHER.size + 1))

    def observe(
        self, released: Matrix, exact: Vector, allowed: float | Matrix, half: Matrix
    ) -> None:
        """Adds releases (n, d) of an input whose neighbour has the exact value `exact` (d,).

        allowed: how far the input's own exact value may lie from that in each number, with what
        floats may add to it. half: half the width of what rounds to each release (n, d). `allowed`
        is kept apart from `exact`: added to a number far from 0 it would be lost.
        """
        law = self._whole if self.noise.family.whole else self._ratios
        for side, sign in enumerate((1.0, -1.0)):
            ratios, tail = law(released, exact, np.asarray(allowed), half, sign)
            self.gains[side, :, :-1] += ratios
            far = math.log(_CALIBRATION) + (_CALIBRATION - 1.0) * np.maximum(tail, _LEAST_TOLD)
            self.gains[side, :, -1] += far.sum(0)
        self.draws += released.size

    def _ratios(
        self, released: Matrix, exact: Vector, allowed: Vector, half: Matrix, sign: float
    ) -> tuple[Matrix, Matrix]:
        """Sums (d, moves) of log-ratios of moves beyond, and log-probabilities (n, d) of tails."""
        moved = sign * allowed
        null = self.noise.log_mass(released, exact, half, moved)
        found = np.zeros((exact.size, _FURTHER.size))
        for place, by in enumerate(_FURTHER * self.noise.family.scale):
            other = self.noise.log_mass(released, exact, half, moved + sign * by)
            with np.errstate(invalid="ignore"):
                # of the ratio, not of one law: far below what is allowed both are tiny
                ratio = np.where(np.isfinite(null), np.maximum(other - null, _LEAST_TOLD), 0.0)
            found[:, place] = ratio.sum(0)
        return found, self.noise.log_tail(released, exact, half, moved, upper=sign > 0)

    def _whole(
        self, released: Matrix, exact: Vector, allowed: Vector, half: Matrix, sign: float
    ) -> tuple[Matrix, Matrix]:
        """What `_ratios` gives, for whole noise on sums that need not be whole.

        The noise is at least the smallest whole number that explains a release from the farthest
        centre allowed, and the ratio at that number is at most the ratio at the noise itself. At an
        end of the range all values beyond it look alike: a release there is taken for the value
        that says least.
        """
        family, low, high = self.noise.family, self.noise.low, self.noise.high
        assert isinstance(family, Whole), "noise that moves by whole steps"
        if sign < 0:  # the law is symmetric
            low, high = -high, -low
        above = sign * (released - exact) - allowed
        least = np.ceil(above - half)
        lowest = np.floor((low - sign * exact) - allowed + np.zeros_like(least))
        highest = np.ceil((high - sign * exact) - allowed - half)
        least = np.where(sign * released - half <= low, lowest, least)
        least = np.where(sign * released >= high, highest, least)
        least = np.clip(least, lowest, highest)
        at_low, at_high = least <= lowest, least >= highest

        def law(by: float) -> Matrix:
            found = family.log_pmf(least - by)
            if at_low.any():
                found = np.where(at_low, family.log_cdf(lowest - by), found)
            if at_high.any():
                found = np.where(at_high, family.log_survival(highest - 1.0 - by), found)
            return found

        found, null = np.zeros((exact.size, _FURTHER.size)), law(0.0)
        # whole numbers move by whole steps
        for place, by in enumerate(np.ceil(_FURTHER * family.scale)):
            with np.errstate(invalid="ignore"):
                ratio = np.maximum(law(by) - null, _LEAST_TOLD)
            decided = np.isfinite(null) & (lowest < highest)
            found[:, place] = np.where(decided, ratio, 0.0).sum(0)
        tail = np.where(at_low | (lowest >= highest), 0.0, family.log_survival(least - 1.0))
        return found, tail

    @property
    def worst(self) -> tuple[int, float]:
        """The coordinate with the most evidence, and the sign of its move."""
        side, place, _ = np.unravel_index(int(np.argmax(self.gains)), self.gains.shape)
        return int(place), 1.0 if side == 0 else -1.0


@dataclass(frozen=True)
class Answered:
    """Releases of an altered input.

    numbers (n, k): those that are looked at. along (n, 2): the projection of all numbers on the
    direction of the record, and that of their sizes on its sizes, which bounds what floats lose.
    """

    numbers: Matrix
    along: Matrix | None


@dataclass(frozen=True)
class Seen:
    """Numbers released (n, k) at coordinates (k,), beside the exact ones (k,) of the neighbour.

    lost (k,): how far floats may carry a sum; half (n, k): half the width of what rounds to each.
    """

    coordinates: NDArray[np.int64]
    released: Matrix
    exact: Vector
    lost: Vector
    half: Matrix

    def wagers(self, noise: NumberNoise, allowed: float) -> MovedTooFar:
        """Evidence of moves beyond what is allowed."""
        evidence = MovedTooFar(noise, self.exact.size)
        evidence.observe(self.released, self.exact, allowed + self.lost, self.half)
        return evidence


class MovedAlong(EvenMixture):
    """Wagers exp(rate t) on projections t, priced by the moments of the noise (Chernoff 1952).

    All numbers together, each weighted by its part u_i of a direction (d,), show a norm that is not
    bounded. The noise of a number has moment E exp(rate u_i N), and the moments multiply; a centre
    nearer than the farthest allowed only lowers a wager. noise: without a range; a grid adds at
    most half a step to each number, a cut a whole one.
    """

    def __init__(self, noise: NumberNoise, direction: Vector) -> None:
        family, parts = noise.family, np.abs(direction)
        largest = float(parts.max())
        steepest = family.steepest / largest
        rates = _RATES * steepest
        if math.isinf(steepest):
            rates = _STEEP / (family.scale * float(np.linalg.norm(parts)))
        self._rates = rates
        self._prices = np.array([family.log_moment(rate * parts).sum() for rate in rates])
        self._rounded = noise.off_middle * float(parts.sum())
        self.gains = np.zeros(rates.size)

    def observe(self, moved: Vector, allowed: Vector) -> None:
        """Adds releases: how far each projection (n,) lies off the exact one, and may lie off."""
        beyond = (moved - allowed) - self._rounded
        gains = np.minimum(self._rates * beyond[:, None] - self._prices, _MOST_GAINED)
        self.gains += gains.sum(0)


def seen_move(noise: NumberNoise, releases: int, coordinates: int, log_threshold: float) -> float:
    """The least move beyond what is allowed that shows with probability 0.99.

    By a normal approximation to what each wager gains, for noise that is not clamped and a move
    allowed that lies on its grid. Infinite where not even ten scales of the noise would show.
    """
    family, scale = noise.family, noise.family.scale
    step = noise.grid or float(family.whole) or scale / _FINE
    wagered, moves = _FURTHER * scale, np.geomspace(_LEAST, _FURTHER[-1], _TRIED) * scale
    if family.whole:
        wagered, moves = np.unique(np.ceil(wagered)), np.unique(np.ceil(moves))
    reach = math.ceil((_FURTHER[-1] + _BODY) * scale / step)
    values = step * np.arange(-reach, reach + 1, max(1, reach // _VALUES))
    null = family.log_mass(values, 0.5 * step)
    gains = np.stack([family.log_mass(values - by, 0.5 * step) - null for by in wagered])
    nats = log_threshold + math.log(2 * coordinates * (_FURTHER.size + 1))

    def shows(move: float) -> bool:
        law = family.log_mass(values - move, 0.5 * step)
        law = np.exp(law - np.logaddexp.reduce(law))
        mean = gains @ law
        deviation = np.sqrt(np.maximum(gains**2 @ law - mean**2, 0.0))
        return bool((releases * mean - _QUANTILE * math.sqrt(releases) * deviation >= nats).any())

    coarse = next((k for k in range(0, moves.size, _STRIDE) if shows(float(moves[k]))), moves.size)
    near = moves[max(coarse - _STRIDE, 0) : coarse + 1]
    return next((float(move) for move in near if shows(float(move))), math.inf)


def taken_for_two_things(low: MovedTooFar, high: MovedTooFar) -> float:
    """Log-evidence that two inputs have different numbers in place of missing ones.

    low, high: of moves where the other records lie at one bound, and at the other, about the middle
    of the bounds in the missing places. If both inputs have the same number there, one of them is
    not centred below its exact value, or the other not above: the smaller of two wagers, one on
    each, has expectation at most 1 either way.
    """
    logs = [
        np.minimum(_mixed(one, 1), _mixed(other, 0)) for one, other in ((low, high), (high, low))
    ]
    return float(np.logaddexp.reduce(np.concatenate(logs)) - math.log(2 * logs[0].size))


def _mixed(evidence: MovedTooFar, side: int) -> Vector:
    """Log of the mean wager (k,) that a number lies above the exact value (0) or below it (1)."""
    gains = evidence.gains[side]
    return np.asarray(np.logaddexp.reduce(gains, axis=1) - math.log(gains.shape[1]))
