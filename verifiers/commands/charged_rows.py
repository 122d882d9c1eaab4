"""The privacy cost of the rows of a file of histograms, as a document."""

import math
from concurrent.futures import Executor
from typing import Literal

import numpy as np
from pydantic import Field

from ...reference import REFUSAL, UnknownMechanismError
from ...reference.accounting.analyses import MEANING, Analysis, Charging
from ...reference.accounting.conversions import ORDERS, Epsilon, best_epsilon
from ...reference.accounting.neighbourhood import MOVED_VOTE, Neighbourhood
from ...reference.accounting.pure import pure_epsilon
from ...reference.mechanisms import ClaimedMechanism
from ..findings.document import Document
from ..inputs.input_error import ColumnsError
from ..inputs.log_file import AskedRows
from ..text import counted, epsilon_text
from .row_costs import Fitting, RowCosts

_NO_GUARANTEE = "as the released code does; not a guarantee a deployment may use"


class ChargedRows(Document):
    """The cost of queries, and the analysis that it is by."""

    epsilon: float = Field(ge=0, description="Of all queries together, at delta.")
    data_independent_epsilon: float = Field(
        ge=0, description="Of the same queries by that analysis, charged alike."
    )
    delta: float = Field(gt=0, lt=1)
    order: float | None = Field(
        gt=1,
        description="The Rényi order that gave epsilon; null where pure privacy, added up, did.",
    )
    queries: int = Field(ge=0)
    expected_answered: float = Field(
        ge=0, description="Queries answered on average; in fact, where charging is realised."
    )
    analysis: Analysis
    adjacency: Literal["replace-one", "add-remove"]
    votes: int = Field(ge=1, description="By how many votes neighbours differ, at most.")
    charging: Charging = Field(description="How refused queries are charged.")
    note: str | None = Field(description="Why epsilon is no guarantee, where it is none.")
    repeats: int = Field(ge=0, description="How often each row is asked.")
    rows_beyond: int | None = Field(
        ge=0,
        description="With a budget: how many rows, from the first, fit it once more after the "
        "repeats.",
    )
    budget: float | None = Field(exclude=True)
    rows: int = Field(exclude=True)
    once: float | None = Field(exclude=True)
    refuses: bool = Field(exclude=True)

    def as_text(self) -> str:
        """The account in lines for the terminal."""
        known = self.charging == "realised"
        answered = f"{self.expected_answered:,.{0 if known else 1}f} answered"
        lines = [
            f"epsilon {epsilon_text(self.epsilon)} at delta {self.delta:g} ({self._how}), "
            f"{self._neighbours}",
            f"{self.queries:,} {'query' if self.queries == 1 else 'queries'}{self._fits}; "
            f"{answered}{'' if known else ' on average'}",
            f"analysis {self.analysis}: {MEANING[self.analysis]}",
        ]
        if self.analysis != "data-independent":
            lines.append(f"data-independent: epsilon {epsilon_text(self.data_independent_epsilon)}")
        if self.refuses:
            meaning = {
                "expected": _NO_GUARANTEE,
                "realised": "each query by what was released",
                "all": "every query as answered",
            }[self.charging]
            lines.append(f"charging {self.charging}: {meaning}")
        return "\n".join(lines)

    @property
    def _neighbours(self) -> str:
        """Which neighbours the cost is between, in words."""
        by = f" by {self.votes} votes" if self.votes > 1 else ""
        return f"{self.adjacency} neighbours{by}"

    @property
    def _how(self) -> str:
        """The Rényi order, or the pure bound, that gave the figure."""
        if self.repeats == 0:
            return "nothing was released"
        if self.order is not None:
            return f"Rényi order {self.order:.4g}"
        return "pure privacy, added up: it holds at delta 0 too"

    @property
    def _fits(self) -> str:
        """How many passes over the rows fit the budget, in words; empty without a budget."""
        if self.budget is None:
            return ""
        rows = self.rows
        if self.repeats == 0:
            few = self.rows_beyond or 0
            first = counted(few, "row fits", "rows fit") if few else "row alone does not fit"
            return (
                f": none fits epsilon {self.budget:g}, as one pass over "
                f"{counted(rows, 'row', 'rows')} costs {epsilon_text(self.once or 0.0)}; the first "
                f"{first}"
            )
        if rows == 1:
            return f", the most that fit epsilon {self.budget:g}"
        passes, fit = ("pass", "fits") if self.repeats == 1 else ("passes", "fit")
        more = f", and the first {self.rows_beyond:,} rows once more" if self.rows_beyond else ""
        return f": {self.repeats:,} {passes} over {rows:,} rows {fit} epsilon {self.budget:g}{more}"


