"""Ctrl-C, and SIGTERM, that do not get lost, and do not lose what was found."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 3.0
"""Seconds after a Ctrl-C within which others change nothing: the report is being written."""

_ENDING = (signal.SIGINT, signal.SIGTERM)
_UNNOTICED = 1.0  # seconds after which a run that goes on must have missed the first

_SAID = b"\r\ndpassay: ending with what was found; Ctrl-C in 3 s from the first gives it up\r\n"


class Interrupts:
    """What became of Ctrl-C. The first one ends the run; those soon after it are told so."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._over = self._told = self.out = False

    @property
    def pressed(self) -> bool:
        """Whether it was pressed at all."""
        return self._first is not None

    def check(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed and nobody noticed."""
        if self.pressed:
            raise KeyboardInterrupt

    def run_is_over(self) -> None:
        """From here on the first Ctrl-C raises nothing either: what was found is written."""
        self._over = True

    def until_exit(self) -> None:
        """What was found is out: Ctrl-C must not change the status of a process that ends."""
        self.out = True

    def note(self, number: int, frame: FrameType | None) -> None:
        """The handler. Raises KeyboardInterrupt on the first, and from `PATIENCE` after it on.

        Where the run goes on a second later, it missed the first, and is interrupted again.
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
        """Tells a person at a terminal how to get out."""
        with contextlib.suppress(OSError):  # by its number: a handler may interrupt a print
            if os.isatty(2):
                os.write(2, _SAID)


@contextmanager
def remembered_interrupts() -> Iterator[Interrupts]:
    """Ctrl-C goes to the `Interrupts` that are yielded, whose `check` raises what went unnoticed.

    So does SIGTERM, by which runners of CI end a job.

    Python drops what is raised within a callback of the garbage collector, and Hypothesis installs
    one; its lines about that on stderr are kept back. For the main thread, where signals arrive.
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
            ends = interrupts.out and number == signal.SIGINT  # nobody presses SIGTERM twice
            signal.signal(number, signal.SIG_IGN if ends else handler)
