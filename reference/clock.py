"""The time that a run may take: looked at between its steps and within them.

What takes long says so by `step` before it begins; every integral and every call of a target looks
at the clock. It is known to whoever runs in the same context, so that planning, simulations and
targets need not hand it on.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

_ROUNDING = 0.02  # seconds: a call that may take what is left ends this much too soon


class OutOfTime(Exception):  # noqa: N818 - an end, not an error
    """The run's time is used up; the message names the limit."""


@dataclass(frozen=True)
class _Clock:
    """When the run ends (on the monotonic clock), what that was asked as, and who is told."""

    ends: float
    limit: str
    tell: Callable[[str], None] | None


_RUNNING: ContextVar[_Clock | None] = ContextVar("dpassay_clock", default=None)


@contextmanager
def run_clock(seconds: float | None, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Starts the time of what runs within it; inside another one, the sooner end counts.

    seconds: None for no limit; tell: called with a few words at each `step`.
    """
    started = _Clock(float("inf"), "", tell)
    if seconds is not None:
        limit = f"run_timeout = {seconds:g} s is used up"
        started = _Clock(time.monotonic() + seconds, limit, tell)
    outer = _RUNNING.get()
    if outer is not None and outer.ends < started.ends:
        started = _Clock(outer.ends, outer.limit, tell)
    token = _RUNNING.set(started)
    try:
        yield
    finally:
        _RUNNING.reset(token)


@contextmanager
def untimed() -> Iterator[None]:
    """For what is to be done whatever time is left: a report."""
    token = _RUNNING.set(None)
    try:
        yield
    finally:
        _RUNNING.reset(token)


def seconds_left() -> float:
    """What is left of the run's time, from 0; infinite where it has no limit."""
    clock = _RUNNING.get()
    return float("inf") if clock is None else max(0.0, clock.ends - time.monotonic())


def check_clock() -> None:
    """Raises OutOfTime where nothing is left."""
    clock = _RUNNING.get()
    if clock is not None and time.monotonic() >= clock.ends - _ROUNDING:
        raise OutOfTime(clock.limit)


def step(doing: str) -> None:
    """Before what may take long: tells what it is, in a few words. Raises as `check_clock`."""
    check_clock()
    clock = _RUNNING.get()
    if clock is not None and clock.tell is not None:
        clock.tell(doing)
