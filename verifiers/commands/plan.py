"""`dpassay plan`: what a run would ask, detect, leave out and cost.

What makes a plan loads once it runs, so that `--help` answers at once.
"""

from contextlib import ExitStack, closing

import click

from ..cli.exit_statuses import fail, json_option, print_found
from ..cli.opened import open_or_fail
from ..cli.options import Seconds, WholeNumber
from ..inputs.input_error import OptionsError


@click.command()
@click.argument("target", required=False)
@click.option("--claim", "claim_file", required=True, metavar="FILE", help="The claim, TOML.")
@click.option("--queries", type=WholeNumber(min=1), help="What the sharpest pass may take.")
@click.option("--seconds", type=Seconds(), help="The same in time, at the rate of TARGET.")
@json_option
def plan(
    *,
    target: str | None,
    claim_file: str,
    queries: int | None,
    seconds: float | None,
    as_json: bool,
) -> None:
    """Say what a run would ask, see and cost. TARGET is asked for some, to learn its pace."""
    from ...reference import BudgetExhausted
    from ..kinds.reading import read_claim
    from ..targets import Refused, TargetError
    from .planned_run import planned_run

    try:
        if seconds is not None and (target is None or queries is not None):
            raise OptionsError("--seconds needs a TARGET, whose rate it is, and no --queries")
        claim = read_claim(claim_file)
        with ExitStack() as stack:
            asked = (
                None
                if target is None
                else stack.enter_context(closing(open_or_fail(target, claim)))
            )
            found = planned_run(claim, queries, seconds, asked)
    except (TargetError, ValueError) as error:
        fail(error)
    except (Refused, BudgetExhausted) as error:
        code = "input-refused" if isinstance(error, Refused) else "budget-exhausted"
        fail(f"the target answers nothing: {error}", code=code)
    print_found(found, as_json)
