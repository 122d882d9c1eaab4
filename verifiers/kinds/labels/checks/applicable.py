"""Which checks of the registry a claim and a plan have room for, and why not for the others."""

from ..claim import Claim
from ..planning.plan import Plan
from .registered import specs
from .spec import CheckSpec


def lacking(claim: Claim, plan: Plan | None = None) -> dict[str, str]:
    """The checks that a claim leaves no room for, or a plan of it: check id -> why.

    Of several that share an id, each for other claims, one that there is room for is enough.
    """
    found: dict[str, str] = {}
    for spec in specs():
        reason = _reason(spec, claim, plan)
        if reason is not None:
            found.setdefault(spec.id, reason)
    for spec in applicable(claim, plan):
        found.pop(spec.id, None)
    return found


def applicable(claim: Claim, plan: Plan | None = None) -> list[CheckSpec]:
    """The checks that there is room for, in the order of the report."""
    return [spec for spec in specs() if _reason(spec, claim, plan) is None]


def _reason(spec: CheckSpec, claim: Claim, plan: Plan | None) -> str | None:
    by_claim = spec.lacks(claim)
    if by_claim is not None or plan is None:
        return by_claim
    return spec.lacks_in(plan)
