"""`dpassay plan`."""

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ..commands.exit_statuses import fail, on_stdout
from ..commands.options import Seconds, Whole
from .opened import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..targets import Target


@contextmanager
def _closing(target: "Target | None") -> "Iterator[Target | None]":
    """Closes a target, if there is one."""
    try:
        yield target
    finally:
        if target is not None:
            target.close()


@click.command()
@click.argument("target", required=False)
@click.option("--claim", "claim_file", required=True, metavar="FILE", help="The claim, TOML.")
@click.option("--queries", type=Whole(min=1), help="What the sharpest pass may take.")
@click.option("--seconds", type=Seconds(), help="The same in time, at the rate of TARGET.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def plan(
    *,
    target: str | None,
    claim_file: str,
    queries: int | None,
    seconds: float | None,
    as_json: bool,
) -> None:
    """Say what a run would ask, see and cost. TARGET is asked for 201 labels, to learn its pace."""
    from ...reference import BudgetExhausted
    from ..claims.claim import ClaimError
    from ..commands.exit_statuses import lines_of
    from ..commands.plan import planned_run
    from ..kinds.reading import read_claim
    from ..targets import Refused, TargetError

    try:
        if seconds is not None and (target is None or queries is not None):
            raise ValueError("--seconds needs a TARGET, whose rate it is, and no --queries")
        claim = read_claim(claim_file)
        with _closing(None if target is None else opened(target, claim)) as asked:
            found = planned_run(claim, queries, seconds, asked)
    except (ClaimError, TargetError, ValueError) as error:
        fail(*lines_of(error))
    except (Refused, BudgetExhausted) as error:
        fail(f"the target answers nothing: {error}")
    with on_stdout():
        print(json.dumps(found.as_json()) if as_json else found.as_text())
