"""`dpassay plan`: what a run would ask, detect, leave out and cost.

What makes a plan loads once it runs, so that `--help` answers at once.
"""

from contextlib import chdir
from typing import Any

import click

from ..cli.exit_statuses import fail, json_option, print_found
from ..cli.options import Seconds, WholeNumber, profile_option


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
    with their options there. Those are asked nothing, unless --seconds needs their pace.
    """
    from ..cli.configuration import Chosen
    from .plan_each import plan_each, plan_target

    try:
        chosen = Chosen(context, alone=claim_file is not None)
    except ValueError as error:
        fail(error)
    if chosen.names and context.params["target"] is None:
        plan_each(chosen, as_json)
    name = next(iter(chosen.names), None)
    given = chosen.given(name)
    if given["claim_file"] is None:
        claim_option = next(one for one in plan.params if one.name == "claim_file")
        raise click.MissingParameter(ctx=context, param=claim_option)
    with chdir(chosen.folder):
        print_found(plan_target(given, named=name is not None), as_json)
