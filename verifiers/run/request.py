"""What a run was asked for, beside its claim."""

from dataclasses import dataclass
from typing import Any

from .after_failure import AfterFailure
from .selection import Selection


@dataclass(frozen=True)
class RunRequest:
    """The arguments of `verify`, whose documentation says what each means.

    stated: the claim, before it was fitted to the queries that there are; extent: how much of a
    plan is asked, in the terms of its kind; planned: whether the plan was made for those queries.
    """

    stated: Any
    seed: int
    own: tuple[tuple[int, ...], ...]
    earlier: Any
    selection: Selection
    after_failure: AfterFailure
    extent: Any
    planned: bool
    of_reference: bool = False

    @property
    def keeps_going(self) -> bool:
        """Whether all checks are finished once one has failed."""
        return self.after_failure == "keep-going"
