"""Noise that several parties add in shares: its exact law, by characteristic functions.

Each party adds a share of its own, so that nobody knows all of the noise.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from ..arrays import Matrix, Vector
from .additive import Rival
from .discrete import DiscreteGaussian, DiscreteLaplace
from .tabled import Tabled
from .whole import Complex, Shared, angles

if TYPE_CHECKING:
    from flint import arb


class Skellam(Tabled, Shared):
    """The difference of two Poisson numbers; scale: its standard deviation.

    Agarwal, Kairouz, Liu 2021, "The Skellam mechanism", Definition 2. Any number of shares makes it
    exactly.
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

    def transform_of_shares(
        self, present: int, parties: int, theta: float, points: int
    ) -> tuple[float, Complex]:
        return Skellam(self.scale * math.sqrt(present / parties)).transform(theta, points)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        half = 0.5 * self.scale**2
        return (rng.poisson(half, shape) - rng.poisson(half, shape)).astype(np.float64)

    def masses(self) -> "tuple[list[arb], arb]":
        return self.masses_of_shares(1, 1)

    def masses_of_shares(self, present: int, parties: int) -> "tuple[list[arb], arb]":
        from flint import arb

        from .enclosed import skellam_masses

        return skellam_masses(arb(self.scale) ** 2 * present / parties)


class Binomial(Tabled, Shared):
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

    def transform_of_shares(
        self, present: int, parties: int, theta: float, points: int
    ) -> tuple[float, Complex]:
        log_moment, ratios = self.each_of(parties).transform(theta, points)
        with np.errstate(under="ignore"):
            return present * log_moment, np.asarray(ratios**present, dtype=np.complex128)

    @cached_property
    def _table(self) -> Vector:
        """It ends where all coins fall alike, and has a formula."""
        return self.table_of_shares(1, 1)

    @property
    def _beyond(self) -> float:
        return math.inf

    def table_of_shares(self, present: int, parties: int) -> Vector:
        coins = present * self.each_of(parties).coins
        half = coins // 2
        k = np.arange(half + 1.0)
        log_ways = gammaln(coins + 1.0) - gammaln(half + k + 1.0) - gammaln(half - k + 1.0)
        return np.asarray(log_ways - coins * math.log(2.0))

    def slope_of_shares(self, ratio: float) -> float:
        return math.inf

    def each_of(self, parties: int) -> "Binomial":
        return Binomial(self.scale / math.sqrt(parties))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        heads = rng.binomial(self.coins, 0.5, shape)
        return (heads - self.coins // 2).astype(np.float64)

    def masses(self) -> "tuple[list[arb], arb]":
        return self.masses_of_shares(1, 1)

    def masses_of_shares(self, present: int, parties: int) -> "tuple[list[arb], arb]":
        from .enclosed import binomial_masses

        return binomial_masses(self.each_of(parties).coins * present // 2)


SHARED: dict[str, type[Shared]] = {
    family.family: family for family in (DiscreteLaplace, DiscreteGaussian, Skellam, Binomial)
}
"""The families whose noise may come in shares, by name."""


@dataclass(frozen=True)
class Shares(Tabled):
    """The sum of `present` shares, of which `parties` together make the noise of one `single`.

    scale: of the single noise. The law here is that of the sum, where it is only nearly of the
    family, too. Parties that drop out leave fewer shares, and so do colluders, who subtract what
    they know.

    With parties = 1, `present` draws of the single noise are added: two aggregators' are
    present = 2. of_parties: whether each of these is the share of a party, which leaves with it, as
    shares of less always are. Raises ValueError unless both are at least 1.
    """

    single: type[Shared] = DiscreteLaplace
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
        return f"{self._one};{how}"

    @property
    def _one(self) -> Shared:
        """The noise that all parties make together."""
        return self.single(self.scale)

    @property
    def ratio(self) -> float:
        """What the variance is of that of the single noise, exactly or nearly."""
        return self.present / self.parties

    @property
    def norm(self) -> int:
        return self._one.norm

    @property
    def flat(self) -> bool:
        return self._one.flat and self.ratio < 1.0

    @property
    def steepest(self) -> float:
        return self._one.steepest

    @property
    def spread(self) -> float:
        return self._one.spread * math.sqrt(self.ratio)

    def transform(self, theta: float, points: int) -> tuple[float, Complex]:
        return self._one.transform_of_shares(self.present, self.parties, theta, points)

    def masses(self) -> "tuple[list[arb], arb]":
        return self._one.masses_of_shares(self.present, self.parties)

    @property
    def _beyond(self) -> float:
        slope = self._one.slope_of_shares(self.ratio)
        return super()._beyond if slope is None else slope

    @cached_property
    def _table(self) -> Vector:
        found = self._one.table_of_shares(self.present, self.parties)
        return super()._table if found is None else found

    def rivals(self) -> list[Rival]:
        """Also shares of other parties than claimed."""
        others = {(1, 1), (max(1, self.present - 1), self.parties), (self.parties,) * 2}
        found = [
            Rival(
                replace(self, present=present, parties=parties),
                f"in place of {self}{self._as_where(present, parties)}",
            )
            for present, parties in sorted(others - {(self.present, self.parties)})
        ]
        return super().rivals() + found

    def _as_where(self, present: int, parties: int) -> str:
        """What leaves so many shares in place of these, at the end of a cause."""
        if (present, parties) == (self.present - 1, self.parties):
            return ": the noise of one is missing"
        if self.parties > 1 and present == parties:
            return f", as where each adds 1/{self.present} of the noise, not 1/{self.parties}"
        return ""

    def pure_epsilon(self, by: float, times: int = 1) -> float:
        """Fewer shares than all give 0 more than their part."""
        whole = self._one.pure_epsilon(by, times)
        if self.ratio >= 1.0 or math.isinf(whole):
            return whole  # log-concave: the supremum is that of the far tail
        at, beside = self.log_pmf(np.array([0.0, by]))
        return times * float(at - beside)  # log-convex on either side: steepest at 0

    def share(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        """Independent draws of one party's share, of the given shape."""
        return self._one.share(self.parties, rng, shape)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        """The sum of the shares."""
        found = np.zeros(shape)
        for _ in range(self.present):
            found += self.share(rng, shape)
        return found
