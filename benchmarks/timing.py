"""Median times of functions run in turn, so that a change of the machine's pace hits both."""

import statistics
import time
from collections.abc import Callable
from typing import Any

Row = tuple[str, str, str, str]
"""What is measured, its figure, what it is compared with, and their ratio."""


def seconds(function: Callable[[], Any]) -> float:
    """One run's wall time."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def in_turn(*functions: Callable[[], Any], rounds: int = 5) -> list[float]:
    """Median seconds of each function over rounds in which all are run, after one warm-up."""
    for function in functions:
        function()
    times = [[seconds(function) for function in functions] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times, strict=True)]
