"""How much of a file fits a budget: whole passes over its rows, then its first rows."""

import numpy as np
from numpy.typing import NDArray

from ...reference.accounting.conversions import ORDERS, at_most_pure, most_repeats, to_epsilon
from ...reference.arrays import Matrix
from ...reference.searches import last_between

_MOST_REPEATS = 10**12


class Fitting:
    """Finds how many passes and rows fit, by costs on the grid of `ORDERS`.

    kinds: the kind (m,) of each row, in order; costs: Rényi cost (k, n) of asking a row of each
    kind once; pure: pure epsilon of a row, infinity where it has none.
    """

    def __init__(self, kinds: NDArray[np.intp], costs: Matrix, delta: float, pure: float) -> None:
        self.kinds, self.costs, self.delta, self.pure = kinds, costs, delta, pure
        self.rows = len(kinds)
        self.whole = self._cost(self.rows)
        self.once = self._epsilon(self.whole, self.rows)

    def passes(self, budget: float) -> int:
        """How many passes fit `budget`, 0 where one does not. Raises ValueError for too many."""
        if self.once > budget:
            return 0
        pure = self.pure * self.rows
        passes = most_repeats(self.whole, self.delta, budget, _MOST_REPEATS, pure)
        if passes == _MOST_REPEATS:
            raise ValueError(
                f"--epsilon {budget:g}: {passes:,} repeats fit: expected a budget that limits them"
            )
        return passes

    def rows_beyond(self, passes: int, budget: float) -> int:
        """How many rows, from the first, fit `budget` after `passes` passes."""

        def fit(rows: int) -> bool:
            costs = passes * self.whole + self._cost(rows)
            return self._epsilon(costs, passes * self.rows + rows) <= budget

        return last_between(0, self.rows, fit)

    def _cost(self, rows: int) -> Matrix:
        """Rényi cost (n,) of asking the first `rows` rows once."""
        times = np.bincount(self.kinds[:rows], minlength=len(self.costs))
        return np.asarray(times @ self.costs)

    def _epsilon(self, costs: Matrix, rows: int) -> float:
        """Epsilon of `rows` rows with Rényi costs (n,), by the pure bound if that is smaller."""
        pure = self.pure * rows if rows else 0.0
        return at_most_pure(to_epsilon(ORDERS, costs, self.delta), pure).epsilon
