"""A file of histograms: CSV, one histogram per row, one column per class."""

from dataclasses import dataclass

from ...reference import REFUSAL
from .cells import OF_VOTES, histogram_of, whole
from .csv_rows import class_order, csv_rows, without_index
from .files import read_text
from .input_error import ColumnsError, RowsError

_NO_NAMES = ("nan", "inf", "null", "none", "na", "n/a")


@dataclass(frozen=True)
class HistogramRow:
    """One row of the file: a histogram (c,), and the label released for it, if the file has one."""

    histogram: tuple[int, ...]
    label: int | None


def read_histograms(path: str, *, again: bool = False) -> list[HistogramRow]:
    """The rows of a CSV file with a column per class, perhaps one `label`, an optional header.

    path: `-` for standard input; again: the file will be read a second time, so that a pipe is
    refused. Raises RowsError that names the file, the line and what is allowed.
    """
    file = None if path == "-" and not again else path
    path = "standard input" if file is None else path
    return histograms_of(read_text(file, again=again), path)


def histograms_of(text: str, path: str) -> list[HistogramRow]:
    """The rows of a CSV file with this text; path: as messages name it."""
    table = list(without_index(csv_rows(text, path)))
    column, order = None, None
    columns = len(table[0].cells) if table else 0
    if table and is_header(table[0][1]):
        line, names = table.pop(0)
        column = label_column(f"{path}, line {line}", names)
        order = _order(f"{path}, line {line}", names, column)
    elif len(table) > 1 and is_numbering(table[0][1]) and not is_numbering(table[1][1]):
        raise ColumnsError(
            f"{path}, line {table[0][0]}: column numbers, not votes: expected names, or no header"
        )
    if not table:
        raise RowsError(f"{path}: no histograms: expected one per row")
    found = [_parse_row(f"{path}, line {line}", row, column, columns) for line, row in table]
    if order is None:
        return found
    return [HistogramRow(tuple(row.histogram[i] for i in order), row.label) for row in found]


def _parse_row(place: str, row: list[str], label_column: int | None, columns: int) -> HistogramRow:
    if len(row) != columns:
        raise RowsError(f"{place}: {len(row)} columns, but {columns} in the first row")
    values = []
    for column, cell in enumerate(row):
        number = whole(cell)
        if number is None and column == label_column:
            raise RowsError(
                f"{place}: label {cell[:60]!r} is not a whole number: expected a class from 0 to "
                f"{columns - 2}, or {REFUSAL} for a refusal"
            )
        if number is None:
            raise RowsError(
                f"{place}: {cell[:60]!r} {OF_VOTES}, and commas between them (names in a header "
                "begin with a letter)"
            )
        values.append(number)
    label = None if label_column is None else values.pop(label_column)
    histogram = histogram_of(values, place)
    if label is not None and not REFUSAL <= label < len(histogram):
        raise RowsError(
            f"{place}: label {label} of {len(histogram)} classes: expected 0 to "
            f"{len(histogram) - 1}, or {REFUSAL} for a refusal"
        )
    return HistogramRow(histogram, label)


def is_header(cells: list[str]) -> bool:
    """Whether a first row is a header; a mistyped number must not pass for a name."""
    names = [cell.strip().lower() for cell in cells]
    if "label" in names:
        return True
    return not any(name.lstrip("+-.")[:1].isdecimal() or name in _NO_NAMES for name in names)


def _order(place: str, cells: list[str], label_column: int | None) -> list[int] | None:
    """The index of each class among the columns of votes; None where they stand in order."""
    names = [cell.strip().lower() for i, cell in enumerate(cells) if i != label_column]
    order = class_order(names, place)
    return None if order == list(range(len(names))) else order


def is_numbering(cells: list[str]) -> bool:
    """Whether a row is 0, 1, ..., the header of a table without names, and not votes."""
    return [cell.strip() for cell in cells] == [str(i) for i in range(len(cells))]


def label_column(place: str, cells: list[str]) -> int | None:
    """The index of the column named `label` in a header; None where there is none."""
    names = [cell.strip().lower() for cell in cells]
    if "" in names:  # a table's index, written without a name, would be read as votes
        raise ColumnsError(f"{place}: column {names.index('') + 1} has no name: expected a class")
    if names.count("label") > 1:
        raise ColumnsError(f"{place}: {names.count('label')} columns named label: expected one")
    return names.index("label") if "label" in names else None
