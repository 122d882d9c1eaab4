"""E-values of long logs, whose rows have laws of their own.

`OnsetEvidence` wagers on known faults that set in at an unknown label. `CellEvidence` wagers on any
deviation: a randomised probability transform turns labels of known laws into uniform draws, which
are wagered against in cells by Dirichlet mixtures, as are labels of a single law.
"""

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix, Vector
from .dirichlet import DIFFUSE_WEIGHT, prior_concentrations
from .mixture import log_sums


def log_tail(labels: Vector) -> Vector:
    """Log of the prior probability that a fault sets in after more than `labels` labels (n,).

    It is 1 / log2(n + 2). So the prior of label n falls like 1 / (n ln^2 n), the slowest of the
    simple ones that sum to 1: a fault after 50,000 labels costs 16 nats, where a geometric prior of
    mean 64 would take 780.
    """
    return np.asarray(-np.log(np.log2(np.asarray(labels, dtype=np.float64) + 2.0)))


def log_prior(labels: Vector) -> Vector:
    """Log of the prior probability that a fault sets in at each of `labels` (n,), from 1."""
    before, after = log_tail(labels - 1.0), log_tail(labels)
    return np.asarray(before + np.log(-np.expm1(after - before)))


class OnsetEvidence:
    """Mixture over alternatives and the label at which each sets in.

    weights: prior weights (a,), summing to at most 1. Half of each is on the first label, the other
    half is spread by `log_prior`. A mixture of likelihood ratios, hence a martingale under the
    null. Raises ValueError for weights that sum to more.
    """

    SAVED = ("labels", "log_ratios", "log_begun", "recent", "onsets")
    """Names of the attributes, arrays and whole numbers, that a saved state holds."""

    def __init__(self, weights: Vector) -> None:
        if weights.sum() > 1.0 + 1e-12:
            raise ValueError(f"weights sum to {weights.sum()}: expected at most 1")
        self.log_weights = np.log(weights)
        self._log_all = float(np.log(weights.sum()))
        self.labels = 0
        self.log_ratios = np.zeros(weights.size)
        """Log-ratio of each alternative since the first label."""
        self.log_begun = np.full(weights.size, np.log(0.5))
        """Log-wealth of each alternative: the sum over onsets so far of prior times ratio."""
        self.recent = np.zeros(weights.size)
        """Log-ratio of each alternative since its likeliest onset."""
        self.onsets = np.zeros(weights.size, dtype=np.int64)
        """Labels before the likeliest onset of each alternative."""

    def observe(self, log_ratios: Matrix) -> Vector:
        """Adds labels: log-ratios (n, a) of each; the log-e-value (n,) after each of them."""
        number = self.labels + np.arange(1, log_ratios.shape[0] + 1)
        grown = np.cumsum(log_ratios, 0)
        before = grown - log_ratios
        # a wager that sets in at label t has the ratio of all labels over that of those before t
        setting_in = np.log(0.5) + log_prior(number.astype(np.float64))[:, None] - before
        wagered = np.logaddexp.accumulate(np.vstack([self.log_begun[None], setting_in]), 0)[1:]
        begun = wagered + grown
        self._follow(grown)
        self.labels += log_ratios.shape[0]
        self.log_ratios = self.log_ratios + grown[-1]
        self.log_begun = begun[-1]
        waiting = np.log(0.5) + log_tail(number.astype(np.float64)) + self._log_all
        return np.asarray(np.logaddexp(log_sums(begun + self.log_weights, 1), waiting))

    @property
    def log_e_value(self) -> float:
        """The log-e-value after the labels so far."""
        waiting = np.log(0.5) + log_tail(np.array([float(self.labels)])) + self._log_all
        begun = log_sums((self.log_begun + self.log_weights)[None], 1)
        return float(np.logaddexp(begun, waiting)[0])

    def _follow(self, grown: Matrix) -> None:
        """Updates the likeliest onset of each alternative: where its ratio was last lowest."""
        path = np.vstack([np.zeros(grown.shape[1]), grown])
        lowest = path.min(0)
        where = path.shape[0] - 1 - path[::-1].argmin(0)
        anew = self.recent + lowest <= 0.0
        self.onsets = np.where(anew, self.labels + where, self.onsets)
        self.recent = np.where(anew, grown[-1] - lowest, self.recent + grown[-1])


