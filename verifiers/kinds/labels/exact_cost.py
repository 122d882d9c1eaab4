"""The exact cost of the costliest pair that a run found, which takes seconds."""

from functools import lru_cache
from typing import Any

from ....reference.accounting.composition import Repeated, epsilon_bracket
from ...findings.figures import PrivacyCost
from ...findings.report import CheckResult
from .mechanism import LabelsMechanism

_MOST_COMPOSED = 2000  # most queries whose exact cost is computed, which takes three seconds


def with_exact_cost(result: CheckResult, claim: LabelsMechanism) -> CheckResult:
    """The result of `privacy-claim` with epsilon of its pair, bracketed, or why there is none."""
    figures = result.figures
    if figures is None or figures.cost is None:
        return result
    cost = figures.cost
    if cost.times > _MOST_COMPOSED:
        found: dict[str, Any] = {"not_computed": "too many queries"}
    else:
        found = {"exact_epsilon": _exact(cost, claim)}
    shown = figures.model_copy(update={"cost": cost.model_copy(update=found)})
    return result.model_copy(update={"figures": shown})


@lru_cache(maxsize=8)  # a page and a JSON object are made of one run
def _exact(cost: PrivacyCost, claim: LabelsMechanism) -> tuple[float, float]:
    mechanism = claim.mechanism()
    here, there = (
        mechanism.log_probabilities([float(v) for v in votes]) for votes in (cost.here, cost.there)
    )
    exact = epsilon_bracket([Repeated(here, there, cost.times)], cost.delta)
    return exact.low, exact.high
