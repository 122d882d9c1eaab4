"""How much of a file fits a budget: whole passes over its rows, then rows from the first on."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ...reference.accounting.conversions import ORDERS, most_repeats, to_epsilon
from ...reference.arrays import Matrix
from ...reference.searches import last_between

Row = tuple[tuple[int, ...], bool]
"""Votes, and whether the query was refused."""

_MOST_REPEATS = 10**12


class Fitting:
    """Finds what fits, on the grid of orders, where cost rises with every row.

    rows: in the order they would be asked; costs: row -> Rényi cost (n,) of asking it once, at
    `ORDERS`.
    """

    def __init__(self, rows: Sequence[Row], costs: Mapping[Row, Matrix], delta: float) -> None:
        self.rows, self.costs, self.delta = rows, costs, delta
        self.whole = self._cost(len(rows))

    def passes(self, budget: float) -> int:
        """How many passes fit. Raises ValueError of one line where none does, or too many do."""
        once = self._epsilon(self.whole)
        if once > budget:
            few = self.rows_beyond(0, budget)
            raise ValueError(
                f"--epsilon {budget:g}: one pass already costs {once:.4f}; {self._told(few)}"
            )
        passes = most_repeats(self.whole, self.delta, budget, _MOST_REPEATS)
        if passes == _MOST_REPEATS:
            raise ValueError(
                f"--epsilon {budget:g}: {passes:,} repeats fit: expected a budget of use"
            )
        return passes

    def rows_beyond(self, passes: int, budget: float) -> int:
        """How many rows, from the first on, still fit once after so many passes."""

        def fit(rows: int) -> bool:
            return self._epsilon(passes * self.whole + self._cost(rows)) <= budget

        return last_between(0, len(self.rows), fit)

    def _told(self, few: int) -> str:
        """How many rows fit where not all do."""
        if few == 0:
            return f"the first row alone costs {self._epsilon(self._cost(1)):.4f}"
        rows = f"{few:,} of its {len(self.rows):,} rows fit"
        return f"the first {rows}, at {self._epsilon(self._cost(few)):.4f}"

    def _cost(self, rows: int) -> Matrix:
        """Of the first rows, asked once."""
        counted = Counter(self.rows[:rows])
        return np.asarray(sum(times * self.costs[row] for row, times in counted.items()))

    def _epsilon(self, costs: Matrix) -> float:
        return to_epsilon(ORDERS, costs, self.delta).epsilon
