"""Evidence that two deployments release by different laws, of units put to both."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .learners import Named, Ranked, Ridge, SignWagers
from .statistics import MOST_STATISTICS, Inputs, Middles, Numbers, statistics

FIRST = 16
"""Units that are looked at together first: what they say that is the same for both sides, as where
the middle of all replies lies, is taken from all of them."""

_REFIT = 1.12
_WEIGHTS = np.array([0.35, 0.25, 0.4, 0.0])
_OF_FEW_KINDS = np.array([0.2, 0.2, 0.2, 0.4])
"""Shares of signs, signs by ranks, regressions, and names, which replies of few kinds have."""


def log_share(*, lives: bool) -> float:
    """Natural log of the share that the signs of one statistic have, at least."""
    return math.log(_OF_FEW_KINDS[0] / MOST_STATISTICS[lives])


class Learnt:
    """The wagers of all learners on units, and their average with fixed weights.

    inputs: how many there are; alone: units are of one of several, of which no regression is made.
    """

    def __init__(self, inputs: int, *, alone: bool = False) -> None:
        self._inputs, self._alone, self.done = inputs, alone, 0
        self._signs: SignWagers | None = None
        self._bins: SignWagers | None = None
        self._ridge, self._named, self._weights = Ridge(), Named(), _WEIGHTS

    @property
    def log_e_value(self) -> float:
        """Natural log of the average."""
        if self._signs is None or self._bins is None:
            return 0.0
        parts = [self._signs.logs, self._bins.logs, self._ridge.logs.ravel(), self._named.logs]
        logs = [np.logaddexp.reduce(each) - math.log(len(each)) for each in parts]
        with np.errstate(divide="ignore"):
            return float(np.logaddexp.reduce(np.array(logs) + np.log(self._weights)))

    def observe(self, numbers: Numbers, inputs: Inputs, names: Sequence[tuple[Any, Any]]) -> None:
        """All units so far: numbers (n, 2, calls, f), inputs (n, calls); names: of each, if few.

        Those since the last call are wagered on together, by what all before have taught.
        """
        end, past = len(numbers), self.done or len(numbers)
        if end < FIRST or end == self.done:
            return
        if not self.done and any(map(any, names)):
            self._weights = _OF_FEW_KINDS
        middles = Middles.of(numbers[:past], inputs[:past], self._inputs)
        self._wager(*statistics(numbers, inputs, middles), past)
        self._named.observe(names[self.done :])
        self.done = end

    def _wager(self, values: Numbers, own: tuple[int, int], past: int) -> None:
        """On the statistics (n, 2, s) of the units since those done; past: which give the ranks."""
        if self._signs is None or self._bins is None:
            self._signs, self._bins = SignWagers(values.shape[-1]), SignWagers(values.shape[-1], 4)
        ranks, new = Ranked(values[:past]).of(values), values[self.done :]
        self._signs.observe(np.sign(new[:, 0] - new[:, 1]).astype(int))
        if not self.done:
            return  # these units give the ranks themselves: to wager by them would be no fair game
        self._bins.in_bins((ranks[:, 0] - ranks[:, 1])[self.done :])
        if not self._alone:
            self._ridge.observe(ranks, own, self.done)


def next_units(done: int) -> int:
    """How many units are to be asked for until the next look."""
    return max(4, math.ceil((_REFIT - 1.0) * done)) if done else FIRST
