"""The e-value against any deviation from laws that differ from label to label.

A randomised probability transform turns labels of known laws into uniform draws, which are wagered
against in cells by Dirichlet mixtures, as are labels of a single law.
"""

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Vector
from .dirichlet import DIFFUSE_WEIGHT, prior_concentrations
from .mixture import log_sums

CELLS = 16

_WINDOWS = 40  # the last begins after 2^39 labels


def transformed(
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
