"""What a run of numbers was asked for, beside its claim."""

from dataclasses import dataclass, field

from ...run.selection import Selection
from ..labels.gathering.diagnosis import AfterFailure
from .opening import NumbersOpening


@dataclass(frozen=True)
class NumbersRequest:
    """The arguments of `verify_numbers`, whose documentation says what each means.

    share: of what checks ask for themselves; planned: whether the plan was made for the queries
    there are.
    """

    seed: int
    selection: Selection = field(default_factory=Selection)
    after_failure: AfterFailure = "diagnose"
    earlier: NumbersOpening | None = None
    share: float = 1.0
    planned: bool = False

    @property
    def keeps_going(self) -> bool:
        """Whether all checks are finished once one has failed."""
        return self.after_failure == "keep-going"
