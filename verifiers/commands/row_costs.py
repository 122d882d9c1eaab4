"""The privacy cost of the rows of a file, and how many passes over them fit a budget."""

from collections.abc import Iterator
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from ...reference.accounting.analyses import Analysis, Charging, query_cost
from ...reference.accounting.conversions import ORDERS, at_most_pure, most_repeats, to_epsilon
from ...reference.accounting.neighbourhood import Neighbourhood
from ...reference.arrays import Matrix
from ...reference.mechanisms import ClaimedMechanism
from ...reference.parallel.kept import shown
from ...reference.searches import last_between
from ..inputs.log_file import AskedRows

_TOGETHER = 512
"""Histograms per part of the work."""

_TOGETHER_EXACT = 8  # as `_TOGETHER`, where all neighbours of each are compared


How = tuple[ClaimedMechanism, Analysis, Charging, Neighbourhood]
"""How rows are charged."""


class RowCosts:
    """Costs of the rows of a file; rows that must cost the same are of one kind.

    kinds: the kind (m,) of each row; executor: whose workers compute, this process when None.
    """

    def __init__(
        self,
        rows: AskedRows,
        mechanism: ClaimedMechanism,
        analysis: Analysis,
        charging: Charging,
        *,
        neighbourhood: Neighbourhood,
        executor: Executor | None,
    ) -> None:
        self._how: How = (mechanism, analysis, charging, neighbourhood)
        self._executor = executor
        refused = rows.refused & (charging == "realised")
        first, self.kinds, self._times = _alike(
            np.column_stack([_decisive(rows, self._how), refused])
        )
        self._histograms, self._refused = rows.histograms[first], refused[first]

    def total(self, orders: Matrix) -> Matrix:
        """Cost (n,) of asking every row once."""
        found, start = np.zeros(orders.size), 0
        for some in self._parts(orders):
            found += self._times[start : start + len(some)] @ some
            start += len(some)
        return found

    def of_kinds(self, orders: Matrix) -> Matrix:
        """Costs (k, n) of asking each kind once."""
        return np.concatenate(list(self._parts(orders)))

    def _parts(self, orders: Matrix) -> Iterator[Matrix]:
        """Costs (k, n) of consecutive parts of the kinds."""
        size = _TOGETHER_EXACT if self._how[1] == "exact" else _TOGETHER
        parts = (
            (
                self._histograms[start : start + size],
                self._refused[start : start + size],
                orders,
                self._how,
            )
            for start in range(0, len(self._histograms), size)
        )
        number, name = -(-len(self._histograms) // size), "costs of rows"
        if orders.size == 1:
            name += ", at the best order"
        if self._executor is None:
            yield from shown((_costs(*part) for part in parts), number, name)
            return
        from ...reference.parallel.workers import carried_out

        costs = shown(carried_out(_costs, parts, self._executor), number, name)
        yield from (some for _, some in sorted(costs, key=lambda part: part[0]))


def _costs(
    histograms: NDArray[np.int64], refused: NDArray[np.bool_], orders: Matrix, how: How
) -> Matrix:
    """Costs (k, n) of k kinds, each a histogram that was answered or refused."""
    mechanism, analysis, charging, neighbourhood = how
    return query_cost(
        histograms,
        mechanism,
        orders,
        analysis,
        neighbourhood=neighbourhood,
        charging=charging,
        refused=refused,
    )


def _decisive(rows: AskedRows, how: How) -> NDArray[np.int64]:
    """The features (m, j) of each histogram that decide its cost.

    Mechanisms treat classes alike, so that the order of the votes never matters.
    """
    votes, (mechanism, analysis, charging, _) = rows.histograms, how
    if analysis == "worst-pair":
        return np.asarray(votes.sum(1, keepdims=True))
    if analysis == "data-independent":
        screened = mechanism.refuses and charging == "expected"
        return np.asarray(votes.max(1, keepdims=True)) if screened else votes[:, :0]
    return np.sort(votes, axis=1)


def _alike(rows: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Groups equal rows (m, j): first row (k,) of each kind, kind (m,) of each row, sizes (k,).

    It sorts by a 64-bit hash, which is far faster than by whole rows; where two kinds collide,
    which is very rare, by whole rows.
    """
    factors = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], dtype=np.uint64) | 1
    hashed = rows.astype(np.uint64) @ factors
    _, first, kinds, times = np.unique(
        hashed, return_index=True, return_inverse=True, return_counts=True
    )
    if not np.array_equal(rows[first][kinds], rows):
        _, first, kinds, times = np.unique(
            rows, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
    return first, kinds.ravel(), times


_MOST_REPEATS = 10**12


class Fitting:
    """Finds how many passes and rows fit, by costs on the grid of `ORDERS`.

    Args:
        kinds: the kind (m,) of each row, in order.
        costs: Rényi cost (k, n) of asking a row of each kind once.
        pure: pure epsilon of a row, infinity where it has none.
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
