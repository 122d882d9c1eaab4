"""`dpassay probabilities`: Q(H) of labels as decimal text, to any number of digits."""

import click
from pydantic import Field

from ...reference import log_probabilities, parse_histogram, parse_noise
from ..cli.exit_statuses import fail, json_option, print_found
from ..cli.options import WholeNumber
from ..findings.document import Document

FLOAT_DIGITS = 12
"""Correct significant digits in float64 while the log-probability is above `FLOAT_FLOOR`."""

FLOAT_FLOOR = -690.0


@click.command()
@click.argument("histogram")
@click.option("--noise", required=True, metavar="SPEC", help="Such as gaussian:40.")
@click.option("--digits", type=WholeNumber(1, 1000), help="Correct digits; 12 when not given.")
@json_option
def probabilities(histogram: str, noise: str, digits: int | None, as_json: bool) -> None:
    """Print the probability of each label for HISTOGRAM, such as 12,7,6,30.

    Without --digits they are computed in float64; with it, in mpmath, each digit correct.
    """
    try:
        found = decimal_probabilities(histogram, noise, digits)
    except ValueError as error:
        fail(error)
    print_found(found, as_json)


class Probabilities(Document):
    """The probability of each label, in order."""

    probabilities: tuple[str, ...] = Field(
        description="Decimal numbers, with as many correct digits as were asked for."
    )
    log: tuple[float, ...] = Field(description="Their natural logarithms.")

    def as_text(self) -> str:
        """A line for each label."""
        return "\n".join(f"{label}  {text}" for label, text in enumerate(self.probabilities))


def decimal_probabilities(histogram: str, noise: str, digits: int | None) -> Probabilities:
    """The probabilities with `digits` significant digits.

    Without `digits`, 12 of them, from float64 unless a probability lies below 1e-299.
    Raises ValueError that says what is wrong with `histogram` or `noise`.
    """
    from mpmath import mp, mpf

    votes, family = parse_histogram(histogram), parse_noise(noise)
    logs = [float(value) for value in log_probabilities(votes, family)]
    wanted = FLOAT_DIGITS if digits is None else digits
    if digits is None and min(logs) > FLOAT_FLOOR:
        with mp.workdps(40):
            exact = [mp.exp(mpf(value)) for value in logs]
    else:
        from ...reference import exact_probabilities

        exact = exact_probabilities(votes.tolist(), family, wanted)
        with mp.workdps(40):
            logs = [float(mp.log(value)) for value in exact]
    with mp.workdps(wanted + 20):
        shown = tuple(mp.nstr(value, wanted, strip_zeros=False) for value in exact)
    return Probabilities(probabilities=shown, log=tuple(logs))
