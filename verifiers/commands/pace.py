"""The time that a target takes, per call and per label."""

import time
from dataclasses import dataclass
from typing import Any

from ..targets import Target

_SINGLE, _LARGE = 8, 3  # calls for one label, and for many
_MANY = 64  # labels of a large call

ASKED = 1 + _SINGLE + _LARGE * _MANY
"""Labels or releases that are asked to measure a pace; the first is not timed."""


@dataclass(frozen=True)
class Pace:
    """Seconds per call, beside its labels, and per label; at_once: calls in flight."""

    call: float
    label: float
    at_once: int = 1

    def seconds(self, calls: int, labels: int) -> float:
        """Seconds that `labels` labels in `calls` calls take."""
        return calls * self.call / self.at_once + labels * self.label


def pace_of(target: Target, asked: Any, largest: int | None, at_once: int) -> Pace:
    """Measures the pace of a target on input `asked`, by calls for one label and for many.

    largest: most labels per call, None for no limit. Raises as the target does.
    """
    many = _MANY if largest is None else min(_MANY, largest)
    target.ask(asked, 1)  # a first call may load models
    one = _seconds(target, asked, 1, _SINGLE)
    if many == 1:
        return Pace(one, 0.0, at_once)
    label = max(0.0, (_seconds(target, asked, many, _LARGE) - one) / (many - 1))
    return Pace(max(one - label, 1e-9), label, at_once)


def _seconds(target: Target, asked: Any, size: int, calls: int) -> float:
    """Mean seconds of a call for `size` labels."""
    started = time.perf_counter()
    for _ in range(calls):
        target.ask(asked, size)
    return (time.perf_counter() - started) / calls