def account_of(
    rows: AskedRows,
    mechanism: ClaimedMechanism,
    delta: float,
    *,
    repeat: int = 1,
    budget: float | None = None,
    analysis: Analysis = "data-dependent",
    charging: Charging = "expected",
    neighbourhood: Neighbourhood | None = None,
    executor: Executor | None = None,
) -> ChargedRows:
    """The cost of asking every row `repeat` times, or as often as fits `budget`.

    neighbourhood: which histograms it is between, a moved vote when None; executor: whose workers
    do the work, this process when None. Raises ValueError where charging `realised` lacks labels, a
    label is a refusal but the mechanism never refuses, or the budget limits no number of passes;
    UnknownMechanismError for any other mechanism.
    """
    if not isinstance(mechanism, ClaimedMechanism):
        raise UnknownMechanismError(mechanism, "an account")
    if rows.refused.any() and not mechanism.refuses:
        raise ValueError(
            f"label {REFUSAL} of histogram {int(rows.refused.argmax()) + 1}: a refusal, but only "
            "confident-gnmax refuses: expected a class from 0"
        )
    if charging == "realised" and rows.labels is None:
        raise ColumnsError("--charging realised needs a column 'label' of what was released")
    near = MOVED_VOTE if neighbourhood is None else neighbourhood
    pure = pure_epsilon(mechanism.noise, near)

    def costs_by(analysis: Analysis) -> RowCosts:
        return RowCosts(rows, mechanism, analysis, charging, neighbourhood=near, executor=executor)

    costs = costs_by(analysis)
    beyond = once = None
    if budget is not None:
        fitting = Fitting(costs.kinds, costs.of_kinds(ORDERS), delta, pure)
        repeat = fitting.passes(budget)
        beyond, once = fitting.rows_beyond(repeat, budget), fitting.once

    def epsilon_of(costs: RowCosts) -> Epsilon:
        most = repeat * len(rows) * pure if repeat else 0.0
        return best_epsilon(lambda orders: repeat * costs.total(orders), delta, pure=most)

    found = independent = epsilon_of(costs)
    if analysis != "data-independent":
        independent = epsilon_of(costs_by("data-independent"))
    return ChargedRows(
        epsilon=found.epsilon,
        data_independent_epsilon=independent.epsilon,
        delta=delta,
        order=found.order if math.isfinite(found.order) else None,
        queries=repeat * len(rows),
        expected_answered=repeat * _answered(rows, mechanism, charging),
        analysis=analysis,
        adjacency=near.adjacency.value,
        votes=near.votes,
        charging=charging,
        note=_NO_GUARANTEE if mechanism.refuses and charging == "expected" else None,
        repeats=repeat,
        rows_beyond=beyond,
        budget=budget,
        rows=len(rows),
        once=once,
        refuses=mechanism.refuses,
    )


def _answered(rows: AskedRows, mechanism: ClaimedMechanism, charging: Charging) -> float:
    """Rows answered on average, or, where charging is `realised`, in fact."""
    if charging == "realised":
        return float((~rows.refused).sum())
    return float(np.exp(mechanism.log_screening(rows.histograms)[:, 0]).sum())
