"""`dpassay reconstruct`: the votes behind labels of a query, their counts, or logs.

What reads them loads late: `--method gradient-descent` needs a package that may be absent.
"""

import sys
from typing import Any, Literal

import click

from ..cli.exit_statuses import fail, json_option, need, print_found
from ..cli.options import WholeNumber, option_with_default, over_workers, working
from ..text import printable


@click.command()
@click.argument("labels", nargs=-1)
@click.option(
    "--counts", metavar="N0,N1,...", help="How often each label came, in place of LABELS."
)
@click.option("--id", "keys", metavar="ID", multiple=True, help="The input of LABELS that is read.")
@click.option("--noise", required=True, metavar="SPEC", help="Of the votes, such as gaussian:40.")
@click.option("--teachers", required=True, type=WholeNumber(1, 10**9), help="Votes in all.")
@click.option("--classes", type=WholeNumber(2, 1000), help="More than the labels seen.")
@click.option("--threshold", type=float, help="In votes, where queries may be refused.")
@click.option("--threshold-noise", metavar="SPEC", help="Of the threshold's test.")
@option_with_default(
    "--method", type=click.Choice(["mle", "posterior", "gradient-descent"]), default="mle"
)
@over_workers
@json_option
def reconstruct(
    *,
    labels: tuple[str, ...],
    counts: str | None,
    keys: tuple[str, ...],
    noise: str,
    teachers: int,
    classes: int | None,
    threshold: float | None,
    threshold_noise: str | None,
    method: Literal["mle", "posterior", "gradient-descent"],
    workers: int | None,
    dask: str | None,
    as_json: bool,
) -> None:
    """Read the vote histogram behind the LABELS released for one query.

    LABELS is a file with one label per line, a CSV with a column 'label', or a recorded log in JSON
    Lines; without it, stdin. Of a log that names inputs, --id chooses one.
    Several are of a query each, and are shared by --workers. A refusal is -1; with --threshold,
    refusals are read too, and --counts has them last.
    """
    if counts is not None and (labels or classes is not None):
        fail("--counts stands for LABELS and --classes: give one or the other")
    if len(keys) > 1:
        fail(f"--id: one input is read at a time, and {len(keys)} are named")
    key = keys[0] if keys else None
    if counts is not None and key is not None:
        fail("--id chooses rows of LABELS: --counts has none")
    if counts is None and not labels and (sys.stdin is None or sys.stdin.isatty()):
        fail("nothing to read: give LABELS, --counts, or labels on stdin")
    if labels.count("-") > 1:
        fail("LABELS -, standard input, can be read once")
    how: dict[str, Any] = {
        "classes": classes,
        "mechanism": (noise, threshold, threshold_noise),
        "teachers": teachers,
        "method": method,
        "key": key,
    }
    if method == "gradient-descent":
        need("--method gradient-descent", "jax")
    if len(labels) > 1:
        _many(labels, workers, dask, as_json, how)
    elif workers is None and dask is None:
        _one(labels[0] if labels else None, counts, as_json, how)
    else:
        fail("--workers and --dask share out logs: give several LABELS")


def _one(labels: str | None, counts: str | None, as_json: bool, how: dict[str, Any]) -> None:
    from .reading_votes import ReadVotes, reconstruct_votes

    try:
        reading = reconstruct_votes(labels, counts, **how)
    except ValueError as error:
        fail(error)
    for warning in reading.warnings:
        click.echo(f"dpassay: warning: {warning}", err=True)
    if reading.is_slow:
        click.echo("dpassay: drawing from the posterior of many classes takes a while", err=True)
    print_found(ReadVotes.of(reading.reconstruction, how["teachers"]), as_json)


def _many(
    labels: tuple[str, ...],
    workers: int | None,
    dask: str | None,
    as_json: bool,
    how: dict[str, Any],
) -> None:
    from .reading_votes import reconstruct_logs

    try:
        with working(workers, dask) as executor:
            found, warnings = reconstruct_logs(labels, executor, **how)
    except ValueError as error:
        fail(error)
    for log, warning in warnings:
        click.echo(f"dpassay: warning: {printable(log)}: {warning}", err=True)
    print_found(found, as_json)