CELLS = 16

_WINDOWS = 40  # the last begins after 2^39 labels


def transform_to_cells(
    below: Vector, mass: Vector, uniform: Vector, cells: int = CELLS
) -> NDArray[np.int64]:
    """The cells (n,) of u = F(label - 1) + V Q(label), each with probability 1 / cells.

    below: probability (n,) of the outcomes before the label, in an order that is fixed without
    looking at the label; mass: of the label itself; uniform: V (n,), independent draws from [0, 1).
    """
    u = below + uniform * mass
    return np.clip((u * cells).astype(np.int64), 0, cells - 1)


class CellEvidence:
    """Mixture over windows that begin at the first label, or after 1, 2, 4, 8, ... labels.

    effect: total variation that matters. Half of the weight is on the first window. Each one bets
    on laws of the cells from Dirichlet priors centred at the uniform law, and is 1 until it begins,
    so that the average is a martingale.
    """

    SAVED = ("labels", "counts", "starts", "bases", "log_ratios")
    """Names of the attributes, arrays and whole numbers, that a saved state holds."""

    def __init__(self, effect: float, cells: int = CELLS) -> None:
        even = np.full(cells, -np.log(cells))
        centred = prior_concentrations(even, effect)
        self._prior = np.array([0.5, *(k / cells for k, _ in centred)])
        self._log_weights = np.log([DIFFUSE_WEIGHT, *(weight for _, weight in centred)])
        self.cells, self.labels = cells, 0
        self.counts = np.zeros(cells)
        self.starts = np.zeros(1, dtype=np.int64)
        self.bases = np.zeros((1, cells))
        self.log_ratios = np.zeros((1, self._prior.size))

    def observe(self, cells: NDArray[np.int64]) -> Vector:
        """Adds labels by their cells (n,); the log-e-value (n,) after each of them."""
        found = []
        while cells.size:
            size = min(cells.size, self._until_next_window())
            found.append(self._observe_within(cells[:size]))
            cells = cells[size:]
        return np.concatenate(found) if found else np.zeros(0)

    def _until_next_window(self) -> int:
        """Labels until the next window begins; begins one that is due now."""
        if self.labels == 0:
            return 1
        begins = self.labels & (self.labels - 1) == 0 and self.labels > self.starts[-1]
        if begins and self.starts.size <= _WINDOWS:
            self.starts = np.append(self.starts, self.labels)
            self.bases = np.concatenate([self.bases, self.counts[None]])
            self.log_ratios = np.concatenate([self.log_ratios, np.zeros((1, self._prior.size))])
        return (1 << self.labels.bit_length()) - self.labels

    def _observe_within(self, cells: NDArray[np.int64]) -> Vector:
        one_hot = cells[:, None] == np.arange(self.cells)
        before = np.cumsum(one_hot, 0) - one_hot  # (n, cells), within these labels
        own = before[np.arange(cells.size), cells]
        seen = (self.counts - self.bases)[:, cells] + own  # (w, n)
        starts = self.starts[:, None]
        total = self.labels - starts + np.arange(cells.size)  # (w, n)
        prior = self._prior[None, :, None]
        chance = (seen[:, None] + prior) / (total[:, None] + self.cells * prior)
        grown = self.log_ratios[..., None] + np.cumsum(np.log(self.cells * chance), -1)
        self.log_ratios = grown[..., -1]
        self.counts = self.counts + one_hot.sum(0)
        self.labels += cells.size
        each = log_sums(grown + self._log_weights[:, None], 1)
        begun = each + _log_shares(self.starts.size)[:, None]
        waiting = np.full((1, cells.size), np.log(0.5 / self.starts.size))  # windows not yet begun
        return log_sums(np.vstack([begun, waiting]), 0)


def _log_shares(windows: int) -> Vector:
    """Log-shares (w,) of the windows: a half, then 1 / (k (k + 1)) of the other half."""
    later = np.arange(1, windows)
    return np.asarray(np.log(np.concatenate([[0.5], 0.5 / (later * (later + 1.0))])))
