"""Plans of claims of many kinds."""

from typing import Any

from claims import gnmax

from dpassay.verifiers.kinds.labels.planning.plan import Plan
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.reading import parse_claim

GNMAX = gnmax()
SCREENED = {"name": "confident-gnmax", "threshold": 200.0, "threshold_noise": "gaussian:150"}
PRIVACY = {"epsilon": 2.65, "delta": 1e-5, "queries": 286}


def plan(
    mechanism: dict[str, Any] = GNMAX,
    effect: float = 0.02,
    other_totals: bool = True,
    own: int = 0,
    **tables: Any,
) -> Plan:
    """That of a claim; own: how many histograms of the deployment itself it has."""
    gate = {"smallest_effect": effect}
    made = parse_claim({"mechanism": mechanism, "gate": gate, **tables})
    histograms = tuple((250 - i, i, *[0] * 8) for i in range(own))
    return make_plan(made, 7, other_totals, histograms)


TINY = gnmax(1, 2, 1)
PLANS = {
    "default": {},
    "privacy": {"privacy": PRIVACY},
    "one-total": {"other_totals": False},
    "caching": {"mechanism": GNMAX | {"caching": True}},
    "screened": {"mechanism": GNMAX | SCREENED},
    "coarse": {"effect": 0.9, "own": 60},  # few sweeps, many histograms
    "tiny": {"mechanism": TINY, "effect": 0.5},
}
