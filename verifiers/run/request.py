"""What a run was asked for, beside its claim."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ..inputs.input_error import OptionsError
from .selection import Selection

AfterFailure = Literal["diagnose", "keep-going", "stop"]
"""What a run does once it is refuted: asks on for a diagnosis, finishes all checks too, or ends."""


@dataclass(frozen=True)
class PlanRequest:
    """What a plan is made for, beside its claim.

    queries: that there are, None for the claim's own precision; seed: of the inputs; own: inputs of
    the user's, as well; chosen: the checks of the run; serves_all: whether the target answers all
    that a plan may ask.
    """

    queries: int | None = None
    seed: int = 0
    own: tuple[tuple[int, ...], ...] = ()
    chosen: Selection = field(default_factory=Selection)
    serves_all: bool = True


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


def checked_choice(after_failure: str) -> AfterFailure:
    """The same, checked. Raises ValueError with what is allowed."""
    for choice in get_args(AfterFailure):
        if after_failure == choice:
            return choice  # type: ignore[no-any-return]
    allowed = ", ".join(get_args(AfterFailure))
    raise ValueError(f"after_failure = {after_failure!r}: expected one of {allowed}")


def after_failure(keep_going: bool, stop_at_once: bool) -> AfterFailure:
    """The choice of the command line's options. Raises ValueError where both are given."""
    if keep_going and stop_at_once:
        raise OptionsError(
            "--keep-going and --stop-at-once contradict each other: give one or neither"
        )
    return "keep-going" if keep_going else "stop" if stop_at_once else "diagnose"
