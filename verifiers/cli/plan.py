"""`dpassay plan`."""

import json

import click

from ..commands.exit_statuses import fail, on_stdout
from ..commands.options import Seconds, Whole
from .opened import opened


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
    """Say what a run would ask, see and cost. TARGET is asked 24 labels, to learn its rate."""
    from ...reference import BudgetExhausted
    from ..claim import ClaimError, read_claim
    from ..commands.plan import planned_run
    from ..targets import Refused, TargetError

    try:
        if seconds is not None and (target is None or queries is not None):
            raise ValueError("--seconds needs a TARGET, whose rate it is, and no --queries")
        claim = read_claim(claim_file)
        deployment = None if target is None else opened(target, claim)
        try:
            found = planned_run(claim, queries, seconds, deployment)
        finally:
            if deployment is not None:
                deployment.close()
    except (ClaimError, TargetError, ValueError) as error:
        fail(str(error))
    except (Refused, BudgetExhausted) as error:
        fail(f"the target answers no label: {error}")
    with on_stdout():
        print(json.dumps(found.as_json()) if as_json else found.as_text())
