"""`dpassay monitor`."""

import sys
from typing import TYPE_CHECKING

import click

from ..commands.exit_statuses import fail, need
from ..commands.options import Whole, option_with_default
from ..text import printable

if TYPE_CHECKING:
    from ..kinds.labels.logs.monitor import Snapshot


@click.command()
@click.argument("log", metavar="LOG")
@click.option("--claim", "claim_file", required=True, metavar="FILE", help="The claim, TOML.")
@click.option(
    "--state", "folder", required=True, metavar="DIR", help="Where it keeps what it knows."
)
@click.option("--once", is_flag=True, help="End with the log.")
@click.option("--webhook", metavar="URL", help="Where alarms are posted, signed.")
@click.option("--metrics-port", type=Whole(1, 65535), help="For Prometheus.")
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
    from ..claims.claim import ClaimError
    from ..commands.monitor import ending_when_asked, follow
    from ..inputs.release_log import LogError
    from ..kinds.labels.logs.alarms import check_webhook
    from ..kinds.labels.logs.metrics import Metrics
    from ..kinds.labels.logs.monitor import Monitor
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
    except (ClaimError, LogError) as error:
        fail(str(error))
    sys.exit(status)


def _say(message: str) -> None:
    click.echo(f"dpassay: {printable(message)}", err=True)
