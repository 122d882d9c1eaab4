"""`dpassay reconstruct`."""

import json
import sys
from typing import Literal

import click

from ..commands.exit_statuses import fail, on_stdout
from ..commands.options import Whole


@click.command()
@click.argument("labels", required=False)
@click.option(
    "--counts", metavar="N0,N1,...", help="How often each label came, in place of LABELS."
)
@click.option("--noise", required=True, metavar="SPEC", help="Of the votes, such as gaussian:40.")
@click.option("--teachers", required=True, type=Whole(1, 10**9), help="Votes in all.")
@click.option("--classes", type=Whole(2, 1000), help="More than the labels seen.")
@click.option("--threshold", type=float, help="In votes, where queries may be refused.")
@click.option("--threshold-noise", metavar="SPEC", help="Of the threshold's test.")
@click.option(
    "--method",
    type=click.Choice(["mle", "posterior", "gradient-descent"]),
    default="mle",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def reconstruct(
    *,
    labels: str | None,
    counts: str | None,
    noise: str,
    teachers: int,
    classes: int | None,
    threshold: float | None,
    threshold_noise: str | None,
    method: Literal["mle", "posterior", "gradient-descent"],
    as_json: bool,
) -> None:
    """Read the vote histogram behind the LABELS released for one query.

    LABELS is a file with one label per line, or a CSV with a column 'label'; without it, stdin.
    A refusal is -1; with --threshold, refusals are read too, and --counts has them last.
    """
    from ..commands.reconstruct import reconstruct_votes

    if counts is not None and (labels is not None or classes is not None):
        fail("--counts stands for LABELS and --classes: give one or the other")
    if counts is None and labels is None and (sys.stdin is None or sys.stdin.isatty()):
        fail("nothing to read: give LABELS, --counts, or labels on stdin")
    try:
        result = reconstruct_votes(
            labels,
            counts,
            classes=classes,
            mechanism=(noise, threshold, threshold_noise),
            teachers=teachers,
            method=method,
        )
    except ValueError as error:
        fail(str(error))
    for warning in result.warnings:
        click.echo(f"dpassay: warning: {warning}", err=True)
    if result.is_slow:
        click.echo("dpassay: drawing from the posterior of many classes takes a while", err=True)
    with on_stdout():
        print(json.dumps(result.as_json()) if as_json else result.as_text())
