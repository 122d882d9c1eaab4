"""What a run knows of a check of labels before it is made: when it applies, and needs what."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ....run.registry import CheckSpec, Reason, Setting
from ..planning.plan import Plan, Stream


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
    """One check of labels. There are no defaults: a new one decides everything.

    not_applicable_in: why a plan leaves no room for it, None where it does; needs: whether what it
    finds rests on labels of a stream, a superset, None for a check that sees no labels and is made
    when its phase comes; named: place among the checks that fail together.
    """

    not_applicable_in: Callable[[Plan], Reason]
    needs: Callable[[Plan, int, Stream], bool] | None
    named: int


def needs_compared_streams(check: str) -> Callable[[Plan, int, Stream], bool]:
    """Whether a stream is one of the two that a check compares."""

    def needs(plan: Plan, at: int, _: Stream) -> bool:
        compared_streams = plan.compared_streams.get(check)
        return compared_streams is not None and at in (
            compared_streams.base,
            compared_streams.other,
        )

    return needs


NO_RELATED_INPUTS = (
    "no two inputs that max_queries has room to compare are related as this check needs"
)
TOO_FEW = "left out, as there are few queries"
CACHED = "answers are cached: each label is of another histogram"
