"""The command `dpassay account`: from a file of histograms to what asking them costs."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...reference import (
    REFUSAL,
    ConfidentGNMax,
    NoisyArgmax,
    UnknownMechanismError,
)
from ...reference.accounting.adjacency import Adjacency, adjacency_of
from ...reference.accounting.analyses import MEANING, Analysis, answered_share, query_cost
from ...reference.accounting.confident import Charging
from ...reference.accounting.conversions import ORDERS, Epsilon, best_epsilon
from ...reference.arrays import Matrix
from ..inputs.histogram_file import Asked
from .fitting import Fitting, Row

Accounted = NoisyArgmax | ConfidentGNMax

Costs = Callable[[Sequence[Row], Matrix], Matrix]
"""Costs (rows, n) of rows at orders (n,)."""

TOGETHER = 4
"""Histograms that are a part of the work, whoever does it."""

_NO_GUARANTEE = "as the released code does; not a guarantee a deployment may use"


@dataclass(frozen=True)
class Account:
    """What was charged, on what grounds.

    expected_answered: queries that are answered on average; that were answered, where charging is
    `realised`; repeats: how often each row is asked; rows_beyond: with a budget, how many rows,
    from the first on, fit once more after these.
    """

    epsilon: Epsilon
    delta: float
    queries: int
    expected_answered: float
    analysis: Analysis
    charging: Charging
    mechanism: Accounted
    budget: float | None
    repeats: int
    rows_beyond: int | None

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {
            "epsilon": self.epsilon.epsilon,
            "delta": self.delta,
            "order": self.epsilon.order,
            "queries": self.queries,
            "expected_answered": self.expected_answered,
            "analysis": self.analysis,
            "adjacency": self.adjacency.value,
            "charging": self.charging,
            "note": self.note,
            "repeats": self.repeats,
            "rows_beyond": self.rows_beyond,
        }

    @property
    def adjacency(self) -> Adjacency:
        """The neighbours between which this is the cost."""
        return adjacency_of(query_cost)

    @property
    def note(self) -> str | None:
        """What the charging makes of the figure, where it makes it no guarantee."""
        if isinstance(self.mechanism, ConfidentGNMax) and self.charging == "expected":
            return _NO_GUARANTEE
        return None

    def as_text(self) -> str:
        """For people: the figure, what it is of, and what it is not."""
        known = self.charging == "realised"
        answered = f"{self.expected_answered:,.{0 if known else 1}f} answered"
        lines = [
            f"epsilon {self.epsilon.epsilon:.4f} at delta {self.delta:g} "
            f"(Rényi order {self.epsilon.order:.4g}), {self.adjacency.value} neighbours",
            f"{self.queries:,} {'query' if self.queries == 1 else 'queries'}{self._fits}; "
            f"{answered}{'' if known else ' on average'}",
            f"analysis {self.analysis}: {MEANING[self.analysis]}",
        ]
        if isinstance(self.mechanism, ConfidentGNMax):
            meaning = {
                "expected": _NO_GUARANTEE,
                "realised": "each query by what was released",
                "all": "every query as answered",
            }[self.charging]
            lines.append(f"charging {self.charging}: {meaning}")
        return "\n".join(lines)

    @property
    def _fits(self) -> str:
        """How often the rows fit the budget, and how many of them once more."""
        if self.budget is None:
            return ""
        rows = self.queries // self.repeats
        if rows == 1:
            return f", the most that fit epsilon {self.budget:g}"
        passes, fit = ("pass", "fits") if self.repeats == 1 else ("passes", "fit")
        more = f", and the first {self.rows_beyond:,} rows once more" if self.rows_beyond else ""
        return f": {self.repeats:,} {passes} over {rows:,} rows {fit} epsilon {self.budget:g}{more}"


def account(
    rows: list[Asked],
    mechanism: Accounted,
    delta: float,
    *,
    repeat: int = 1,
    budget: float | None = None,
    analysis: Analysis = "data-dependent",
    charging: Charging = "expected",
    executor: Executor | None = None,
) -> Account:
    """The cost of asking every row `repeat` times, or as often as fits `budget`.

    executor: over whose workers the histograms are shared; this process when None.
    Raises ValueError where charging `realised` has no labels, a label is a refusal of a mechanism
    that refuses nothing, a single pass exceeds the budget, or the mechanism is not known.
    """
    if not isinstance(mechanism, Accounted):
        raise UnknownMechanismError(mechanism, "an account")
    refusals = [place for place, row in enumerate(rows, 1) if row.label == REFUSAL]
    if refusals and not isinstance(mechanism, ConfidentGNMax):
        raise ValueError(
            f"label {REFUSAL} of histogram {refusals[0]}: a refusal, but only confident-gnmax "
            "refuses: expected a class from 0"
        )
    if charging == "realised" and any(row.label is None for row in rows):
        raise ValueError("--charging realised needs a column 'label' of what was released")
    beyond, costs = None, _costs(mechanism, analysis, charging, executor)
    if budget is not None:
        fitting = _fitting(rows, delta, costs)
        repeat = fitting.passes(budget)
        beyond = fitting.rows_beyond(repeat, budget)
    once = _total_cost(rows, costs)
    found = best_epsilon(lambda orders: repeat * once(orders), delta)
    if charging == "realised":
        answered = float(repeat * sum(row.label != REFUSAL for row in rows))
    else:
        answered = repeat * sum(answered_share(row.histogram, mechanism) for row in rows)
    queries = repeat * len(rows)
    return Account(
        found, delta, queries, answered, analysis, charging, mechanism, budget, repeat, beyond
    )


def _costs(
    mechanism: Accounted, analysis: Analysis, charging: Charging, executor: Executor | None
) -> Costs:
    """Works out the cost of each row at some orders, over an executor where there is one."""

    def costs(rows: Sequence[Row], orders: Matrix) -> Matrix:
        if executor is None:
            return _some(rows, mechanism, orders, analysis, charging)
        from ...reference.parallel.workers import (
            carried_out,  # loads what one process does not need
        )

        parts = (
            (rows[start : start + TOGETHER], mechanism, orders, analysis, charging)
            for start in range(0, len(rows), TOGETHER)
        )
        found = sorted(carried_out(_some, parts, executor), key=lambda part: part[0])
        return np.concatenate([some for _, some in found])

    return costs


def _some(
    rows: Sequence[Row],
    mechanism: Accounted,
    orders: Matrix,
    analysis: Analysis,
    charging: Charging,
) -> Matrix:
    """Costs (rows, n)."""
    return np.stack(
        [
            query_cost(votes, mechanism, orders, analysis, charging=charging, refused=refused)
            for votes, refused in rows
        ]
    )


def _total_cost(rows: list[Asked], costs: Costs) -> Callable[[Matrix], Matrix]:
    """The cost (n,) of asking every row once, as a function of orders; equal rows once."""
    counted = Counter((row.histogram, row.label == REFUSAL) for row in rows)
    times = np.array(list(counted.values()), dtype=np.float64)[:, None]

    def total(orders: Matrix) -> Matrix:
        return np.asarray(np.sum(times * costs(list(counted), orders), axis=0))

    return total


def _fitting(rows: list[Asked], delta: float, costs: Costs) -> Fitting:
    """What of the rows fits a budget; equal rows cost the same."""
    keys = [(row.histogram, row.label == REFUSAL) for row in rows]
    distinct = list(dict.fromkeys(keys))
    return Fitting(keys, dict(zip(distinct, costs(distinct, ORDERS), strict=True)), delta)
