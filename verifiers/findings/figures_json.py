"""The figures of a report as JSON, by check."""

import math
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..kinds.labels.claim import MechanismClaim
from ..optional_packages import missing_package
from .figures import LABEL_CONFIDENCE, AskedHistogram, Figures, LabelShare, PrivacyCost, ScaleTrace

if TYPE_CHECKING:
    from ...reference.accounting.composition import Bracket

_MOST_COMPOSED = 2000  # most queries whose exact cost is computed, which takes three seconds


def figures_of(check: str, figures: Figures | None, claim: MechanismClaim) -> dict[str, Any] | None:
    """The figures of a check, by its id; None where it has none."""
    if figures is None:
        return None
    drawn: dict[str, Any] = {}
    trace = figures.trace(check)
    if trace is not None:
        drawn["evidence"] = [list(point) for point in trace.points]
    if check == "class-probabilities" and figures.histograms:
        drawn["confidence"] = LABEL_CONFIDENCE
        drawn["histograms"] = [_asked(asked) for asked in figures.histograms]
    if check == "noise-scale" and figures.scale is not None:
        drawn["scale"] = scale_json(figures.scale)
    if check == "histogram-leakage" and figures.leakage is not None:
        own = figures.leakage
        drawn["leakage"] = asdict(own) | {"recovered": own.recovered, "guessed": own.guessed}
    if check == "privacy-claim" and figures.privacy is not None:
        drawn["cost"] = _cost(figures.privacy, claim)
    return drawn or None


@lru_cache(maxsize=8)
def exact_epsilon(cost: PrivacyCost, claim: MechanismClaim) -> "Bracket | str":
    """Epsilon of the pair, bracketed from both sides, or why it was not computed."""
    if cost.times > _MOST_COMPOSED:
        return "not computed: too many queries"
    try:
        from ...reference.accounting.composition import Repeated, epsilon_bracket
    except ModuleNotFoundError as error:
        return f"not computed: {missing_package(error)} is not installed"
    mechanism = claim.mechanism()
    here, there = (
        mechanism.log_probabilities([float(v) for v in votes]) for votes in (cost.here, cost.there)
    )
    return epsilon_bracket([Repeated(here, there, cost.times)], cost.delta)


def _asked(asked: AskedHistogram) -> dict[str, Any]:
    return {
        "kind": asked.kind,
        "histogram": list(asked.histogram),
        "queries": asked.queries,
        "outcomes": asked.outcomes,
        "labels": [_label(label, asked.queries) for label in asked.labels],
    }


def _label(label: LabelShare, queries: int) -> dict[str, Any]:
    """A label with its counts and probabilities; a refusal is -1, as targets answer it."""
    return {
        "label": -1 if label.label is None else label.label,
        "count": round(label.observed * queries),
        "expected_count": label.expected * queries,
        "observed": label.observed,
        "expected": min(label.expected, 1.0),  # rounding may leave it a hair above
        "interval": [label.low, label.high],
    }


def scale_json(trace: ScaleTrace) -> dict[str, Any]:
    """The interval of the scale as JSON."""
    points = [[queries, low, _finite(high)] for queries, low, high in trace.points]
    return asdict(trace) | {"points": points}


def _cost(cost: PrivacyCost, claim: MechanismClaim) -> dict[str, Any]:
    exact = exact_epsilon(cost, claim)
    return asdict(cost) | {
        "exact_epsilon": None if isinstance(exact, str) else [exact.low, exact.high]
    }


def _finite(value: float) -> float | None:
    """The value, or None for infinity, which JSON does not have."""
    return value if math.isfinite(value) else None
