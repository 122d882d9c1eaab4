"""`dpassay compare`: reports, folders of them or ledgers side by side, and what became worse."""

import sys
from pathlib import Path

import click

from ..cli.exit_statuses import fail, json_option, print_found
from ..inputs.input_error import InputError, OptionsError
from ..ledger.comparison import Comparison, compared


@click.command()
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="[B]", required=False, type=click.Path(path_type=Path))
@click.option("--figure", metavar="FILE", help="The trend over a ledger's runs, as SVG.")
@json_option
def compare(*, before: Path, after: Path | None, figure: str | None, as_json: bool) -> None:
    """Lay reports A and B of `dpassay verify` side by side; exit 1 where something became worse.

    A, the earlier one, and B are files that --json printed or --report wrote, of one target or of
    several, or folders of NAME.json or NAME/report.json, matched by name. Worse is a lower verdict,
    a new code of a defect, a higher certified cost, a pass that would have seen less, or a measured
    interval that is disjoint from the earlier one.

    Either may be a ledger, which stands for its newest run. A ledger alone is read run by run, and
    its newest run is laid beside the one before.
    """
    try:
        found = compared(before, after)
        if figure is not None:
            _draw(figure, found)
    except InputError as error:
        fail(error)
    print_found(found, as_json)
    sys.exit(1 if found.became_worse else 0)


def _draw(file: str, found: Comparison) -> None:
    """Writes the figure of the last ledger. Raises OptionsError of one line."""
    if found.ledger is None:
        raise OptionsError("--figure shows a trend over runs: expected a ledger as A or B")
    drawn = found.ledger.ledgers[-1]
    if not drawn.ended or not file.endswith(".svg"):
        why = "no run of the ledger has ended" if not drawn.ended else "expected a name in .svg"
        raise OptionsError(f"--figure {file[:60]!r}: {why}")
    from ..reporting.trend import trend_svg

    try:
        Path(file).write_text(trend_svg(drawn), encoding="utf-8")
    except OSError as error:
        raise OptionsError(f"--figure {file[:60]!r}: {error.strerror or error}") from None
