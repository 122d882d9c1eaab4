"""What a run knows of a check of labels before it is made: when it applies, what it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ....run.registry import CheckSpec, Reason, Setting, always_applicable
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
    """One check of labels.

    not_applicable_in: why a plan leaves no room for it, None where it does; needs: whether what it
    finds rests on labels of a stream, a superset, None for a check that sees no labels and is made
    when its phase comes; named: place among the checks that fail together.
    """

    not_applicable_in: Callable[[Plan], Reason] = always_applicable
    needs: Callable[[Plan, int, Stream], bool] | None = None
    named: int = 0


TOO_FEW = "left out, as there are few queries"
CACHED = "answers are cached: each label is of another histogram"
