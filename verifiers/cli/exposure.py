"""`dpassay exposure`."""

import click

from ..commands.exit_statuses import fail, need
from ..commands.options import Whole, option_with_default, typed_options
from .ending import json_option, print_found


@click.command()
@click.argument("scorer", required=False)
@click.option("--template", metavar="TEXT", help="Of the canaries, such as 'pin of eve: [0-9]{6}'.")
@click.option(
    "--canary",
    "canaries",
    metavar="TEXT",
    multiple=True,
    help="A string of the template that the training data held; may be given several times.",
)
@click.option("--demo", is_flag=True, help="Train a small model here, with canaries in its data.")
@click.option("--extract", is_flag=True, help="Search for the canaries that are exposed enough.")
@option_with_default(
    "--strings",
    type=Whole(1_000, 1_000_000),
    default=10_000,
    help="Scored of each template, all if there are no more.",
)
@option_with_default("--seed", type=Whole(0, 2**63 - 1), default=0)
@json_option
@click.pass_context
def exposure(
    context: click.Context,
    *,
    scorer: str | None,
    template: str | None,
    canaries: tuple[str, ...],
    demo: bool,
    extract: bool,
    strings: int,
    seed: int,
    as_json: bool,
) -> None:
    """Tell how far training has exposed canaries, by SCORER (Carlini et al. 2019).

    SCORER is package.module:attr or path/to/file.py:attr, a callable that takes a list of strings
    and gives the log-perplexity of each. A space of up to --strings is ranked as a whole; of a
    larger one a sample is, with a 95 % interval, and where the sample does not reach, a skew-normal
    is fitted to it. --extract scores beginnings of strings too. --demo needs what
    dpassay[gradients] installs.
    """
    from ..commands.exposure import ExposureRequest, demonstrated, exposures_by

    if demo:
        given = typed_options(context, {"demo", "extract", "strings", "seed", "as_json"})
        if scorer is not None or given:
            fail("--demo has a model and canaries of its own: give neither SCORER nor others")
        need("exposure --demo", "jax", "optax")
    elif scorer is None or template is None or not canaries:
        fail("give SCORER, --template TEXT and --canary TEXT, or --demo alone")
    request = ExposureRequest(template or "", canaries, strings, extract, seed)
    try:
        found = demonstrated(request) if scorer is None else exposures_by(scorer, request)
    except ValueError as error:
        fail(" ".join(str(error).split()))
    print_found(found, as_json)
