"""Evidence that every m-th label repeats the one before it."""

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mixture_of
from .outcomes import Outcomes

_POWERS = tuple(2**k for k in range(1, 14))
_ROUND = (3, 5, 6, 7, 10, 12, 20, 24, 25, 50, 60, 100, 200, 250, 500, 1000, 2000, 5000, 10_000)
PERIODS = tuple(sorted({*_POWERS, *_ROUND}))
"""Periods that are wagered on: powers of two, and round numbers."""

_SHARE = 0.999
_STARTS = np.concatenate([[0], np.cumsum(PERIODS)[:-1]])
_LOG_WEIGHTS = -np.log(np.repeat(PERIODS, PERIODS)) - np.log(len(PERIODS))


class Periodic:
    """Likelihood ratios of "at these places a label copies the one before it".

    There is one per period and phase. Places count all labels of a run, whatever their histogram,
    as a counter inside the target would. First labels of calls are not wagered on: the label before
    may be of another histogram, and a target may keep nothing between calls.
    """

    def __init__(self) -> None:
        self._place = 0
        self._ratios = np.zeros(sum(PERIODS))  # the phases of all periods, one after the other

    def observe(
        self, outcomes: Outcomes, log_q: Vector, calls: tuple[int, ...] | None = None
    ) -> None:
        """Adds consecutive labels of one histogram: outcomes (n,), the null's log-laws (o,).

        calls: sizes of the calls that gave them, None for one call.
        """
        gain = np.log1p(-_SHARE + _SHARE / np.maximum(np.exp(log_q), 1e-300))
        same = outcomes[1:] == outcomes[:-1]
        ratios = np.where(same, gain[outcomes[1:]], np.log1p(-_SHARE))
        places = self._place + np.arange(1, outcomes.size)
        if calls is not None:
            follows = np.ones(outcomes.size, dtype=bool)
            follows[np.cumsum(calls)[:-1]] = False
            ratios, places = ratios[follows[1:]], places[follows[1:]]
        for start, period in zip(_STARTS, PERIODS, strict=True):
            added = np.bincount(places % period, weights=ratios, minlength=period)
            self._ratios[start : start + period] += added
        self._place += outcomes.size

    def skip(self, labels: int) -> None:
        """Counts labels on which nothing is wagered."""
        self._place += labels

    @property
    def log_e_value(self) -> float:
        """Log of the mean over periods, and over the phases of each."""
        return log_mixture_of(self._ratios, _LOG_WEIGHTS)

    @property
    def heaviest(self) -> int:
        """The period with most evidence."""
        return int(np.repeat(PERIODS, PERIODS)[self._ratios.argmax()])
