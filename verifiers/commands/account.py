"""The command `dpassay account`: the privacy cost of the queries in a file of histograms."""

import math
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...reference import REFUSAL, ConfidentGNMax, Gaussian, UnknownMechanismError
from ...reference.accounting.analyses import MEANING, Analysis
from ...reference.accounting.confident import Charging, log_answered
from ...reference.accounting.conversions import ORDERS, Epsilon, best_epsilon
from ...reference.accounting.neighbourhood import MOVED_VOTE, Neighbourhood
from ...reference.accounting.pure import pure_epsilon
from ...reference.mechanisms import ClaimedMechanism
from ..inputs.asked_file import AskedRows
from .fitting import Fitting
from .row_costs import RowCosts

_NO_GUARANTEE = "as the released code does; not a guarantee a deployment may use"


@dataclass(frozen=True)
class Account:
    """The cost of queries, and the analysis that it is by.

    expected_answered: queries answered on average, or, where charging is `realised`, in fact;
    data_independent: epsilon of the same queries by that analysis, charged alike; repeats: how
    often each row is asked; rows_beyond: with a budget, how many rows, from the first, fit once
    more after these repeats.
    """

    epsilon: Epsilon
    data_independent: float
    delta: float
    queries: int
    expected_answered: float
    analysis: Analysis
    charging: Charging
    mechanism: ClaimedMechanism
    neighbourhood: Neighbourhood
    budget: float | None
    repeats: int
    rows_beyond: int | None

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {
            "epsilon": self.epsilon.epsilon,
            "data_independent_epsilon": self.data_independent,
            "delta": self.delta,
            "order": self.epsilon.order if math.isfinite(self.epsilon.order) else None,
            "queries": self.queries,
            "expected_answered": self.expected_answered,
            "analysis": self.analysis,
            "adjacency": self.neighbourhood.adjacency.value,
            "votes": self.neighbourhood.votes,
            "charging": self.charging,
            "note": self.note,
            "repeats": self.repeats,
            "rows_beyond": self.rows_beyond,
        }

    @property
    def note(self) -> str | None:
        """Why the figure is no guarantee, where the charging makes it none."""
        if isinstance(self.mechanism, ConfidentGNMax) and self.charging == "expected":
            return _NO_GUARANTEE
        return None

    def as_text(self) -> str:
        """The account in lines for the terminal."""
        known = self.charging == "realised"
        answered = f"{self.expected_answered:,.{0 if known else 1}f} answered"
        lines = [
            f"epsilon {self.epsilon.epsilon:.4f} at delta {self.delta:g} "
            f"({self._how}), {self._neighbours}",
            f"{self.queries:,} {'query' if self.queries == 1 else 'queries'}{self._fits}; "
            f"{answered}{'' if known else ' on average'}",
            f"analysis {self.analysis}: {MEANING[self.analysis]}",
        ]
        if self.analysis != "data-independent":
            lines.append(f"data-independent: epsilon {self.data_independent:.4f}")
        if isinstance(self.mechanism, ConfidentGNMax):
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
        many = self.neighbourhood.votes
        by = f" by {many} votes" if many > 1 else ""
        return f"{self.neighbourhood.adjacency.value} neighbours{by}"

    @property
    def _how(self) -> str:
        """The Rényi order, or the pure bound, that gave the figure."""
        if math.isfinite(self.epsilon.order):
            return f"Rényi order {self.epsilon.order:.4g}"
        return "pure privacy, added up: it holds at delta 0 too"

    @property
    def _fits(self) -> str:
        """How many passes over the rows fit the budget, in words; empty without a budget."""
        if self.budget is None:
            return ""
        rows = self.queries // self.repeats
        if rows == 1:
            return f", the most that fit epsilon {self.budget:g}"
        passes, fit = ("pass", "fits") if self.repeats == 1 else ("passes", "fit")
        more = f", and the first {self.rows_beyond:,} rows once more" if self.rows_beyond else ""
        return f": {self.repeats:,} {passes} over {rows:,} rows {fit} epsilon {self.budget:g}{more}"


def account(
    rows: AskedRows,
    mechanism: ClaimedMechanism,
    delta: float,
    *,
    repeat: int = 1,
    budget: float | None = None,
    analysis: Analysis = "data-dependent",
    charging: Charging = "expected",
    neighbourhood: Neighbourhood = MOVED_VOTE,
    executor: Executor | None = None,
) -> Account:
    """The cost of asking every row `repeat` times, or as often as fits `budget`.

    neighbourhood: which histograms it is between; executor: whose workers do the work, this process
    when None. Raises ValueError where charging `realised` lacks labels, a label is a refusal but
    the mechanism never refuses, or one pass exceeds the budget; UnknownMechanismError for any other
    mechanism.
    """
    if not isinstance(mechanism, ClaimedMechanism):
        raise UnknownMechanismError(mechanism, "an account")
    if rows.refused.any() and not isinstance(mechanism, ConfidentGNMax):
        raise ValueError(
            f"label {REFUSAL} of histogram {int(rows.refused.argmax()) + 1}: a refusal, but only "
            "confident-gnmax refuses: expected a class from 0"
        )
    if charging == "realised" and rows.labels is None:
        raise ValueError("--charging realised needs a column 'label' of what was released")
    pure = (
        math.inf
        if isinstance(mechanism.noise.unrounded, Gaussian)
        else pure_epsilon(mechanism.noise, neighbourhood)
    )

    def costs_by(analysis: Analysis) -> RowCosts:
        return RowCosts(
            rows, mechanism, analysis, charging, neighbourhood=neighbourhood, executor=executor
        )

    costs = costs_by(analysis)
    beyond = None
    if budget is not None:
        fitting = Fitting(costs.kinds, costs.of_kinds(ORDERS), delta, pure)
        repeat = fitting.passes(budget)
        beyond = fitting.rows_beyond(repeat, budget)

    def epsilon_of(costs: RowCosts) -> Epsilon:
        most = repeat * len(rows) * pure
        return best_epsilon(lambda orders: repeat * costs.total(orders), delta, pure=most)

    found = independent = epsilon_of(costs)
    if analysis != "data-independent":
        independent = epsilon_of(costs_by("data-independent"))
    answered = repeat * _answered(rows, mechanism, charging)
    queries = repeat * len(rows)
    return Account(
        found,
        independent.epsilon,
        delta,
        queries,
        answered,
        analysis,
        charging,
        mechanism,
        neighbourhood,
        budget,
        repeat,
        beyond,
    )


def _answered(rows: AskedRows, mechanism: ClaimedMechanism, charging: Charging) -> float:
    """Rows answered on average, or, where charging is `realised`, in fact."""
    if charging == "realised":
        return float((~rows.refused).sum())
    if not isinstance(mechanism, ConfidentGNMax):
        return float(len(rows))
    return float(np.exp(log_answered(rows.histograms, mechanism)).sum())
