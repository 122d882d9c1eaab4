"""The law of log-perplexities over a space of canaries, extrapolated below what a sample shows.

Carlini et al. 2019 (arXiv 1802.08232) take it for skew-normal. That is an assumption: sums of
symbols' costs have lighter lower tails, so that it understates exposure far out. So intervals here
are wider than the assumption alone would make them (`Extrapolation.log_shares`).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri, ndtri_exp, owens_t, roots_laguerre
from scipy.stats import skew, skewnorm

from ...reference.arrays import Array, Matrix, Vector

LOWEST = 50
"""How many of the lowest scores of a sample say how the law's lower end departs from the fit."""

_RESAMPLES = 400
_JUDGED = 99  # samples of the fitted law by which the distance of the sample's is judged
_DEEP = 1e-10  # probabilities below it are lost in the difference of two
_MOST_SKEW = 0.99  # of the 0.9953 that a skew-normal can have
_NODES, _WEIGHTS = roots_laguerre(40)


def by_moments(sample: Array) -> tuple[Array, Array, Array]:
    """Shape, location and scale of the skew-normal with the moments of each sample (..., n).

    As `scipy.stats.skewnorm.fit(sample, method="MM")`, for many samples at once (Azzalini 1985).
    """
    asymmetry = np.clip(skew(sample, axis=-1), -_MOST_SKEW, _MOST_SKEW)
    share = np.abs(asymmetry) ** (2 / 3)
    delta = np.sign(asymmetry) * np.sqrt(np.pi / 2 * share / (share + (2 - np.pi / 2) ** (2 / 3)))
    scale = np.std(sample, axis=-1) / np.sqrt(1 - 2 * delta**2 / np.pi)
    location = np.mean(sample, axis=-1) - scale * delta * np.sqrt(2 / np.pi)
    return delta / np.sqrt(1 - delta**2), location, scale


def log_cdf(at: Array, shape: Array) -> Vector:
    """The log of a standard skew-normal's distribution function (...,), in its tail as well.

    There by the quadrature of Gauss and Laguerre along the decay of the density.
    """
    z, a = np.broadcast_arrays(np.asarray(at, dtype=np.float64), shape)
    shares = _cdf(z, a)
    deep = shares < _DEEP
    found = np.asarray(np.log(np.where(deep, 1.0, shares)))
    if deep.any():
        z, a = z[deep][:, None], a[deep][:, None]
        rate = -z * (1.0 + np.maximum(a, 0.0) ** 2)
        t = z - _NODES / rate
        logs = _NODES - 0.5 * t**2 + log_ndtr(a * t) + 0.5 * np.log(2.0 / np.pi)
        found[deep] = logsumexp(logs, 1, _WEIGHTS) - np.log(rate[:, 0])
    return found


def _cdf(z: Array, shape: Array) -> Vector:
    """As `scipy.stats.skewnorm.cdf`, in a sixth of the time (Azzalini 1985)."""
    return np.asarray(ndtr(z) - 2.0 * owens_t(z, shape))


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """A skew-normal fitted to a sample of scores, with resamples (bootstrap) for its error.

    fit: shape, location, scale; distance: the Kolmogorov-Smirnov distance of sample and fit;
    p_value: of this distance, among samples of the fitted law that are fitted anew.
    """

    fit: tuple[float, float, float]
    distance: float
    p_value: float
    resampled: tuple[Vector, Vector, Vector]
    lowest: Matrix

    @classmethod
    def fitted(cls, sample: Vector, random: np.random.Generator) -> Self:
        """The fit to scores (n,). Raises ValueError for fewer than 1,000, or all alike."""
        n = len(sample)
        if n < 1_000 or np.ptp(sample) == 0.0:
            raise ValueError(f"{n:,} scores: expected 1,000 or more for a fit, not all alike")
        fit = tuple(map(float, by_moments(sample)))
        distance = _distance(sample)
        drawn = (skewnorm.rvs(*fit, size=n, random_state=random) for _ in range(_JUDGED))
        farther = sum(_distance(each) >= distance for each in drawn)
        resampled, lowest = [], []
        for _ in range(_RESAMPLES):
            again = random.choice(sample, n)
            resampled.append(by_moments(again))
            lowest.append(np.sort(np.partition(again, LOWEST)[:LOWEST]))
        shapes = tuple(np.array(each) for each in zip(*resampled, strict=True))
        p_value = (1 + farther) / (1 + _JUDGED)
        return cls(fit, distance, p_value, shapes, np.array(lowest))  # type: ignore[arg-type]

    def log_share(self, score: float) -> float:
        """The log of the probability of a score this low or lower, by the fit."""
        shape, location, scale = self.fit
        return float(log_cdf((score - location) / scale, shape))

    def log_shares(self, score: float, sample: int) -> tuple[Vector, Vector]:
        """That of each resample (b,), twice: by its fit, and by its fit bent to its lower end.

        Bent: a line through the normal scores that the fit gives the `LOWEST` lowest of `sample`
        scores, against those of their ranks. Both are alike where the law is skew-normal; they are
        the same where the lowest scores are.
        """
        shape, location, scale = self.resampled
        plain = log_cdf((score - location) / scale, shape)
        each = (self.lowest - location[:, None]) / scale[:, None]
        by_fit = ndtri_exp(log_cdf(each, shape[:, None]))
        by_rank = ndtri((np.arange(LOWEST) + 0.5) / sample)
        off, wanted = by_fit - by_fit.mean(1, keepdims=True), by_rank - by_rank.mean()
        spread = (off**2).sum(1)
        slope = (off * wanted).sum(1) / np.where(spread > 0.0, spread, 1.0)
        bent = by_rank.mean() + slope * (ndtri_exp(plain) - by_fit.mean(1))
        return plain, np.where(spread > 0.0, log_ndtr(bent), plain)


def _distance(sample: Vector) -> float:
    """The largest difference of a sample's distribution function from that of its own fit."""
    shape, location, scale = by_moments(sample)
    by_fit = _cdf((np.sort(sample) - location) / scale, shape)
    steps = np.arange(len(sample) + 1) / len(sample)
    return float(max((by_fit - steps[:-1]).max(), (steps[1:] - by_fit).max()))
