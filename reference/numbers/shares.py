"""Noise that several parties add in shares: its exact law, by characteristic functions.

Each party adds a share of its own, so that nobody knows all of the noise.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..arrays import Vector
from .discrete import DiscreteGaussian, DiscreteLaplace, Whole
from .tabled import Complex, Tabled, angles


class Skellam(Tabled):
    """The difference of two Poisson numbers; scale: its standard deviation.

    Agarwal, Kairouz, Liu 2021, "The Skellam mechanism", Definition 2.
    """

    family = "skellam"

    @property
    def steepest(self) -> float:
        return math.inf

    def transform(self, theta: float, points: int) -> tuple[float, Complex]:
        t = angles(points)
        variance = self.scale**2
        here = 2.0 * math.cosh(theta) * np.square(np.sin(0.5 * t))
        ratios = np.exp(-variance * here + 1j * variance * math.sinh(theta) * np.sin(t))
        return variance * 2.0 * math.sinh(0.5 * theta) ** 2, ratios

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
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
        return math.inf

    def transform(self, theta: float, points: int) -> tuple[float, Complex]:
        t, slope = 0.5 * angles(points), math.tanh(0.5 * theta)
        with np.errstate(under="ignore"):
            ratios = (np.cos(t) + 1j * slope * np.sin(t)) ** self.coins
        half = 0.5 * abs(theta)
        log_cosh = half + math.log1p(math.exp(-2.0 * half)) - math.log(2.0)
        return self.coins * log_cosh, np.asarray(ratios, dtype=np.complex128)

    @cached_property
    def _table(self) -> Vector:
        """It ends where all coins fall alike, and has a formula."""
        return _of_coins(self.coins)

    @property
    def _beyond(self) -> float:
        return math.inf

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
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
    present = 2. of_parties: whether each of these is the share of a party, which leaves with it, as
    shares of less always are. Raises ValueError unless both are at least 1.
    """

    single: type[Whole] = DiscreteLaplace
    present: int = 1
    parties: int = 1
    of_parties: bool = False

    family = "shares"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.single not in SHARED.values():
            raise ValueError(f"shares of {self.single.family}: expected one of {', '.join(SHARED)}")
        if self.present < 1 or self.parties < 1:
            raise ValueError(f"shares {self.present}/{self.parties}: expected at least 1 of each")

    def __str__(self) -> str:
        how = f"sum={self.present}"
        if self.parties > 1 or self.of_parties:
            how = f"shares={self.present}/{self.parties}"
        return f"{self.single(self.scale)};{how}"

    @property
    def ratio(self) -> float:
        """What the variance is of that of the single noise, exactly or nearly."""
        return self.present / self.parties

    @property
    def steepest(self) -> float:
        return self.single(self.scale).steepest

    @property
    def spread(self) -> float:
        wider = math.sqrt(2.0) if self.single is DiscreteLaplace else 1.0
        return wider * self.scale * math.sqrt(self.ratio)

    @property
    def each(self) -> Whole:
        """The law of one share, where it is of the family."""
        return self.single(self.scale / math.sqrt(self.parties))

    def transform(self, theta: float, points: int) -> tuple[float, Complex]:
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
        """Log-concave laws fall ever faster; fewer than one share do not."""
        if self.single is DiscreteLaplace and self.ratio < 1.0:
            return 1.0 / self.scale
        return math.inf if self.single is Binomial else super()._beyond

    @cached_property
    def _table(self) -> Vector:
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
        """The sum of the shares."""
        found = np.zeros(shape)
        for _ in range(self.present):
            found += self.share(rng, shape)
        return found


def _of_coins(coins: int) -> Vector:
    """Log-probabilities of 0, 1, ... more heads than half of so many coins, an even number."""
    half = coins // 2
    k = np.arange(half + 1.0)
    log_ways = gammaln(coins + 1.0) - gammaln(half + k + 1.0) - gammaln(half - k + 1.0)
    return np.asarray(log_ways - coins * math.log(2.0))


def _two_sided(scale: float, shape: float, theta: float, points: int) -> tuple[float, Complex]:
    """Of the difference of two negative binomial numbers of this shape."""
    t = angles(points)
    log_moment, log_ratio = 0.0, np.zeros(t.size, dtype=np.complex128)
    for sign in (1.0, -1.0):
        rate = sign * theta - 1.0 / scale
        log_moment += math.log(-math.expm1(-1.0 / scale)) - math.log(-math.expm1(rate))
        # (1 - b e^(it)) / (1 - b), whose 1s would cancel near t = 0
        drop = -np.expm1(1j * sign * t) * (math.exp(rate) / -math.expm1(rate))
        log_ratio -= np.log1p(drop)
    return shape * log_moment, np.exp(shape * log_ratio)


def _discrete_gaussian(each: DiscreteGaussian, theta: float, points: int) -> tuple[float, Complex]:
    """By the sum over the numbers near the middle of the tilted law."""
    middle, reach = theta * each.scale**2, 2 + math.ceil(40.0 * each.scale)
    k = np.arange(round(middle) - reach, round(middle) + reach + 1, dtype=np.int64)
    log_terms = each.log_pmf(k.astype(np.float64)) + theta * k
    top = float(log_terms.max())
    terms = np.exp(log_terms - top)
    total = math.fsum(terms)
    wrapped = np.bincount(k % points, terms / total, points)
    return top + math.log(total), np.fft.rfft(wrapped).conj()
