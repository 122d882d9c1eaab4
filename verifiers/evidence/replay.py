"""Evidence that a deployment that was restarted, or whose store was emptied, repeats labels."""

from functools import cached_property

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mean_of, log_mixture_of
from .outcomes import Outcomes, count_outcomes, log_supremum_ratio
from .repetition import SHARES

FIRST = 0.75
"""Prior weight of a copy of the first labels (a fixed seed); the rest is spread evenly."""

ALL_COPIED = 0.7
"""Prior weight of a copy of all labels, as with a generator, or an input, that fixes the seed."""

_LOG_SHARES = np.log([ALL_COPIED, 0.1, 0.1, 0.1])
assert _LOG_SHARES.size == SHARES.size

CHANCES = np.array([0.3, 0.05])
"""Probabilities that a start begins like an earlier one: few seeds in rotation, or many."""


class Replay:
    """E-value for "labels copy a window of earlier ones" against fresh draws of any one law.

    earlier: outcomes (m,) of one histogram, in order, m > 0; again: outcomes (n,) of the same
    histogram after a restart; log_q: the claimed log-probabilities (o,). The window begins anywhere
    in `earlier`; beyond its end labels are fresh. The likelihood is divided by its supremum over
    all laws of `again` (universal inference), so that the expectation given `earlier` is at most 1
    whatever the law of a label.
    """

    def __init__(self, earlier: Outcomes, again: Outcomes, log_q: Vector) -> None:
        self._ratios = _ratios_of_windows(earlier, again, log_q)
        self._misfit = log_supremum_ratio(count_outcomes(again, log_q.size), log_q)

    @cached_property
    def log_e_value(self) -> float:
        """Log of the mixture over windows and shares."""
        windows = self._ratios.shape[1]
        weights = np.full(windows, np.log((1.0 - FIRST) / max(windows - 1, 1)))
        weights[0] = np.log(FIRST) if windows > 1 else 0.0
        return log_mixture_of(self._ratios, weights + _LOG_SHARES[:, None]) - self._misfit

    @property
    def window(self) -> int:
        """Index in `earlier` at which the window with most evidence begins."""
        return int(np.argmax(self._ratios.max(0)))


class Recurrence:
    """E-process for "a start begins with the labels of an earlier start".

    log_q: the claimed log-probabilities (o,) of the histogram asked first in every start. Which
    earlier start is repeated, and with which share of its labels, is a mixture, uniform over
    starts. The likelihood of each start is divided by its supremum over all laws, as in `Replay`,
    so that its ratio has expectation at most 1 given the starts before.
    """

    def __init__(self, log_q: Vector) -> None:
        self.log_q = log_q
        self._starts: list[Outcomes] = []
        self._log = np.zeros(CHANCES.size)

    def observe(self, first: Outcomes) -> None:
        """Adds the first outcomes (n,) of a start, n > 0."""
        if self._starts:
            ratios = [_ratios_of_windows(start, first, self.log_q)[:, :1] for start in self._starts]
            weights = _LOG_SHARES[:, None] - np.log(len(ratios))
            copied = log_mixture_of(np.hstack(ratios), weights)
            copied -= log_supremum_ratio(count_outcomes(first, self.log_q.size), self.log_q)
            self._log += np.logaddexp(np.log1p(-CHANCES), np.log(CHANCES) + copied)
        self._starts.append(first)

    @property
    def log_e_value(self) -> float:
        """Log of the mixture over probabilities that a start is repeated."""
        return log_mean_of(self._log)


def _ratios_of_windows(earlier: Outcomes, again: Outcomes, log_q: Vector) -> Vector:
    """Log-ratios (shares, m) of a copy of the window from each index, against draws of log_q."""
    q = np.maximum(np.exp(log_q[again]), 1e-300)
    cost = np.log1p(-SHARES)[:, None]
    gain = np.log1p(-SHARES[:, None] + SHARES[:, None] / q) - cost  # of a copy that is seen
    beyond = np.full(again.size, -1, dtype=np.int64)  # no label
    windows = np.lib.stride_tricks.sliding_window_view(
        np.concatenate([earlier, beyond]), again.size
    )
    windows = windows[: earlier.size]
    compared = np.minimum(again.size, earlier.size - np.arange(earlier.size))
    return np.asarray(gain @ (windows == again).T + cost * compared)


def log_e_value_again(log_q: Vector, same: Vector) -> float:
    """Log e-value for "a share of answers is not drawn anew" against draws of the claimed law.

    log_q: claimed log-probabilities (n,) of the kept answers, one per input; same: whether (n,)
    the answer after the store was emptied equals the kept one. If a new answer is a copy with
    probability s, the ratio is 1 - s + s [same] / q. Its expectation is 1 - s + s q / q = 1 where
    the new answer has the claimed law, independently of the kept one. The product over inputs is
    averaged over shares s with fixed weights.
    """
    shares = SHARES[:, None]
    gains = np.where(same, shares / np.maximum(np.exp(log_q), 1e-300), 0.0)
    return log_mixture_of(np.log(1.0 - shares + gains).sum(-1), _LOG_SHARES)
