"""What a run does once a check has failed."""

from typing import Literal, get_args

from ..inputs.input_error import OptionsError

AfterFailure = Literal["diagnose", "keep-going", "stop"]
"""What a run does once it is refuted: asks on for a diagnosis, finishes all checks too, or ends."""


def known(after_failure: str) -> AfterFailure:
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
