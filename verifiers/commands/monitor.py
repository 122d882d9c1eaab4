"""`dpassay monitor`: the loop that follows a log, and how it ends."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from ..cli.exit_statuses import fail, forget_stdout, need
from ..cli.options import WholeNumber, option_with_default
from ..text import printable

if TYPE_CHECKING:  # a missing package is said before anything heavy loads
    from ..kinds.labels.logs.alarms import Telling
    from ..kinds.labels.logs.monitor import Monitor
    from ..kinds.labels.logs.snapshot import Snapshot

_PAUSE = 1.0  # seconds until a log that has not grown is read again
_REDRAW = 5.0  # seconds between updates of the screen


@click.command()
@click.argument("log", metavar="LOG")
@click.option("--claim", "claim_file", required=True, metavar="FILE", help="The claim, TOML.")
@click.option(
    "--state", "folder", required=True, metavar="DIR", help="Where it keeps what it knows."
)
@click.option("--once", is_flag=True, help="End with the log.")
@click.option("--webhook", metavar="URL", help="Where alarms are posted, signed.")
@click.option("--metrics-port", type=WholeNumber(1, 65535), help="For Prometheus.")
@option_with_default("--metrics-address", default="127.0.0.1", metavar="ADDRESS")
def monitor(
    *,
    log: str,
    claim_file: str,
    folder: str,
    once: bool,
    webhook: str | None,
    metrics_port: int | None,
    metrics_address: str,
) -> None:
    """Follow a LOG of releases for as long as it grows; exit 0 no alarm, 1 an alarm, 2 misuse.

    LOG is a file, CSV or JSON Lines, - for standard input, or the address of a server that hands
    out rows. Alarms are lines of JSON on stdout. Killed at any moment, it goes on where it was.
    """
    if metrics_port is not None:
        need("--metrics-port", "prometheus_client")
    from ..inputs.input_error import InputError
    from ..kinds.labels.logs.alarms import check_webhook
    from ..kinds.labels.logs.monitor import Monitor
    from ..kinds.labels.logs.snapshot import Metrics
    from ..kinds.labels.reading import read_labels_claim
    from ..reporting.monitor_screen import monitor_screen

    try:
        claim = read_labels_claim(claim_file)
        if webhook is not None:
            check_webhook(webhook)
        metrics = None if metrics_port is None else Metrics(metrics_port, metrics_address)
        following = Monitor(log, claim, folder, once)
        try:
            with ending_when_asked() as ended, monitor_screen(log, claim) as screen:

                def show(snapshot: "Snapshot") -> None:
                    screen(snapshot)
                    if metrics is not None:
                        metrics.show(snapshot)

                if following.anew:
                    _say(f"{folder} holds no state yet: starting at row 1")
                status = follow(following, ended, show, webhook, _say)
        finally:
            following.close()
            if metrics is not None:
                metrics.close()
    except InputError as error:
        fail(error)
    sys.exit(status)


def _say(message: str) -> None:
    click.echo(f"dpassay: {printable(message)}", err=True)


class EndSignal:
    """Whether Ctrl-C or SIGTERM asked the monitor to end, which it does after its current step."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        """The signal handler; a second signal ends the process at once, which loses nothing."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def ending_when_asked() -> Iterator[EndSignal]:
    """A block in which Ctrl-C and SIGTERM set the yielded `EndSignal`."""
    ended = EndSignal()
    before: dict[int, Any] = {
        number: signal.signal(number, ended) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def follow(
    monitor: "Monitor",
    ended: EndSignal,
    show: "Callable[[Snapshot], None]",
    webhook: str | None,
    say: Callable[[str], None],
) -> int:
    """Follows the log until it ends or `ended` is set; returns 1 if there were alarms, else 0.

    show: called with a snapshot of the monitor now and then; webhook: URL to which alarms are sent
    too; say: called with a line on an alarm that did not arrive, a log that cannot be read for now,
    or rows left unread. Raises LogError.
    """
    from ..kinds.labels.logs.alarms import Telling

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
    show(monitor.snapshot(last=True))
    if monitor.source.unread is not None:
        say(monitor.source.unread)
    return 1 if monitor.alarms else 0


def _tell(
    telling: "Telling", monitor: "Monitor", ended: EndSignal, say: Callable[[str], None]
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


def _wait(ended: EndSignal) -> None:
    until = time.monotonic() + _PAUSE
    while not ended.asked and time.monotonic() < until:
        time.sleep(0.05)
