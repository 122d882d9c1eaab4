"""Evidence that noise depends on what was asked before, over calls of known laws in any order.

Every call has a known law Q, so the product of alt(y) / Q(y) over those calls in which something
holds that was known beforehand is a martingale, whatever the order. Alternatives are given by the
log-ratios of the labels that came.
"""

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix
from .mixture import log_mixture_of

COPIED = np.array([0.9, 0.3, 0.05])
"""Probabilities with which a label is that of an earlier call."""

AVOIDED = np.array([0.9])
"""Shares by which the label of an earlier call is rarer than by chance."""

COPY_WAGERS = COPIED.size + AVOIDED.size
"""Wagers on each earlier call: copies first."""

SWITCHES = np.array([1 / 50, 1 / 200, 1 / 1000])
"""Probabilities with which, at each call, something unknown sets in or ends."""


class Conditional:
    """Ratios (f, a) of "where this holds, labels have that law", one for each pair.

    features: how many things may hold (f); alternatives: how many laws are tried (a).
    """

    def __init__(self, features: int, alternatives: int) -> None:
        self.log_ratios = np.zeros((features, alternatives))

    def observe(self, holds: NDArray[np.bool_], log_ratios: Matrix) -> None:
        """Adds calls: what holds in each (n, f), and the log-ratio of its label by law (n, a)."""
        self.log_ratios = self.log_ratios + holds.T.astype(np.float64) @ log_ratios


class Switching:
    """Ratios (s, a) of "labels have that law now and then", as a hidden chain switches it.

    At each call the chain changes with a probability of `SWITCHES`; at first it is either with
    probability a half. Needs no feature: what the law depends on need not be known.
    """

    def __init__(self, alternatives: int) -> None:
        shape = (SWITCHES.size, alternatives)
        self._on, self._off = np.full(shape, 0.5), np.full(shape, 0.5)
        self._log_scale = np.zeros(shape)

    def observe(self, log_ratios: Matrix) -> None:
        """Adds calls in order: the log-ratio of each label by law (n, a)."""
        switch = SWITCHES[:, None]
        for ratio in np.exp(log_ratios):
            on = ((1.0 - switch) * self._on + switch * self._off) * ratio
            off = (1.0 - switch) * self._off + switch * self._on
            total = on + off
            self._on, self._off = on / total, off / total
            self._log_scale = self._log_scale + np.log(total)

    @property
    def log_ratios(self) -> Matrix:
        """Log-ratios (s, a) so far."""
        return self._log_scale


class Copies:
    """Ratios (k, w) of "a label is, or avoids, that of an earlier call", by which call it is.

    A copy: with probability s the label is that of the earlier call, else a draw of its law.
    Avoidance by r: the chance of that label is multiplied by 1 - r, and all chances are divided by
    their sum.
    """

    def __init__(self, earlier: int) -> None:
        self.log_ratios = np.zeros((earlier, COPY_WAGERS))

    def observe(self, same: NDArray[np.bool_], chance: Matrix) -> None:
        """Adds calls: whether each label is that of an earlier call (n, k), and the chance of it.

        chance: what the law gives the earlier call's label (n, k); 0 where there is no such call.
        """
        chance = np.minimum(chance, 1.0)[..., None]
        seen = same[..., None]
        copied = 1.0 - COPIED + COPIED * seen / np.maximum(chance, 1e-300)
        avoided = (1.0 - AVOIDED * seen) / (1.0 - AVOIDED * chance)
        ratios = np.concatenate([copied, avoided], -1)
        self.log_ratios = self.log_ratios + np.where(chance > 0.0, np.log(ratios), 0.0).sum(0)


def log_mean(log_ratios: Matrix) -> float:
    """Log of the mean of ratios, all weighted alike; 0 for none."""
    if log_ratios.size == 0:
        return 0.0
    return log_mixture_of(log_ratios, np.array(-np.log(log_ratios.size)))
