"""Several calls on one histogram: concurrent where a target takes them so, else in sequence."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from ...reference import Histogram
from .replies import Target

_ROUNDS_AT_ONCE = 2  # opening calls for each that may be in flight


@runtime_checkable
class SideBySide(Protocol):
    """A target that takes up to `at_once` concurrent calls, which may be only one."""

    @property
    def at_once(self) -> int:
        """How many calls may be in flight."""

    def ask_each(self, histogram: Histogram, sizes: Sequence[int]) -> Sequence[Any]:
        """The raw replies to calls of these sizes, in order; raises as `Target.ask`."""


def at_once(target: Target) -> int:
    """How many concurrent calls the target takes."""
    return target.at_once if isinstance(target, SideBySide) else 1


def calls_at_once(at_once: int) -> int:
    """Calls like the first that a run makes side by side, where so many may be in flight."""
    return _ROUNDS_AT_ONCE * at_once if at_once > 1 else 0


def ask_each(
    target: Target, histogram: Histogram, sizes: Sequence[int]
) -> tuple[list[Any], tuple[int, ...]]:
    """The raw replies to calls of these sizes, in order, and the sizes of the calls made.

    A paced target may split one call into several. Raises as `Target.ask`.
    """
    if isinstance(target, SideBySide) and target.at_once > 1:
        found = list(target.ask_each(histogram, sizes))
        return found, getattr(target, "parts", tuple(sizes))
    replies: list[Any] = []
    calls: list[int] = []
    for size in sizes:
        replies.append(target.ask(histogram, size))
        calls += getattr(target, "parts", (size,))
    return replies, tuple(calls)


def parts(size: int, most: int) -> list[int]:
    """Sizes of at most `most` that add up to `size`."""
    return [min(most, size - start) for start in range(0, size, most)]
