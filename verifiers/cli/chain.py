"""`dpassay chain`."""

import json
from pathlib import Path

import click

from ..commands.exit_statuses import fail, need, on_stdout
from ..commands.options import Whole
from .workers import over_workers, working


@click.command()
@click.option("--data", metavar="FILE", help="CSV of records; without it, bundled digits.")
@click.option("--label", metavar="COLUMN", help="What teachers predict.")
@click.option("--hidden", metavar="COLUMN=VALUE", help="What no teacher sees, and attackers infer.")
@click.option(
    "--asked",
    type=Whole(20, 10**6),
    default=600,
    show_default=True,
    help="People asked about; teachers train on the others.",
)
@click.option("--teachers", type=Whole(2, 10_000), default=50, show_default=True)
@click.option(
    "--learner",
    type=click.Choice(["forest", "logistic", "nearest", "tree"]),
    default="forest",
    show_default=True,
)
@click.option(
    "--sigma", type=float, help="Of the noise, in votes; without it, 16 % of the teachers."
)
@click.option("--seed", type=Whole(min=0), default=0, show_default=True)
@click.option(
    "--report",
    "folder",
    metavar="DIR",
    help="For index.html, chain.csv, chain.json and what is kept.",
)
@over_workers
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object on stdout.")
def chain(
    *,
    data: str | None,
    label: str | None,
    hidden: str | None,
    asked: int,
    teachers: int,
    learner: str,
    sigma: float | None,
    seed: int,
    folder: str | None,
    workers: int | None,
    dask: str | None,
    as_json_: bool,
) -> None:
    """From private records to what an attacker says of people, measured at every step.

    Teachers are trained on disjoint records and vote; a student learns from noisy labels within a
    budget; an attacker asks again and again, reads the votes, and infers what no teacher is told;
    and what a deployment can do about it. What is trained is kept in DIR, or in .dpassay-chain, so
    that a run that was stopped goes on where it was. It takes minutes; with more than two classes,
    several times as long.
    """
    if sigma is not None and not 0 < sigma < 1e9:
        fail(f"--sigma {sigma:g}: expected a positive number of votes")
    need("chain", "sklearn", *(["pandas"] if data is not None else []))
    from ..commands.chain import ChainRequest, as_json, run_chain
    from ..reporting.chain_files import write_chain
    from ..reporting.chain_text import print_chain
    from ..reporting.files import ReportFileError

    request = ChainRequest(data, label, hidden, asked, teachers, learner, sigma, seed)
    kept = Path(".dpassay-chain" if folder is None else folder) / "kept"
    with working(workers, dask) as executor:
        try:
            found = run_chain(request, executor, kept)
        except ValueError as error:
            fail(str(error))
    if folder is not None:
        try:
            write_chain(found, Path(folder))
        except ReportFileError as error:
            fail(str(error))
    with on_stdout(kept=folder):
        print(json.dumps(as_json(found))) if as_json_ else print_chain(found)
