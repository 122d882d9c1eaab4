"""Evidence that a restarted deployment gives labels again that it gave in an earlier life."""

from functools import cached_property

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mixture_of
from .outcomes import Outcomes, count_outcomes, log_supremum_ratio
from .repetition import SHARES

FIRST = 0.75
"""Prior weight of a copy of the very first labels: a fixed seed. The rest is spread evenly."""

_LOG_SHARES = np.log([0.7, 0.1, 0.1, 0.1])[:, None]  # a generator that begins anew copies all
assert len(_LOG_SHARES) == SHARES.size


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
