"""`dpassay probabilities`."""

import json

import click

from ..commands.exit_statuses import fail, on_stdout
from ..commands.options import Whole
from .ending import json_option


@click.command()
@click.argument("histogram")
@click.option("--noise", required=True, metavar="SPEC", help="Such as gaussian:40.")
@click.option("--digits", type=Whole(1, 1000), help="Correct digits; 12 when not given.")
@json_option
def probabilities(histogram: str, noise: str, digits: int | None, as_json: bool) -> None:
    """Print the probability of each label for HISTOGRAM, such as 12,7,6,30.

    Without --digits they are computed in float64; with it, in mpmath, each digit correct.
    """
    from ..commands.probabilities import decimal_probabilities

    try:
        shown, logs = decimal_probabilities(histogram, noise, digits)
    except ValueError as error:
        fail(str(error))
    public = json.dumps({"probabilities": shown, "log": logs})
    lines = "\n".join(f"{label}  {text}" for label, text in enumerate(shown))
    with on_stdout():
        print(public if as_json else lines)
