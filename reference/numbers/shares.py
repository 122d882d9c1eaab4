"""Noise that several parties add in shares: its exact law, by characteristic functions.

Each party adds a share of its own, so that nobody knows all of the noise. A law is found from the
transform E exp(z N): of the noise tilted by exp(theta k), for several theta, so that its tails
have as many digits as its middle.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..arrays import Vector
from .discrete import DiscreteGaussian, DiscreteLaplace, Whole

_RARE = -100.0  # log-probability to which a law is summed; beyond it is extended from above
_APART = 3.0  # standard deviations between the middles of two tilted laws
_STEEPEST = 0.9  # of the rates that have a moment
_ALIAS = 1e-14  # of the largest mass: what may be left at the far end of a period
_DIGITS = 1e-9  # of the largest mass: below, a tilted law has too few digits
_MOST_POINTS = 1 << 24

Complex = NDArray[np.complex128]


class Tabled(Whole):
    """Whole noise, symmetric around 0, that has no short formula: its law is a table."""

    def transform(self, theta: float, points: int) -> tuple[float, Complex]:
        """Log E exp(theta N), and what E exp((theta + it) N) is of it at t = 2 pi j / points.

        j: from 0 to points // 2.
        """
        raise NotImplementedError

    @property
    def spread(self) -> float:
        """About the standard deviation, before there is a table."""
        return self.scale

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
        """See `Additive.standard_deviation`."""
        k = np.arange(1.0, self._table.size)
        return math.sqrt(2.0 * math.fsum(np.square(k) * np.exp(self._table[1:])))

    def log_pmf(self, number: Vector) -> Vector:
        """See `Whole.log_pmf`."""
        k, last = np.abs(np.asarray(number, dtype=np.float64)), self._table.size - 1
        within = self._table[np.minimum(k, last).astype(np.int64)]
        with np.errstate(invalid="ignore"):
            return np.asarray(within - np.where(k > last, self._beyond * (k - last), 0.0))

    def log_survival(self, value: Vector) -> Vector:
        """See `Additive.log_survival`."""
        k, last = np.floor(np.asarray(value, dtype=np.float64)), self._table.size - 1
        right, left = (np.clip(end, 0, last).astype(np.int64) for end in (k, -k - 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(k > last, self._beyond * (k - last), 0.0)
            left_far = np.where(-k - 1.0 > last, self._beyond * (-k - 1.0 - last), 0.0)
            below = np.log1p(-np.exp(self._log_tails[left] - left_far))
            return np.where(k >= 0, self._log_tails[right] - far, below)

    def log_moment(self, rate: Vector) -> Vector:
        """See `Additive.log_moment`."""
        rates = np.asarray(rate, dtype=np.float64)
        found = [self.transform(abs(float(r)), 2)[0] for r in rates.ravel()]
        return np.reshape(found, rates.shape)


def _log_rest(slope: float) -> float:
    """Log of 1 - exp(-slope)."""
    return math.log(-math.expm1(-slope)) if slope > 0 else -math.inf


class Skellam(Tabled):
    """The difference of two Poisson numbers; scale: its standard deviation.

    Agarwal, Kairouz, Liu 2021, "The Skellam mechanism", Definition 2.
    """

    family = "skellam"

    @property
    def steepest(self) -> float:
        """See `Additive.steepest`."""
        return math.inf

    def transform(self, theta: float, points: int) -> tuple[float, Complex]:
        """See `Tabled.transform`."""
        t = _angles(points)
        variance = self.scale**2
        here = 2.0 * math.cosh(theta) * np.square(np.sin(0.5 * t))
        ratios = np.exp(-variance * here + 1j * variance * math.sinh(theta) * np.sin(t))
        return variance * 2.0 * math.sinh(0.5 * theta) ** 2, ratios

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """See `Additive.sample`."""
        half = 0.5 * self.scale**2
        return (rng.poisson(half, shape) - rng.poisson(half, shape)).astype(np.float64)


class Binomial(Tabled):
    """Heads among fair coins less half of these; scale: its standard deviation.

    The coins are the even number nearest to 4 scale^2, at least 2. Agarwal, Suresh, Yu, Kumar,
    McMahan 2018, "cpSGD", section 4.
    """

    family = "binomial"

    @property
    def coins(self) -> int:
        """How many coins are thrown."""
        return max(2, 2 * round(2.0 * self.scale**2))

    @property
    def steepest(self) -> float:
        """See `Additive.steepest`."""
        return math.inf

    def transform(self, theta: float, points: int) -> tuple[float, Complex]:
        """See `Tabled.transform`."""
        t, slope = 0.5 * _angles(points), math.tanh(0.5 * theta)
        with np.errstate(under="ignore"):
            ratios = (np.cos(t) + 1j * slope * np.sin(t)) ** self.coins
        half = 0.5 * abs(theta)
        log_cosh = half + math.log1p(math.exp(-2.0 * half)) - math.log(2.0)
        return self.coins * log_cosh, np.asarray(ratios, dtype=np.complex128)

    @cached_property
    def _table(self) -> Vector:
        """See `Tabled._table`: it ends where all coins fall alike, and has a formula."""
        return _of_coins(self.coins)

    @property
    def _beyond(self) -> float:
        return math.inf

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """See `Additive.sample`."""
        heads = rng.binomial(self.coins, 0.5, shape)
        return (heads - self.coins // 2).astype(np.float64)


_DIVISIBLE = (DiscreteLaplace, Skellam)
"""Families of which a share is such that all shares together follow the family exactly."""

SHARED: dict[str, type[Whole]] = {
    family.family: family for family in (DiscreteLaplace, DiscreteGaussian, Skellam, Binomial)
}
"""The families whose noise may come in shares, by name."""


@dataclass(frozen=True)
class Shares(Tabled):
    """The sum of `present` shares, of which `parties` together make the noise of one `single`.

    scale: of the single noise. Discrete Laplace noise is a difference of two sums of negative
    binomial (Polya) numbers, and Skellam noise one of Poisson numbers: any number of shares makes
    them exactly. A share of discrete Gaussian or binomial noise is a draw at scale / sqrt(parties)
    (Kairouz, Liu, Steinke 2021, "The distributed discrete Gaussian mechanism"), whose sum is only
    nearly of that family; the law here is that of the sum. Parties that drop out leave fewer
    shares, and so do colluders, who subtract what they know.

    With parties = 1, `present` draws of the single noise are added: two aggregators' are
    present = 2. Raises ValueError unless both are at least 1.
    """

    single: type[Whole] = DiscreteLaplace
    present: int = 1
    parties: int = 1

    family = "shares"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.single not in SHARED.values():
            raise ValueError(f"shares of {self.single.family}: expected one of {', '.join(SHARED)}")
        if self.present < 1 or self.parties < 1:
            raise ValueError(f"shares {self.present}/{self.parties}: expected at least 1 of each")

    def __str__(self) -> str:
        how = (
            f"sum={self.present}" if self.parties == 1 else f"shares={self.present}/{self.parties}"
        )
        return f"{self.single(self.scale)};{how}"

    @property
    def ratio(self) -> float:
        """What the variance is of that of the single noise, exactly or nearly."""
        return self.present / self.parties

    @property
    def steepest(self) -> float:
        """See `Additive.steepest`."""
        return self.single(self.scale).steepest

    @property
    def spread(self) -> float:
        """See `Tabled.spread`."""
        wider = math.sqrt(2.0) if self.single is DiscreteLaplace else 1.0
        return wider * self.scale * math.sqrt(self.ratio)

    @property
    def each(self) -> Whole:
        """The law of one share, where it is of the family."""
        return self.single(self.scale / math.sqrt(self.parties))

    def transform(self, theta: float, points: int) -> tuple[float, Complex]:
        """See `Tabled.transform`."""
        if self.single is DiscreteLaplace:
            return _two_sided(self.scale, self.ratio, theta, points)
        each = self.single(self.scale * math.sqrt(self.ratio)) if self._divisible else self.each
        times = 1 if self._divisible else self.present
        if isinstance(each, DiscreteGaussian):
            log_moment, ratios = _discrete_gaussian(each, theta, points)
        else:
            assert isinstance(each, Tabled)
            log_moment, ratios = each.transform(theta, points)
        with np.errstate(under="ignore"):
            return times * log_moment, np.asarray(ratios**times, dtype=np.complex128)

    @property
    def _divisible(self) -> bool:
        return self.single in _DIVISIBLE

    @property
    def _beyond(self) -> float:
        """See `Tabled._beyond`: log-concave laws fall ever faster; fewer than one share do not."""
        if self.single is DiscreteLaplace and self.ratio < 1.0:
            return 1.0 / self.scale
        return math.inf if self.single is Binomial else super()._beyond

    @cached_property
    def _table(self) -> Vector:
        """See `Tabled._table`."""
        if self.single is Binomial:
            assert isinstance(self.each, Binomial)
            return _of_coins(self.present * self.each.coins)
        return super()._table

    def share(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Independent draws of one party's share, of the given shape."""
        if self.single is DiscreteLaplace:
            rate = -math.expm1(-1.0 / self.scale)
            up, down = (rng.negative_binomial(1.0 / self.parties, rate, shape) for _ in range(2))
            return (up - down).astype(np.float64)
        return self.each.sample(rng, shape)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """See `Additive.sample`: the sum of the shares."""
        found = np.zeros(shape)
        for _ in range(self.present):
            found += self.share(rng, shape)
        return found


