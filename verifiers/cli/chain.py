"""`dpassay chain`."""

import json
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ..commands.exit_statuses import fail, lines_of, need, on_stdout
from ..commands.options import Whole, option_with_default
from .ending import json_option
from .workers import over_workers, working


@click.command()
@click.option("--data", metavar="FILE", help="CSV of records; without it, bundled digits.")
@click.option("--label", metavar="COLUMN", help="What teachers predict.")
@click.option("--hidden", metavar="COLUMN=VALUE", help="What no teacher sees, and attackers infer.")
@option_with_default(
    "--asked",
    type=Whole(20, 10**6),
    default=600,
    help="People asked about; teachers train on the others.",
)
@option_with_default("--teachers", type=Whole(2, 10_000), default=50)
@option_with_default(
    "--learner", type=click.Choice(["forest", "logistic", "nearest", "tree"]), default="forest"
)
@click.option(
    "--sigma", type=float, help="Of the noise, in votes; without it, 16 % of the teachers."
)
@option_with_default("--seed", type=Whole(min=0), default=0)
@click.option(
    "--votes",
    metavar="FILE",
    help="Your own votes in place of trained teachers: a histogram for each row of --data.",
)
@click.option(
    "--log", metavar="FILE", help="Your own log of answers, whose ids are the column id of --data."
)
@click.option("--claim", "claim_file", metavar="FILE", help="Of --votes and --log: TOML.")
@click.option(
    "--report",
    "folder",
    metavar="DIR",
    help="For index.html, chain.csv, chain.json and what is kept.",
)
@over_workers
@json_option
@click.pass_context
def chain(
    context: click.Context,
    /,
    *,
    data: str | None,
    votes: str | None,
    log: str | None,
    claim_file: str | None,
    sigma: float | None,
    folder: str | None,
    workers: int | None,
    dask: str | None,
    as_json: bool,
    **others: Any,
) -> None:
    """From private records to what an attacker says of people, measured at every step.

    Teachers are trained on disjoint records and vote; a student learns from noisy labels within a
    budget; an attacker asks again and again, reads the votes, and infers what no teacher is told;
    and what a deployment can do about it. What is trained is kept in DIR, or in .dpassay-chain, so
    that a run that was stopped goes on where it was. It takes minutes; with more than two classes,
    several times as long.

    With --votes or --log nothing is trained: they say what your own votes, or the answers that you
    gave, tell of the people in --data, by the claim's noise.
    """
    if votes is not None or log is not None:
        stray = [name for name in _TRAINING if context.get_parameter_source(name) is _TYPED]
        if stray:
            name = "report" if stray[0] == "folder" else stray[0]
            fail(f"--{name}: nothing is trained with --votes or --log, so that it says nothing")
        needed = {"--data": data, "--hidden": others["hidden"], "--claim": claim_file}
        absent = [name for name, value in needed.items() if value is None]
        if absent:
            fail(f"{absent[0]} is missing: --votes and --log need {', '.join(needed)}")
        _of_own(
            {
                "people_file": data,
                "hidden": others["hidden"],
                "claim_file": claim_file,
                "votes_file": votes,
                "log_file": log,
            },
            workers,
            dask,
            as_json=as_json,
        )
        return
    if claim_file is not None:
        fail("--claim belongs to --votes and --log")
    if sigma is not None and not 0 < sigma < 1e9:
        fail(f"--sigma {sigma:g}: expected a positive number of votes")
    need("chain", "sklearn", *(["pandas"] if data is not None else []))
    from ..commands.chain import ChainRequest, run_chain
    from ..commands.chain import as_json as public_form
    from ..reporting.chain import print_chain, write_chain
    from ..reporting.files import ReportFileError

    request = ChainRequest(data=data, sigma=sigma, **others)
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
        print(json.dumps(public_form(found))) if as_json else print_chain(found)


_TYPED = ParameterSource.COMMANDLINE
_TRAINING = ("label", "asked", "teachers", "learner", "sigma", "seed", "folder")
"""Options of what is trained."""


def _of_own(files: dict[str, Any], workers: int | None, dask: str | None, *, as_json: bool) -> None:
    """Tells what a deployment's own votes or log say of people."""
    need("chain", "sklearn")
    from ..claims.claim import ClaimError
    from ..commands.own_people import as_json as public_form
    from ..commands.own_people import own_people
    from ..reporting.own_people import print_own_people

    with working(workers, dask) as executor:
        try:
            found = own_people(**files, executor=executor)
        except ClaimError as error:
            fail(*lines_of(error))
        except ValueError as error:
            fail(str(error))
    with on_stdout():
        print(json.dumps(public_form(found))) if as_json else print_own_people(found)
