"""What the queries of a log cost, by which analysis and charging, and how long a budget lasted."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

from .....reference.accounting.release_costs import CountedCost
from .....reference.mechanisms import UnknownMechanismError
from .....reference.searches import last_from_zero
from ....claims.tables import PrivacyClaim
from ....findings.figures import BudgetEnd, LogCost, Spending
from ....text import epsilon_text
from ..mechanism import LabelsMechanism

Times = Callable[[int], str | None]
"""The time of a row, from 1; None where the log has none."""


def guaranteed(claim: LabelsMechanism, queries: int, delta: float) -> float | None:
    """The data-independent epsilon of so many queries, all charged as answered; None if unknown."""
    counted = _counted(claim)
    return None if counted is None else counted.least_epsilon(queries, 0, delta)


def _counted(claim: LabelsMechanism) -> CountedCost | None:
    try:
        return CountedCost(claim.mechanism(), claim.neighbourhood, teachers=claim.teachers)
    except (UnknownMechanismError, ValueError):
        return None


def spending_of(
    claim: LabelsMechanism,
    privacy: PrivacyClaim,
    queries: int,
    *,
    certain: float,
    charged: float | None,
    times: Times,
) -> Spending:
    """What a log cost that drew `queries` answers.

    certain: a lower bound of the cost at these votes; charged: what all rows say, None if some do
    not.
    """
    costs = []
    most = guaranteed(claim, queries, privacy.delta)
    if most is not None:
        costs.append(
            LogCost(
                analysis="data-independent",
                charging="all",
                epsilon=most,
                bound="above",
                depends_on_votes=False,
            )
        )
    costs.append(
        LogCost(
            analysis="certain",
            charging="all",
            epsilon=certain,
            bound="below",
            depends_on_votes=True,
        )
    )
    if charged is not None:
        costs.append(
            LogCost(
                analysis="charged",
                charging=None,
                epsilon=charged,
                bound=None,
                depends_on_votes=False,
            )
        )
    ends = () if claim.caching else tuple(_ends(claim, privacy, queries, times))
    return Spending(epsilon=privacy.epsilon, delta=privacy.delta, costs=tuple(costs), ends=ends)


def _ends(
    claim: LabelsMechanism, privacy: PrivacyClaim, queries: int, times: Times
) -> Iterator[BudgetEnd]:
    """By what the budget ended within the log, and with which row."""
    found: list[tuple[Literal["queries", "data-independent"], int]] = []
    if queries > privacy.queries:
        found.append(("queries", privacy.queries))
    counted = _counted(claim)
    if counted is not None:
        cost = partial(counted.least_epsilon, refused=0, delta=privacy.delta)
        last = last_from_zero(lambda asked: cost(asked) <= privacy.epsilon, queries)
        if last < queries:
            found.append(("data-independent", last))
    for by, row in found:
        yield BudgetEnd(by=by, last_row=row, last_time=times(row) if row else None)


def end_text(end: BudgetEnd) -> str:
    """The last row within the budget, in words."""
    return f"row {end.last_row:,}" + ("" if end.last_time is None else f" ({end.last_time})")


def spending_text(found: Spending) -> str:
    """The costs in words, each with its analysis, its charging and what it bounds."""
    words = {
        "data-independent": "a guarantee, whatever the votes, which may be published",
        "certain": "of the best test found: from below, at these votes alone, itself not private",
        "charged": "what the rows say that they charged",
    }
    parts = [
        f"epsilon {epsilon_text(one.epsilon)} "
        f"({one.analysis}{'' if one.charging is None else f', charging {one.charging}'}: "
        f"{words[one.analysis]})"
        for one in found.costs
    ]
    text = f"the queries of this log cost {', '.join(parts)}"
    for end in found.ends:
        if end.by == "data-independent":
            text += (
                f"; by the data-independent analysis the claimed epsilon lasts to {end_text(end)}"
            )
    return text
