"""Which checks of labels a claim and a plan have room for, and why not for the others."""

from collections.abc import Collection
from typing import cast

from ....run.selection import Selection
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..registry import CHECKS
from .spec import LabelsSpec


def specs() -> tuple[LabelsSpec, ...]:
    """The specs of all checks, in the order of a report."""
    return cast(tuple[LabelsSpec, ...], CHECKS.specs)


def lacking(claim: LabelsClaim, plan: Plan | None = None) -> dict[str, str]:
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


def applicable(claim: LabelsClaim, plan: Plan | None = None) -> list[LabelsSpec]:
    """The checks that there is room for, in the order of a report."""
    return [spec for spec in specs() if _reason(spec, claim, plan) is None]


def streams_asked(selection: Selection, plan: Plan, lacking: Collection[str]) -> list[bool]:
    """For each stream of the plan, whether any chosen check needs labels of it.

    lacking: the checks that the run does not have, whatever the reason.
    """
    if not selection.left_out:
        return [True] * len(plan.streams)
    chosen = [spec for spec in applicable(plan.claim, plan) if spec.id not in lacking]
    needs = [spec.needs for spec in chosen if spec.needs is not None]
    streams = enumerate(plan.streams)
    return [any(need(plan, i, stream) for need in needs) for i, stream in streams]


def _reason(spec: LabelsSpec, claim: LabelsClaim, plan: Plan | None) -> str | None:
    by_claim = spec.not_applicable(claim)
    if by_claim is not None or plan is None:
        return by_claim
    return spec.not_applicable_in(plan)
