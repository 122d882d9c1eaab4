"""What a report says for certain of the cost of its claim."""

from pydantic import Field

from .document import Document
from .report import CheckResult, Report

COST = "cost-above-claim"
"""The code by which a pass says what is certainly spent: a higher cost is no power."""


class CostBounds(Document):
    """What is certain of the cost of a claim."""

    low: float = Field(description="An epsilon below it is refuted.")
    high: float | None = Field(description="From it on the claim is proven; null where unknown.")
    delta: float | None
    queries: int | None

    @property
    def in_words(self) -> str:
        """Both ends, with what they are of."""
        text = f"epsilon at least {self.low:.6g}"
        text += f", at most {self.high:.6g}" if self.high is not None else ""
        text += f", at delta {self.delta:g}" if self.delta is not None else ""
        return text + (f" over {self.queries:,}" if self.queries is not None else "")


def certified_cost(check: CheckResult, report: Report) -> CostBounds | None:
    """What a check says for certain of the claimed cost; None where it says nothing."""
    figure = None if check.figures is None else check.figures.cost
    if figure is not None and figure.refuted_below is not None:
        return CostBounds(
            low=figure.refuted_below,
            high=figure.proven_from,
            delta=figure.delta,
            queries=figure.queries,
        )
    told = next((one.size for one in check.excludes if one.code == COST), {})
    cost = told.get("epsilon") if figure is None else None
    if cost is None:
        told, cost = check.fields, check.fields.get("cost")
    if not isinstance(cost, int | float):
        return None
    claimed = report.claim.get("privacy")
    delta = told.get("delta", claimed.get("delta") if isinstance(claimed, dict) else None)
    return CostBounds(low=cost, high=None, delta=delta, queries=told.get("queries"))
