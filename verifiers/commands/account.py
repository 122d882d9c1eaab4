"""`dpassay account`: the privacy cost of the queries in a file of histograms."""

from typing import TYPE_CHECKING, Literal, get_args

import click

from ..cli.exit_statuses import fail, json_option, print_found
from ..cli.options import WholeNumber, option_with_default, over_workers, working

if TYPE_CHECKING:  # what charges rows loads numpy and scipy, without which --help answers at once
    from ...reference.accounting.neighbourhood import Neighbourhood
    from ...reference.mechanisms import ClaimedMechanism
    from ..inputs.release_log import RowReader

Analysis = Literal["data-independent", "data-dependent", "exact", "worst-pair"]
Charging = Literal["expected", "realised", "all"]


@click.command()
@click.argument("histograms", metavar="HISTOGRAMS")
@click.option(
    "--mechanism", type=click.Choice(["gnmax", "lnmax", "confident-gnmax", "report-noisy-max"])
)
@click.option("--noise", metavar="SPEC", help="Of the votes, such as gaussian:40.")
@click.option("--threshold", type=float, help="Of confident-gnmax, in votes.")
@click.option("--threshold-noise", metavar="SPEC", help="Of the threshold's test.")
@click.option(
    "--claim",
    "claim_file",
    metavar="FILE",
    help="The mechanism in place of --mechanism and --noise, and the ids of its logs.",
)
@click.option(
    "--delta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="That of the claim's [privacy], unless given.",
)
@click.option("--repeat", type=WholeNumber(1), default=1, help="How often each row is asked.")
@click.option(
    "--epsilon", type=click.FloatRange(0, min_open=True), help="Budget: print what fits it."
)
@click.option(
    "--adjacency",
    type=click.Choice(["replace-one", "add-remove"]),
    help="A teacher votes otherwise (the default), or there is one more or less.",
)
@option_with_default("--analysis", type=click.Choice(get_args(Analysis)), default="data-dependent")
@option_with_default(
    "--charging",
    type=click.Choice(get_args(Charging)),
    default="expected",
    help="Of refused queries.",
)
@over_workers
@json_option
def account(
    *,
    histograms: str,
    mechanism: str | None,
    noise: str | None,
    threshold: float | None,
    threshold_noise: str | None,
    claim_file: str | None,
    delta: float | None,
    repeat: int,
    epsilon: float | None,
    adjacency: str | None,
    analysis: Analysis,
    charging: Charging,
    workers: int | None,
    dask: str | None,
    as_json: bool,
) -> None:
    """Print the privacy cost of asking each row of HISTOGRAMS, one histogram per row.

    HISTOGRAMS is CSV, whose columns are classes; a header is optional, and may name a column
    'label' of what was released. Or it is a log, as `verify --log` reads it: JSON Lines, Parquet,
    or CSV that also says the time, say. It may be -, for standard input.
    """
    from ...reference.accounting.adjacency import Adjacency
    from ...reference.accounting.neighbourhood import Neighbourhood
    from ..cli.mechanism_options import mechanism_of_options
    from ..inputs.log_file import read_asked
    from .charged_rows import account_of

    if epsilon is not None and not epsilon < float("inf"):
        fail(f"--epsilon {epsilon}: expected a finite budget", code="value-not-allowed")
    if epsilon is not None and repeat != 1:
        fail("--epsilon finds the repeats that --repeat gives: give one or the other")
    described = (mechanism, noise, threshold, threshold_noise, adjacency)
    if claim_file is not None and described != (None,) * 5:
        fail(
            "--claim says what --mechanism, --noise, --threshold and --adjacency say: "
            "give one or the other"
        )
    try:
        if claim_file is not None:
            spoken, neighbourhood, reader, claimed_delta = _read_claim(claim_file)
            delta = claimed_delta if delta is None else delta
        elif mechanism is None or noise is None:
            fail("expected --mechanism and --noise, or --claim FILE (see dpassay account --help)")
        else:
            reader, neighbourhood = None, Neighbourhood(Adjacency(adjacency or "replace-one"))
            spoken = mechanism_of_options(noise, threshold, threshold_noise, mechanism)
        if delta is None:
            fail("expected --delta, such as 1e-5, or --claim FILE with [privacy]")
        asked = read_asked(histograms, reader)
        with working(workers, dask) as executor:
            charged = account_of(
                asked,
                spoken,
                delta,
                repeat=repeat,
                budget=epsilon,
                analysis=analysis,
                charging=charging,
                neighbourhood=neighbourhood,
                executor=executor,
            )
    except ValueError as error:
        fail(error)
    print_found(charged, as_json)


def _read_claim(path: str) -> "tuple[ClaimedMechanism, Neighbourhood, RowReader, float | None]":
    """A claim's mechanism, neighbours, reader of logs, and delta if any. Raises ClaimError."""
    from ..kinds.labels.reading import read_labels_claim

    claim = read_labels_claim(path)
    delta = None if claim.privacy is None else claim.privacy.delta
    return claim.mechanism.mechanism(), claim.mechanism.neighbourhood, claim.log_reader(), delta
