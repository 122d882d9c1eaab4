"""Whole noise whose law is a table, found from its transform.

A law is found from the transform E exp(z N): of the noise tilted by exp(theta k), for several
theta, so that its tails have as many digits as its middle.
"""

import math
from abc import abstractmethod
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Vector
from .additive import Rival
from .continuous import Gaussian
from .discrete import DiscreteGaussian, DiscreteLaplace
from .whole import Complex, Whole

if TYPE_CHECKING:
    from flint import arb

_RARE = -100.0  # log-probability to which a law is summed; beyond it is extended from above
_APART = 3.0  # standard deviations between the middles of two tilted laws
_STEEPEST = 0.9  # of the rates that have a moment
_ALIAS = 1e-14  # of the largest mass: what may be left at the far end of a period
_DIGITS = 1e-9  # of the largest mass: below, a tilted law has too few digits
_MOST_POINTS = 1 << 24


class Tabled(Whole):
    """Whole noise, symmetric around 0, that has no short formula: its law is a table."""

    accounted = True

    @abstractmethod
    def transform(self, theta: float, points: int) -> tuple[float, Complex]:
        """Log E exp(theta N), and what E exp((theta + it) N) is of it at t = 2 pi j / points.

        j: from 0 to points // 2.
        """

    @abstractmethod
    def masses(self) -> "tuple[list[arb], arb]":
        """Balls around P(noise = k), k = 0, 1, ..., of noise that is cut off; how much that is."""

    @property
    def continuous(self) -> Gaussian:
        return Gaussian(self.standard_deviation)

    def rivals(self) -> list[Rival]:
        """Noise by one party alone, at equal variance."""
        wide = self.standard_deviation
        found = [
            family(wide / family.unit_spread) for family in (DiscreteGaussian, DiscreteLaplace)
        ]
        return [Rival(one, "of equal variance", likely=True) for one in found]

    @property
    def _beyond(self) -> float:
        """What the log-probability falls by, per number, beyond the table: at most."""
        return float(self._table[-2] - self._table[-1])

    @cached_property
    def _table(self) -> Vector:
        """Log-probabilities of 0, 1, 2, ... up to where they are below `_RARE`."""
        found, best = np.full(1, -np.inf), np.full(1, -np.inf)
        theta = 0.0
        while True:
            log_pmf, log_share, deviation = self._tilted(theta)
            more = max(0, log_pmf.size - found.size)
            found, best = (np.pad(a, (0, more), constant_values=-np.inf) for a in (found, best))
            better = log_share > best[: log_share.size]
            found[: log_pmf.size][better], best[: log_share.size][better] = (
                log_pmf[better],
                log_share[better],
            )
            told = int(np.flatnonzero(best > math.log(_DIGITS))[-1])
            if theta >= _STEEPEST * self.steepest or found[told] < _RARE:
                return found[: max(told, 1) + 1]
            theta = min(theta + _APART / max(deviation, 1.0), _STEEPEST * self.steepest)

    def _tilted(self, theta: float) -> tuple[Vector, Vector, float]:
        """Log-probabilities from 0 on by the law tilted so; logs of their share in its largest.

        Beside them its standard deviation. The period is doubled until its far end is empty.
        """
        points, step = 64, 1e-3 * min(1.0, self.steepest)
        above, below = (self.transform(theta + by, 2)[0] for by in (step, -step))
        middle = round((above - below) / (2.0 * step))
        while points <= _MOST_POINTS:
            log_moment, ratios = self.transform(theta, points)
            mass = np.fft.irfft(ratios.conj(), points)
            first = middle - points // 2
            mass = np.roll(mass, -first)
            ends, few = mass.max() * _ALIAS, points // 32
            if max(np.abs(mass[:few]).max(), np.abs(mass[-few:]).max()) <= ends:
                k = np.arange(first, first + points, dtype=np.float64)
                centre = float(mass @ k)
                deviation = math.sqrt(max(float(mass @ np.square(k - centre)), 0.0))
                held = np.maximum(mass[k >= 0], np.finfo(float).tiny)
                log_mass = np.log(held)
                log_pmf = log_mass - theta * k[k >= 0] + log_moment
                log_share = log_mass - math.log(mass.max())
                if first > 0:  # what lies before the period is too rare to be told
                    before = np.full(first, -np.inf)
                    log_pmf = np.concatenate([before, log_pmf])
                    log_share = np.concatenate([before, log_share])
                return log_pmf, log_share, deviation
            points *= 2
        raise ValueError(f"{self}: its law is too wide to be summed, expected a smaller scale")

    @property
    def told(self) -> Vector:
        """The whole numbers (k,) beyond which the noise lies with probability below 1e-40."""
        last = float(self._table.size - 1)
        return np.arange(-last, last + 1.0)

    @cached_property
    def _log_tails(self) -> Vector:
        """Log-probabilities of values above k, for k from 0 to the end of the table."""
        last = self._table[-1] - self._beyond - _log_rest(self._beyond)
        return np.logaddexp.accumulate(np.concatenate([[last], self._table[:0:-1]]))[::-1]

    @cached_property
    def standard_deviation(self) -> float:
        k = np.arange(1.0, self._table.size)
        return math.sqrt(2.0 * math.fsum(np.square(k) * np.exp(self._table[1:])))

    def log_pmf(self, number: Vector) -> Vector:
        k, last = np.abs(np.asarray(number, dtype=np.float64)), self._table.size - 1
        within = self._table[np.minimum(k, last).astype(np.int64)]
        with np.errstate(invalid="ignore"):
            return np.asarray(within - np.where(k > last, self._beyond * (k - last), 0.0))

    def log_survival(self, value: Vector) -> Vector:
        k, last = np.floor(np.asarray(value, dtype=np.float64)), self._table.size - 1
        right, left = (np.clip(end, 0, last).astype(np.int64) for end in (k, -k - 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(k > last, self._beyond * (k - last), 0.0)
            left_far = np.where(-k - 1.0 > last, self._beyond * (-k - 1.0 - last), 0.0)
            below = np.log1p(-np.exp(self._log_tails[left] - left_far))
            return np.where(k >= 0, self._log_tails[right] - far, below)

    def log_moment(self, rate: Vector) -> Vector:
        rates = np.asarray(rate, dtype=np.float64)
        found = [self.transform(abs(float(r)), 2)[0] for r in rates.ravel()]
        return np.reshape(found, rates.shape)

    def pure_epsilon(self, by: float, times: int = 1) -> float:
        return math.inf

    def move_delta(self, by: float, epsilon: float) -> float:
        """Its ratio need not grow along the numbers, all are summed."""
        k = self.told - math.floor(0.5 * by)
        near, far = self.log_pmf(k), self.log_pmf(k + by)
        far, near = far[near > -np.inf], near[near > -np.inf]
        with np.errstate(invalid="ignore"):
            rest = np.where(far > -np.inf, np.minimum(epsilon + far - near, 0.0), -np.inf)
        return math.fsum(-np.exp(near) * np.expm1(rest))

    def losses(self, by: float, pessimistic: bool, interval: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution as pld

        k = np.arange(self.told[0], self.told[-1] + by + 1.0)
        laws = []
        for centre in (0.0, by):
            held = self.log_pmf(k - centre)
            laws.append({int(n): float(p) for n, p in zip(k, held, strict=True) if p > -np.inf})
        return pld.from_two_probability_mass_functions(
            *laws, pessimistic_estimate=pessimistic, value_discretization_interval=interval
        )

    def enclosed_tail(self, value: "arb", whole: int) -> "arb":
        from flint import ctx

        found = survivals(self, ctx.prec)
        return found[whole] if whole < len(found) else found[-1] * type(value)(0.5, 0.5)


@lru_cache(maxsize=32)
def survivals(family: Tabled, precision: int) -> "list[arb]":
    """Balls around P(noise >= k) for k = 0, 1, ..., at so many bits; the last holds all beyond."""
    from flint import arb, ctx

    with ctx.workprec(precision):
        masses, lost = family.masses()
        above, found = arb(0), []
        for mass in reversed(masses):
            above += mass
            found.append(above + lost * arb(0, 1))
        return [*reversed(found), lost * arb(0.5, 0.5)]


def _log_rest(slope: float) -> float:
    """Log of 1 - exp(-slope)."""
    return math.log(-math.expm1(-slope)) if slope > 0 else -math.inf


def law_modulo(family: Tabled, modulus: int) -> Vector:
    """Probabilities (modulus,) of the residues 0, 1, ... of the noise: what a tally modulo it has.

    By the characteristic function at the multiples of 2 pi / modulus, which wraps the law around
    exactly. Raises ValueError for a modulus below 2, or too large for a table.
    """
    if not 2 <= modulus <= _MOST_POINTS:
        raise ValueError(f"modulus {modulus}: expected 2 to {_MOST_POINTS:,}")
    return np.maximum(np.fft.irfft(family.transform(0.0, modulus)[1], modulus), 0.0)
