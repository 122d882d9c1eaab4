"""`dpassay account`."""

import json
from typing import Literal

import click

from ..commands.exit_statuses import fail, on_stdout
from ..commands.options import Whole
from .workers import over_workers, working


@click.command()
@click.argument("histograms", metavar="HISTOGRAMS.csv")
@click.option(
    "--mechanism",
    required=True,
    type=click.Choice(["gnmax", "lnmax", "confident-gnmax", "report-noisy-max"]),
)
@click.option("--noise", required=True, metavar="SPEC", help="Of the votes, such as gaussian:40.")
@click.option("--threshold", type=float, help="Of confident-gnmax, in votes.")
@click.option("--threshold-noise", metavar="SPEC", help="Of the threshold's test.")
@click.option("--delta", required=True, type=click.FloatRange(0, 1, min_open=True, max_open=True))
@click.option("--repeat", type=Whole(1), default=1, help="How often each row is asked.")
@click.option(
    "--epsilon", type=click.FloatRange(0, min_open=True), help="Budget: print what fits it."
)
@click.option(
    "--analysis",
    type=click.Choice(["data-independent", "data-dependent", "exact", "worst-pair"]),
    default="data-dependent",
    show_default=True,
)
@click.option(
    "--charging",
    type=click.Choice(["expected", "realised", "all"]),
    default="expected",
    show_default=True,
    help="Of refused queries.",
)
@over_workers
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def account(
    *,
    histograms: str,
    mechanism: str,
    noise: str,
    threshold: float | None,
    threshold_noise: str | None,
    delta: float,
    repeat: int,
    epsilon: float | None,
    analysis: Literal["data-independent", "data-dependent", "exact", "worst-pair"],
    charging: Literal["expected", "realised", "all"],
    workers: int | None,
    dask: str | None,
    as_json: bool,
) -> None:
    """Print the privacy cost of asking each row of HISTOGRAMS.csv, one histogram per row.

    Columns are classes; a header is optional, and may name a column 'label' of what was released.
    HISTOGRAMS.csv may be -, for standard input.
    """
    from ..commands.account import account as charge
    from ..commands.mechanism_options import mechanism_of_options
    from ..inputs.histogram_file import read_histograms

    if epsilon is not None and not epsilon < float("inf"):
        fail(f"--epsilon {epsilon}: expected a finite budget")
    if epsilon is not None and repeat != 1:
        fail("--epsilon finds the repeats that --repeat gives: give one or the other")
    try:
        asked = read_histograms(histograms)
        spoken = mechanism_of_options(noise, threshold, threshold_noise, mechanism)
        with working(workers, dask) as executor:
            charged = charge(
                asked,
                spoken,
                delta,
                repeat=repeat,
                budget=epsilon,
                analysis=analysis,
                charging=charging,
                executor=executor,
            )
    except ValueError as error:
        fail(str(error))
    with on_stdout():
        print(json.dumps(charged.as_json()) if as_json else charged.as_text())
