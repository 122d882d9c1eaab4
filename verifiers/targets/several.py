"""Several calls on one histogram: side by side where a target takes them so, else in turn."""

from collections.abc import Sequence
from typing import Any

from ...reference import Histogram
from .replies import Target


def at_once(target: Target) -> int:
    """How many calls the target takes side by side."""
    return int(getattr(target, "at_once", 1))


def ask_each(
    target: Target, histogram: Histogram, sizes: Sequence[int]
) -> tuple[list[Any], tuple[int, ...]]:
    """The raw replies to calls of these sizes, in this order, and the sizes of the calls made.

    A paced target may make several calls of one. Raises as `Target.ask`.
    """
    if at_once(target) > 1:
        several: Any = target
        found = list(several.ask_each(histogram, sizes))
        return found, getattr(target, "parts", tuple(sizes))
    replies: list[Any] = []
    calls: list[int] = []
    for size in sizes:
        replies.append(target.ask(histogram, size))
        calls += getattr(target, "parts", (size,))
    return replies, tuple(calls)
