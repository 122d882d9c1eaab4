"""What a run was asked for, beside its claim."""

from dataclasses import dataclass

from ....findings.opening import Opening
from ....run.selection import Selection
from ..planning.extent import Extent
from .diagnosis import AfterFailure


@dataclass(frozen=True)
class Request:
    """The arguments of `verify`, whose documentation says what each means.

    extent: how much of the plan is asked; planned: whether it was made for the queries there are.
    """

    seed: int
    own: tuple[tuple[int, ...], ...]
    earlier: Opening | None
    selection: Selection
    after_failure: AfterFailure
    extent: Extent
    planned: bool
