"""Evidence that a restarted deployment gives labels again that it gave in an earlier life."""

from functools import cached_property

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mixture_of
from .outcomes import Outcomes, count_outcomes, log_supremum_ratio
from .repetition import SHARES

FIRST = 0.75
"""Prior weight of a copy of the very first labels: a fixed seed. The rest is spread evenly."""

ALL_COPIED = 0.7
"""Prior weight of a life that copies all its labels, as a generator that begins anew does."""

_LOG_SHARES = np.log([ALL_COPIED, 0.1, 0.1, 0.1])[:, None]
assert len(_LOG_SHARES) == SHARES.size

CHANCES = np.array([0.3, 0.05])
"""That a life begins as an earlier one did: few seeds that take turns, or many."""


class Replay:
    """Ratio of "labels copy a window of earlier ones" against fresh draws of any one law.

    earlier: outcomes (m,) of one histogram, in order, m > 0; again: outcomes (n,) of the same
    histogram after a restart; log_q: the claimed log-probabilities (o,). The window begins
    anywhere in `earlier`; where it runs over the end the labels are fresh ones. The ratio is
    divided by the supremum of the likelihood of `again` over all laws (universal inference), so
    that its expectation given `earlier` is at most 1 whatever the law of a label.
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
        return log_mixture_of(self._ratios, weights + _LOG_SHARES) - self._misfit

    @property
    def window(self) -> int:
        """Where the window begins that tells most, counted from the first label of all."""
        return int(np.argmax(self._ratios.max(0)))


class Recurrence:
    """Ratio of "a life begins with the labels of an earlier one", life after life.

    log_q: the claimed log-probabilities (o,) of the histogram asked first in every life. Which life
    comes again, and how many of its labels, is a mixture fixed before a life begins, even over all
    earlier ones: choosing among j costs log j. Each life is divided by the supremum of its
    likelihood over all laws, as in `Replay`, so that it is fair given the lives before it.
    """

    def __init__(self, log_q: Vector) -> None:
        self.log_q = log_q
        self._lives: list[Outcomes] = []
        self._log = np.zeros(CHANCES.size)

    def observe(self, first: Outcomes) -> None:
        """Adds the first outcomes (n,) of a life, n > 0."""
        if self._lives:
            ratios = [_ratios_of_windows(life, first, self.log_q)[:, :1] for life in self._lives]
            copied = log_mixture_of(np.hstack(ratios), _LOG_SHARES - np.log(len(ratios)))
            copied -= log_supremum_ratio(count_outcomes(first, self.log_q.size), self.log_q)
            self._log += np.logaddexp(np.log1p(-CHANCES), np.log(CHANCES) + copied)
        self._lives.append(first)

    @property
    def log_e_value(self) -> float:
        """Log of the mixture over the chances that a life comes again."""
        return log_mixture_of(self._log, np.full(CHANCES.size, -np.log(CHANCES.size)))


def _ratios_of_windows(earlier: Outcomes, again: Outcomes, log_q: Vector) -> Vector:
    """Log-ratios (shares, m) of copies of the window from each place, against draws of log_q."""
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
