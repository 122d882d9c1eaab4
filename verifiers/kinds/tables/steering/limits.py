"""How much is asked of the tables that a search finds, and where one is made."""

from ..claim import TablesClaim
from ..planning.plan import TablePlan

MOST_QUERIES = 4_000
"""Releases that are asked of tables that the search has found."""

MOST_ROWS = 3_000_000
"""Rows that these have, over all releases."""

_FULL = 50_000  # queries from which the search runs


def steers(claim: TablesClaim, plan: TablePlan) -> bool:
    """Whether tables may be steered: a run at full breadth, of a target that is no query."""
    return claim.sql is None and claim.gate.max_queries >= _FULL and plan.share == 1.0
