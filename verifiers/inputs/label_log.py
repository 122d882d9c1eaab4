"""A log of released labels as text: one label per line, or a column of a CSV file."""

import csv
from collections.abc import Iterable, Iterator

from ...reference import REFUSAL
from .whole_numbers import is_whole


def read_labels(lines: Iterable[str], source: str) -> list[int]:
    """The labels in `lines`; refusals are -1.

    A first row may be a header: `label` where there is one column; of several, the one so named
    counts.
    Blank lines are skipped. Raises ValueError that names `source`, the line and what is allowed.
    """
    labels: list[int] = []
    column = None
    for number, row in enumerate(_rows(lines, source), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if column is None:
            column = _label_column(cells, f"{source}, line {number}")
            if cells[column].lower() == "label":
                continue
        text = cells[column] if column < len(cells) else ""
        if not is_whole(text) or int(text) < REFUSAL:
            raise ValueError(
                f"{source}, line {number}: {text[:60]!r} is no label: expected a whole number "
                "from 0, or -1 for a refusal (or a header that says label)"
            )
        labels.append(int(text))
    if not labels:
        raise ValueError(f"{source}: no labels: expected one per line, or a CSV column 'label'")
    return labels


def _rows(lines: Iterable[str], source: str) -> Iterator[list[str]]:
    """The rows of a CSV file. Raises ValueError where it is none."""
    try:
        yield from csv.reader(lines)
    except csv.Error:
        raise ValueError(f"{source}: neither one label per line nor a CSV file") from None


def _label_column(cells: list[str], place: str) -> int:
    if len(cells) == 1:
        return 0
    named = [i for i, cell in enumerate(cells) if cell.lower() == "label"]
    if len(named) != 1:
        raise ValueError(
            f"{place}: {len(cells)} columns, {len(named)} of them named 'label': expected one "
            "column, or a header that names one 'label'"
        )
    return named[0]