def law_modulo(family: Tabled, modulus: int) -> Vector:
    """Probabilities (modulus,) of the residues 0, 1, ... of the noise: what a tally modulo it has.

    By the characteristic function at the multiples of 2 pi / modulus, which wraps the law around
    exactly. Raises ValueError for a modulus below 2, or too large for a table.
    """
    if not 2 <= modulus <= _MOST_POINTS:
        raise ValueError(f"modulus {modulus}: expected 2 to {_MOST_POINTS:,}")
    return np.maximum(np.fft.irfft(family.transform(0.0, modulus)[1], modulus), 0.0)


def _of_coins(coins: int) -> Vector:
    """Log-probabilities of 0, 1, ... more heads than half of so many coins, an even number."""
    half = coins // 2
    k = np.arange(half + 1.0)
    log_ways = gammaln(coins + 1.0) - gammaln(half + k + 1.0) - gammaln(half - k + 1.0)
    return np.asarray(log_ways - coins * math.log(2.0))


def _angles(points: int) -> Vector:
    return 2.0 * math.pi * np.arange(points // 2 + 1) / points


def _two_sided(scale: float, shape: float, theta: float, points: int) -> tuple[float, Complex]:
    """See `Tabled.transform`, of the difference of two negative binomial numbers of this shape."""
    t = _angles(points)
    log_moment, log_ratio = 0.0, np.zeros(t.size, dtype=np.complex128)
    for sign in (1.0, -1.0):
        rate = sign * theta - 1.0 / scale
        log_moment += math.log(-math.expm1(-1.0 / scale)) - math.log(-math.expm1(rate))
        # (1 - b e^(it)) / (1 - b), whose 1s would cancel near t = 0
        drop = -np.expm1(1j * sign * t) * (math.exp(rate) / -math.expm1(rate))
        log_ratio -= np.log1p(drop)
    return shape * log_moment, np.exp(shape * log_ratio)


def _discrete_gaussian(each: DiscreteGaussian, theta: float, points: int) -> tuple[float, Complex]:
    """See `Tabled.transform`: by the sum over the numbers near the middle of the tilted law."""
    middle, reach = theta * each.scale**2, 2 + math.ceil(40.0 * each.scale)
    k = np.arange(round(middle) - reach, round(middle) + reach + 1, dtype=np.int64)
    log_terms = each.log_pmf(k.astype(np.float64)) + theta * k
    top = float(log_terms.max())
    terms = np.exp(log_terms - top)
    total = math.fsum(terms)
    wrapped = np.bincount(k % points, terms / total, points)
    return top + math.log(total), np.fft.rfft(wrapped).conj()
