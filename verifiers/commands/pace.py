"""How long a target takes: what a call costs, and what each label of it."""

import time
from dataclasses import dataclass
from typing import Any

from ..targets import Target

_SINGLE, _LARGE = 8, 3  # calls for one label, and for many
_MANY = 64  # labels of a large call

ASKED = 1 + _SINGLE + _LARGE * _MANY
"""Labels or releases that it takes to learn a pace, the first of which is not timed."""


@dataclass(frozen=True)
class Pace:
    """Seconds of a call beyond its labels, and of each label; at_once: calls in flight."""

    call: float
    label: float
    at_once: int = 1

    def seconds(self, calls: int, labels: int) -> float:
        """Of so many labels in so many calls."""
        return calls * self.call / self.at_once + labels * self.label


def pace_of(target: Target, asked: Any, largest: int | None, at_once: int) -> Pace:
    """The pace of a target on one input, by calls for one label and for many.

    largest: labels of a call at most. Raises as the target does.
    """
    many = _MANY if largest is None else min(_MANY, largest)
    target.ask(asked, 1)  # what is loaded by the first call is no call's cost
    one = _seconds(target, asked, 1, _SINGLE)
    if many == 1:
        return Pace(one, 0.0, at_once)
    label = max(0.0, (_seconds(target, asked, many, _LARGE) - one) / (many - 1))
    return Pace(max(one - label, 1e-9), label, at_once)


def _seconds(target: Target, asked: Any, size: int, calls: int) -> float:
    """Of a call, on average over some: what a run takes is a sum."""
    started = time.perf_counter()
    for _ in range(calls):
        target.ask(asked, size)
    return (time.perf_counter() - started) / calls
