"""Evidence that counts in a call vary less, or more, than those of independent labels."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, xlog1py, xlogy

from ...reference.arrays import Vector
from .mixture import log_mean_of

FACTORS = (0.015, 0.06, 0.25, 0.6, 0.8, 1.25, 1.7, 4.0)
"""Standard deviations of a call's count that are wagered on, over the binomial one."""

LEAST_CALL = 8
"""Labels of the smallest call that is looked at."""

_NARROWEST = 0.25  # labels: a count is a whole number
_LEAK = 0.02  # share of the binomial law in each wager, so that no call rules it out
_PRIOR = 32.0  # prior labels of the claimed share, where the share is learned


class Dispersion:
    """E-process for "the count of a set of labels in a call has this standard deviation".

    share: the claimed probability of the set. Under the null labels are independent, and in the set
    with any one probability, so that their count in a call of n is binomial. A wager is a rounded
    normal law of that count, around n times the claimed share, or the share learned from earlier
    calls. The likelihood is divided by its supremum over all shares (universal inference,
    Wasserman, Ramdas, Balakrishnan 2020, arXiv 1912.11436v4).
    """

    def __init__(self, share: float) -> None:
        self.share = float(np.clip(share, 1e-12, 1.0 - 1e-12))
        self._seen = self._in_set = 0
        self._log_ratios = np.zeros((2, len(FACTORS)))
        self._counted = np.zeros(2)

    def observe(self, in_set: int, size: int) -> None:
        """Adds a call of `size` labels, of which `in_set` were in the set."""
        if size >= LEAST_CALL:
            for row, centre in enumerate(self._centres):
                laws = _count_log_laws(in_set, size, float(centre))
                # likelihood of one order of the labels
                self._log_ratios[row] += laws - _log_orders(in_set, size)
            self._counted += (in_set, size - in_set)
        self._seen += size
        self._in_set += in_set

    @property
    def _centres(self) -> tuple[float, float]:
        """Shares around which the next call's count is wagered on: claimed and learned."""
        learned = (self._in_set + _PRIOR * self.share) / (self._seen + _PRIOR)
        return self.share, float(learned)

    @property
    def log_e_value(self) -> float:
        """Log of the mixture over centres and standard deviations, over the supremum."""
        return self.log_e_value_with((0, 0))

    def log_e_value_with(self, begun: tuple[int, int]) -> float:
        """A lower bound on `log_e_value` in the middle of a call.

        begun: labels in the set, and labels in all, of the unfinished call. They must count, or one
        could stop just before a loss. Each wager is given only its share of the binomial law, which
        is no more than it will have.
        """
        in_set, size = begun
        inside, outside = (float(n) for n in self._counted + np.array([in_set, size - in_set]))
        total = inside + outside
        if total == 0:
            return 0.0
        supremum = xlogy(inside, inside / total) + xlogy(outside, outside / total)
        log_ratios = self._log_ratios
        if size:
            parts = [xlogy(in_set, c) + xlog1py(size - in_set, -c) for c in self._centres]
            log_ratios = log_ratios + (np.log(_LEAK) + np.array(parts)[:, None])
        return log_mean_of(log_ratios) - float(supremum)

    @property
    def heaviest(self) -> float:
        """The factor of `FACTORS` with most evidence."""
        return FACTORS[int(self._log_ratios.max(0).argmax())]


def _count_log_laws(in_set: int, size: int, centre: float) -> Vector:
    """Log-probability (factors,) of a count under each wager, whose law is on 0, ..., size."""
    spread = np.sqrt(size * centre * (1.0 - centre))
    deviation = np.maximum(np.array(FACTORS) * spread, _NARROWEST)
    mean = size * centre
    mass = _mass_between(in_set - 0.5 - mean, in_set + 0.5 - mean, deviation)
    whole = _mass_between(-0.5 - mean, size + 0.5 - mean, deviation)
    orders = _log_orders(in_set, size)
    binomial = orders + xlogy(in_set, centre) + xlog1py(size - in_set, -centre)
    return np.asarray(
        np.log((1.0 - _LEAK) * mass / whole + _LEAK * np.exp(np.maximum(binomial, -700.0)))
    )


def _log_orders(in_set: int, size: int) -> float:
    """Log of the number of orders of `size` labels of which `in_set` are in the set."""
    return float(gammaln(size + 1) - gammaln(in_set + 1) - gammaln(size - in_set + 1))


def _mass_between(low: float, high: float, deviation: Vector) -> Vector:
    """Mass of centred normal laws between two points, computed in the accurate tail."""
    if low > 0.0:
        low, high = -high, -low
    return np.asarray(ndtr(high / deviation) - ndtr(low / deviation))


BLOCKS = (256, 512, 1000, 1024, 2000, 2048, 4096, 5000, 8192, 10_000)
"""Sizes of blocks of labels over which draws may be balanced: powers of two, round numbers."""


class BlockDispersion:
    """Mean of `Dispersion` over sizes of consecutive blocks of a histogram's labels.

    share: the claimed probability of the set. Blocks disregard calls and begin with the first label
    of the run, for draws that are balanced over many calls (strata, a shuffled deck).
    """

    def __init__(self, share: float) -> None:
        self._sizes = {size: Dispersion(share) for size in BLOCKS}
        self._begun = dict.fromkeys(BLOCKS, (0, 0))

    def observe(self, inside: NDArray[np.bool_]) -> None:
        """Adds labels in order: whether each is in the set (n,)."""
        so_far = np.concatenate([[0], np.cumsum(inside)])
        for size, evidence in self._sizes.items():
            labels, in_set = self._begun[size]
            start = 0
            while labels + inside.size - start >= size:
                end = start + size - labels
                evidence.observe(in_set + int(so_far[end] - so_far[start]), size)
                start, labels, in_set = end, 0, 0
            rest = int(so_far[-1] - so_far[start])
            self._begun[size] = (labels + inside.size - start, in_set + rest)

    @property
    def log_e_value(self) -> float:
        """Log of the mean over the sizes of blocks."""
        logs = [self._log_e_value_of(size) for size in BLOCKS]
        return float(np.logaddexp.reduce(logs) - np.log(len(logs)))

    @property
    def heaviest(self) -> tuple[int, float]:
        """The size of blocks and the factor with most evidence."""
        size = max(self._sizes, key=self._log_e_value_of)
        return size, self._sizes[size].heaviest

    def _log_e_value_of(self, size: int) -> float:
        labels, in_set = self._begun[size]
        return self._sizes[size].log_e_value_with((in_set, labels))
