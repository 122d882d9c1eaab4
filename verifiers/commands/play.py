"""`dpassay play`: the inference game on gradients of a vendor's model."""

from pathlib import Path
from typing import Any

import click

from ..cli.exit_statuses import fail, json_option, need, print_found
from ..cli.options import WholeNumber, option_with_default
from ..inputs.input_error import InputError


def _write_example(context: click.Context, _: click.Parameter, folder: str | None) -> None:
    """Writes the example and ends, before anything else is asked for."""
    if folder is None or context.resilient_parsing:
        return
    from ..gradients.example import write_example

    try:
        written = write_example(Path(folder))
    except FileExistsError as error:
        fail(
            f"--example {folder}: {error} is there already; name another folder",
            code="file-not-written",
        )
    except OSError as error:
        fail(f"--example {folder}: {error.strerror or error}", code="file-not-written")
    click.echo(f"written: {', '.join(map(str, written))}")
    context.exit()


_DEFENCES = ("none", "pruning", "sign-sgd", "perturbation", "dp-sgd")


@click.command()
@click.argument("model")
@click.option("--data", metavar="FILE", required=True, help="CSV of numbers, as the model takes.")
@click.option("--label", metavar="COLUMN", required=True, help="What the model learns, from 0.")
@click.option(
    "--attribute",
    "attributes",
    metavar="COLUMN",
    multiple=True,
    required=True,
    help="What is inferred; several where a word has a column for each value.",
)
@click.option("--unseen", is_flag=True, help="The model does not see the attribute's columns.")
@option_with_default(
    "--defence",
    "defences",
    type=click.Choice(_DEFENCES),
    multiple=True,
    default=("none",),
    help="What is done to gradients; may be given several times. The adversary knows it.",
)
@click.option("--sigma", type=click.FloatRange(0.0, 1e6), default=1.0, help="Of dp-sgd.")
@click.option(
    "--clip-norm", type=click.FloatRange(0.0, 1e6, min_open=True), default=1.0, help="Of dp-sgd."
)
@option_with_default(
    "--delta",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=1e-5,
    help="At which dp-sgd's exact epsilon is told.",
)
@option_with_default("--batch", type=WholeNumber(1, 10_000), default=16, help="Records.")
@option_with_default(
    "--rounds", type=WholeNumber(1, 1_000), default=1, help="Of training; each releases the batch."
)
@option_with_default(
    "--releases",
    type=WholeNumber(1, 10_000),
    default=1,
    help="In a round; several of dp-sgd alone.",
)
@option_with_default("--trials", type=WholeNumber(100, 100_000), default=1_000)
@option_with_default("--seed", type=WholeNumber(0, 2**63 - 1), default=0)
@click.option(
    "--example",
    metavar="DIR",
    is_eager=True,
    expose_value=False,
    callback=_write_example,
    help="Write a small model, people, a deployment and its claim there, and end.",
)
@json_option
def play(
    *,
    model: str,
    data: str,
    label: str,
    attributes: tuple[str, ...],
    unseen: bool,
    defences: tuple[str, ...],
    as_json: bool,
    **rules: Any,
) -> None:
    """Play the inference game on gradients of MODEL, a callable (records, labels) -> gradients.

    Batches are drawn of people who share a value of the attribute; an adversary who knows the
    defence and has learned from one half of the data infers it from gradients of the other half.
    MODEL is package.module:attr or path/to/file.py:attr; gradients are (n, p), one of each record.
    With --rounds, MODEL is a callable (records, labels, round), of the model as it is before the
    step of that round, from 0: the adversary adds up what each of them says of the same batch.
    Needs what dpassay[gradients] installs.
    """
    trained = {"perturbation", "dp-sgd"} & set(defences)
    need("play", "jax", "sklearn", *(["optax"] if trained else []))
    from ..gradients.play import PlayRules
    from ..gradients.play import play as run
    from ..inputs.people_file import read_people
    from ..kinds.numbers.vendor_model import load_model

    once = tuple(dict.fromkeys(defences))
    try:
        people = read_people(data, label, attributes, seen=not unseen)
        found = run(load_model(model), people, attributes, once, PlayRules(**rules))
    except ValueError as error:
        fail(InputError(" ".join(str(error).split())))
    print_found(found, as_json)
