"""Ctrl-C and SIGTERM end a run, which then still writes what it found."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 3.0
"""Seconds after a Ctrl-C within which another is ignored: the report is being written."""

_ENDING = (signal.SIGINT, signal.SIGTERM)
_UNNOTICED = 1.0  # seconds after which a run that continues has missed the first

_SAID = b"\r\ndpassay: writing what was found; Ctrl-C 3 s after the first one abandons it\r\n"


class Interrupts:
    """The state of Ctrl-C: the first one ends the run, and those soon after only get a notice."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._over = self._told = self.out = False

    @property
    def pressed(self) -> bool:
        """Whether Ctrl-C was pressed at all."""
        return self._first is not None

    def check(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed and nobody noticed."""
        if self.pressed:
            raise KeyboardInterrupt

    def run_is_over(self) -> None:
        """From now on a first Ctrl-C raises nothing either, as the report is being written."""
        self._over = True

    def until_exit(self) -> None:
        """The report is written: from now on Ctrl-C cannot change the exit status."""
        self.out = True

    def note(self, number: int, frame: FrameType | None) -> None:
        """The signal handler. Raises KeyboardInterrupt at first, and again after `PATIENCE`.

        A run that still continues a second later has missed the first, and is interrupted again.
        """
        now = time.monotonic()
        first = self._first is None
        if self._first is None:
            self._first = now
        patience = PATIENCE if self._over else _UNNOTICED
        if (first and not self._over) or now - self._first >= patience:
            raise KeyboardInterrupt
        if not self._told:
            self._told = True
            self.say()

    @staticmethod
    def say() -> None:
        """Prints, at a terminal, how to abandon the report."""
        with contextlib.suppress(OSError):  # written directly: a handler may interrupt a print
            if os.isatty(2):
                os.write(2, _SAID)


@contextmanager
def remembered_interrupts() -> Iterator[Interrupts]:
    """A block in which Ctrl-C and SIGTERM, by which CI ends jobs, go to the yielded `Interrupts`.

    Its `check` raises an interrupt that was lost: Python drops exceptions raised within a callback
    of the garbage collector, such as Hypothesis installs. Python's message about that is hidden.
    For the main thread only, where signals arrive.
    """
    interrupts = Interrupts()

    def hide(dropped: "sys.UnraisableHookArgs") -> None:
        if dropped.exc_type is not KeyboardInterrupt:
            hook(dropped)

    before = {number: signal.signal(number, interrupts.note) for number in _ENDING}
    hook = sys.unraisablehook
    sys.unraisablehook = hide
    try:
        yield interrupts
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            ends = interrupts.out and number == signal.SIGINT  # SIGTERM is not repeated
            signal.signal(number, signal.SIG_IGN if ends else handler)
