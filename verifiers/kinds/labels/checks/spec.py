"""What a run knows of the checks of labels before they are made: what each needs, and is made of.

It also says which checks a claim and a plan have room for, and why not for the others.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import cast

from ....findings.note import Note
from ....run.registry import CheckSpec, Reason, Setting, always_applicable
from ....run.selection import Selection
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.streams import Stream
from ..registry import CHECKS


@dataclass(frozen=True)
class LabelsSetting(Setting):
    """What a check of labels is made of.

    kept: what a caching deployment has answered, as it grows; before: what it had answered to the
    contract's calls.
    """

    kept: Mapping[tuple[int, ...], int]
    before: Mapping[tuple[int, ...], int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LabelsSpec(CheckSpec):
    """One check of labels.

    not_applicable_in: why a plan leaves no room for it, None where it does; needs: whether what it
    finds rests on labels of a stream, a superset, None for a check that sees no labels and is made
    when its phase comes; named: place among the checks that fail together.
    """

    not_applicable_in: Callable[[Plan], Reason] = always_applicable
    needs: Callable[[Plan, int, Stream], bool] | None = None
    named: int = 0


TOO_FEW = Note("left-out-for-budget", "left out, as there are few queries")
CACHED = Note("answers-cached", "answers are cached: each label is of another histogram")


def specs() -> tuple[LabelsSpec, ...]:
    """The specs of all checks, in the order of a report."""
    return cast(tuple[LabelsSpec, ...], CHECKS.specs)


def lacking(claim: LabelsClaim, plan: Plan | None = None) -> dict[str, Note]:
    """The checks that a claim leaves no room for, or a plan of it: check id -> why.

    Of several that share an id, each for other claims, one that there is room for is enough.
    """
    found: dict[str, Note] = {}
    there = {spec.id for spec in applicable(claim, plan)}
    for spec in specs():
        reason = _reason(spec, claim, plan)
        if reason is not None and spec.id not in there:
            found.setdefault(spec.id, reason)
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


def _reason(spec: LabelsSpec, claim: LabelsClaim, plan: Plan | None) -> Reason:
    by_claim = spec.not_applicable(claim)
    if by_claim is not None or plan is None:
        return by_claim
    return spec.not_applicable_in(plan)
