"""How much is asked of the tables that a search finds, and where one is made."""

from ..claim import TablesClaim
from ..planning.plan import TablePlan

SHARE = 0.15
"""Of a plan's releases, and of their rows: what is asked of tables that the search has found."""

_FULL = 50_000  # queries from which the search runs


def steers(claim: TablesClaim, plan: TablePlan) -> bool:
    """Whether tables may be steered: a run at full breadth, of a target that is no query."""
    return claim.sql is None and claim.gate.max_queries >= _FULL and plan.share == 1.0
