"""`dpassay monitor`: the loop that follows a log, and how it ends."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ..kinds.labels.logs.alarms import Telling
from ..kinds.labels.logs.monitor import Monitor, Snapshot
from .exit_statuses import forget_stdout

_PAUSE = 1.0  # seconds until a log that has not grown is read again
_REDRAW = 5.0  # seconds between updates of the screen


class Ended:
    """Whether Ctrl-C or SIGTERM asked the monitor to end, which it does after its current step."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        """The signal handler; a second signal ends the process at once, which loses nothing."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def ending_when_asked() -> Iterator[Ended]:
    """A block in which Ctrl-C and SIGTERM set the yielded `Ended`."""
    ended = Ended()
    before: dict[int, Any] = {
        number: signal.signal(number, ended) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def follow(
    monitor: Monitor,
    ended: Ended,
    show: Callable[[Snapshot], None],
    webhook: str | None,
    say: Callable[[str], None],
) -> int:
    """Follows the log until it ends or `ended` is set; returns 1 if there were alarms, else 0.

    show: called with a snapshot of the monitor now and then; webhook: URL to which alarms are sent
    too; say: called with a line on an alarm that did not arrive, a log that cannot be read for now,
    or rows left unread. Raises LogError.
    """
    telling, shown, last_trouble = Telling(monitor.store, webhook), 0.0, None
    while not ended.asked:
        number = monitor.step()
        wrong = _tell(telling, monitor, ended, say) or monitor.source.trouble
        if wrong is not None and wrong != last_trouble:
            say(wrong)
        last_trouble = wrong
        if time.monotonic() - shown >= _REDRAW:
            show(monitor.snapshot())
            shown = time.monotonic()
        if number == 0:
            if monitor.source.ended:
                break
            _wait(ended)
    _tell(telling, monitor, ended, say)
    show(monitor.snapshot())
    if monitor.source.unread is not None:
        say(monitor.source.unread)
    return 1 if monitor.alarms else 0


def _tell(
    telling: Telling, monitor: Monitor, ended: Ended, say: Callable[[str], None]
) -> str | None:
    """Reports alarms; a full stdout leaves them in the state, a closed one ends the monitor."""
    try:
        return telling.tell(monitor.alarms)
    except BrokenPipeError:
        ended.asked = True
    except OSError as error:
        say(
            f"stdout cannot be written: {error.strerror or error}; alarms are kept in "
            f"{monitor.folder}, and the next run prints them"
        )
    forget_stdout()
    telling.prints = False
    return telling.tell(monitor.alarms)


def _wait(ended: Ended) -> None:
    until = time.monotonic() + _PAUSE
    while not ended.asked and time.monotonic() < until:
        time.sleep(0.05)
