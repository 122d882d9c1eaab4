"""`dpassay plan`: what a run would ask, detect, leave out and cost.

What makes a plan loads once it runs, so that `--help` answers at once.
"""

from contextlib import ExitStack, chdir, closing
from typing import TYPE_CHECKING, Any

import click

from ..cli.exit_statuses import fail, json_option, print_found
from ..cli.opened import open_or_fail
from ..cli.options import Seconds, WholeNumber, profile_option
from ..inputs.input_error import OptionsError

if TYPE_CHECKING:
    from .planned_run import PlannedRun


@click.command()
@click.argument("target", required=False)
@click.option("--claim", "claim_file", metavar="FILE", help="The claim, TOML.")
@click.option("--queries", type=WholeNumber(min=1), help="What the sharpest pass may take.")
@click.option("--seconds", type=Seconds(), help="The same in time, at the rate of TARGET.")
@profile_option
@json_option
@click.pass_context
def plan(context: click.Context, /, *, claim_file: str | None, as_json: bool, **_of: Any) -> None:
    """Say what a run would ask, see and cost. TARGET is asked for some, to learn its pace.

    Without TARGET and --claim, all targets named in dpassay.toml or pyproject.toml are planned for,
    with their options there; a target by its name, or all, are asked nothing.
    """
    from ..cli.configuration import Chosen

    try:
        chosen = Chosen(context, alone=claim_file is not None)
    except ValueError as error:
        fail(error)
    if chosen.names and context.params["target"] is None:
        from .plan_each import plan_each

        plan_each(chosen, as_json)
    name = next(iter(chosen.names), None)
    given = chosen.given(name)
    if given["claim_file"] is None:
        claim_option = next(one for one in plan.params if one.name == "claim_file")
        raise click.MissingParameter(ctx=context, param=claim_option)
    with chdir(chosen.folder):
        print_found(plan_target(given, named=name is not None), as_json)


def plan_target(given: dict[str, Any], *, named: bool) -> "PlannedRun":
    """A plan, by the parameters of the command; named: whether the configuration has the target."""
    from ...reference import BudgetExhausted
    from ..kinds.reading import read_claim
    from ..run.selection import select
    from ..targets import Refused, TargetError
    from .planned_run import planned_run

    queries, seconds = given["queries"], given["seconds"]
    target = None if named and seconds is None else given["target"]
    try:
        if seconds is not None and (target is None or queries is not None):
            raise OptionsError("--seconds needs a TARGET, whose rate it is, and no --queries")
        claim = read_claim(given["claim_file"]).with_limits(given.get("max_queries"), None)
        checks, skipped = given.get("checks", ()), given.get("skipped", ())
        selection = select(checks, skipped, of=claim.kind.checks.ids)
        with ExitStack() as stack:
            asked = (
                None
                if target is None
                else stack.enter_context(closing(open_or_fail(target, claim)))
            )
            return planned_run(claim, queries, seconds, asked, selection)
    except (TargetError, ValueError) as error:
        fail(error)
    except (Refused, BudgetExhausted) as error:
        code = "input-refused" if isinstance(error, Refused) else "budget-exhausted"
        fail(f"the target answers nothing: {error}", code=code)
