"""Where a monitor stands, for people: a page that redraws at a terminal, elsewhere lines."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..checks.noise_scale import interval_text
from ..claim import Claim
from ..logs.monitor import Standing
from ..targets import shown_spec
from ..text import printable

_LINE_SECONDS = 60.0
_READ = 0.1  # share of the votes misplaced up to which they count as read
_SHOWN = 8  # inputs


@contextmanager
def monitor_screen(log: str, claim: Claim) -> Iterator[Callable[[Standing], None]]:
    """Shows where a monitor stands on stderr; stdout is for alarms."""
    console = Console(stderr=True)
    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            yield lambda standing: live.update(page(log, claim, standing), refresh=True)
        return
    told, latest = time.monotonic(), None

    def tell(standing: Standing) -> None:
        nonlocal told, latest
        latest = standing
        if time.monotonic() - told >= _LINE_SECONDS:
            told = time.monotonic()
            click.echo(f"dpassay: {printable(line(standing))}", err=True)

    yield tell
    if latest is not None:
        Console(stderr=True, highlight=False, soft_wrap=True).print(page(log, claim, latest))


def line(standing: Standing) -> str:
    """Where a monitor stands, on one line."""
    alarms = ", ".join(f"{alarm.check} by row {alarm.row:,}" for alarm in standing.alarms)
    read = sum(reading.misplaced <= _READ for reading in standing.readings)
    inputs = f"the votes on {read} inputs can be read" if read != 1 else "one input can be read"
    spent = standing.spent["data-independent"]
    return (
        f"{standing.rows:,} rows; {f'refuted: {alarms}' if alarms else 'no alarm'}; epsilon "
        f"{spent:.4g} spent at delta {standing.delta:g} (data-independent); {inputs}"
    )


def page(log: str, claim: Claim, standing: Standing) -> Group:
    """Everything that a monitor knows, as a page."""
    noise = claim.mechanism.noise
    evidence = Table("check", "evidence", "refutes", "", box=None, pad_edge=False)
    told = {alarm.check: alarm for alarm in standing.alarms}
    for check, value in standing.log_e_values.items():
        alarm = told.get(check)
        said = "no alarm" if alarm is None else f"ALARM by row {alarm.row:,}: {alarm.message}"
        threshold = standing.log_thresholds[check]
        evidence.add_row(check, f"10^{_tens(value):.1f}", f"10^{_tens(threshold):.1f}", said)
    threshold = standing.log_thresholds["noise-scale"]
    spent = Table("analysis", "epsilon", box=None, pad_edge=False)
    for analysis, epsilon in standing.spent.items():
        spent.add_row(analysis, "not followed" if epsilon is None else f"{epsilon:.4g}")
    inputs = Table(
        "input", "answers", "votes misplaced by who reads them", box=None, pad_edge=False
    )
    for reading in standing.readings[:_SHOWN]:
        name = printable(reading.name)[:48]
        inputs.add_row(Text(name), f"{reading.times:,}", f"{reading.misplaced:.1%}")
    return Group(
        Text(f"{printable(shown_spec(log))}: {standing.rows:,} rows"),
        evidence,
        Text(f"noise, all rows: {interval_text(noise, standing.scale, threshold)}"),
        Text(f"noise of late: {interval_text(noise, standing.lately, threshold)}"),
        Text(f"spent at delta {standing.delta:g}, replace-one neighbours"),
        spent,
        inputs,
    )


def _tens(nats: float) -> float:
    return nats / math.log(10.0)
