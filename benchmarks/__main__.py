"""`make bench`: rows are measured side by side in one run; absolute times depend on the day."""

from rich.console import Console
from rich.table import Table

from . import accounting, attacks, gate, probabilities
from .detection import labels as detection

SECTIONS = (probabilities.rows, attacks.rows, accounting.rows, gate.rows, detection.rows)


def main() -> None:
    table = Table("what", "figure", "compared with", "ratio", title="dpassay benchmarks")
    for section in SECTIONS:
        for row in section():
            table.add_row(*row)
        table.add_section()
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
