"""Evidence that noise depends on earlier queries, over calls in any order.

Every call has a known law Q. So the product of alt(y) / Q(y) over calls that have a feature is a
martingale, whatever the order, if the feature is known before the label y. Alternatives are given
by the log-ratios of the labels that were observed.
"""

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix

COPIED = np.array([0.9, 0.3, 0.05])
"""Probabilities that a label copies that of an earlier call."""

AVOIDED = np.array([0.9])
"""Relative reductions of the chance of an earlier call's label."""

COPY_WAGERS = COPIED.size + AVOIDED.size
"""Number of wagers on each earlier call: copies first."""

SWITCHES = np.array([1 / 50, 1 / 200, 1 / 1000])
"""Probabilities that a hidden state switches at each call."""


class Conditional:
    """Likelihood ratios (f, a) of "calls with feature f have law a", for each pair.

    features, alternatives: how many there are.
    """

    def __init__(self, features: int, alternatives: int) -> None:
        self.log_ratios = np.zeros((features, alternatives))

    def observe(self, holds: NDArray[np.bool_], log_ratios: Matrix) -> None:
        """Adds calls: which features each has (n, f), and log-ratios of its label (n, a)."""
        self.log_ratios = self.log_ratios + holds.T.astype(np.float64) @ log_ratios


class Switching:
    """Likelihood ratios (s, a) of "labels follow law a while a hidden Markov chain is on".

    The chain switches at each call with a probability from `SWITCHES`, and starts in either state
    with probability 1/2. So what the law depends on need not be known.
    """

    def __init__(self, alternatives: int) -> None:
        shape = (SWITCHES.size, alternatives)
        self._on, self._off = np.full(shape, 0.5), np.full(shape, 0.5)
        self._log_scale = np.zeros(shape)

    def observe(self, log_ratios: Matrix) -> None:
        """Adds calls in order, by the log-ratios (n, a) of their labels."""
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
    """Likelihood ratios (k, w) of "a label copies, or avoids, that of earlier call k".

    A copy: with probability s the label is that of the earlier call, else a draw of its law.
    Avoidance by r: the chance of that label is multiplied by 1 - r, and the law renormalised.
    earlier: number k of rules that name an earlier call.
    """

    def __init__(self, earlier: int) -> None:
        self.log_ratios = np.zeros((earlier, COPY_WAGERS))

    def observe(self, same: NDArray[np.bool_], chance: Matrix) -> None:
        """Adds calls: whether each label equals that of the earlier call (n, k).

        chance: probability (n, k) of the earlier call's label; 0 where there is no such call.
        """
        chance = np.minimum(chance, 1.0)[..., None]
        seen = same[..., None]
        copied = 1.0 - COPIED + COPIED * seen / np.maximum(chance, 1e-300)
        avoided = (1.0 - AVOIDED * seen) / (1.0 - AVOIDED * chance)
        ratios = np.concatenate([copied, avoided], -1)
        self.log_ratios = self.log_ratios + np.where(chance > 0.0, np.log(ratios), 0.0).sum(0)
