"""A log of released labels as text: one label per line, a column of a CSV file, or JSON Lines.

Only labels of one input are read: a log that names its inputs is read for one of them.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from ...reference import REFUSAL
from .cells import cells_of, json_object, whole
from .input_error import ColumnsError, OptionsError, RowsError
from .log_names import PLAIN, LogNames
from .release_log import ABOUT

_SHOWN = 3  # ids in a message


class _Labelled(NamedTuple):
    """A row: its line number, its label as text, and its id and votes if it has them."""

    number: int
    label: str
    key: str | None = None
    votes: tuple[str, ...] = ()


def read_labels(lines: Iterable[str], source: str, key: str | None = None) -> list[int]:
    """The labels in `lines`, -1 for refusals; key: the id of the input whose labels are read.

    The first row may be a header: labels are in the column `label`, ids in the column `id`. JSON
    objects have the keys of a recorded log. Blank lines are skipped. source: as messages name the
    log. Raises RowsError that names it, the line and what is allowed, also where there are labels
    of several inputs and no key.
    """
    rows = list(_rows(lines, source))
    if not rows:
        raise RowsError(f"{source}: no labels: expected one per line, or a CSV column 'label'")
    return [_label(row, source) for row in _of_one(rows, source, key)]


def labels_by_id(
    lines: Iterable[str], source: str, names: LogNames = PLAIN
) -> dict[str, list[int]]:
    """The labels of each input that the log in `lines` names, in the order of its first rows.

    The log is as for `read_labels`, with an id in each row; names: of its columns and labels.
    Raises RowsError that names the line.
    """
    found: dict[str, list[int]] = {}
    for row in _rows(lines, source, names):
        if row.key is None:
            raise RowsError(
                f"{source}, line {row.number}: no id: expected who the answer is about, in a "
                f"column or key named {names.columns.get('id', 'id')}"
            )
        found.setdefault(row.key, []).append(_label(row, source, names))
    if not found:
        raise RowsError(f"{source}: no labels: expected rows with an id and a label")
    return found


def _label(row: _Labelled, source: str, names: LogNames = PLAIN) -> int:
    """The label of a row, -1 for a refusal. Raises RowsError."""
    if names.of_labels:
        return names.label(row.label, f"{source}, line {row.number}", refuses=True)
    label = whole(row.label)
    if label is None or label < REFUSAL:
        raise RowsError(
            f"{source}, line {row.number}: {row.label[:60]!r} is no label: expected a whole "
            "number from 0, or -1 for a refusal (or a header that says label)"
        )
    return label


def _of_one(rows: list[_Labelled], source: str, key: str | None) -> list[_Labelled]:
    """The rows of one input. Raises RowsError if `key` is needed, or is in no row."""
    keys = list(dict.fromkeys(row.key for row in rows if row.key is not None))
    shown = ", ".join(repr(name[:60]) for name in keys[:_SHOWN])
    shown += ", ..." if len(keys) > _SHOWN else ""
    if key is not None:
        found = [row for row in rows if row.key == key]
        if not found:
            message = f"its ids are {shown}" if keys else "its rows have no id"
            raise RowsError(
                f"{source}: --id {key[:60]!r} is in no row: {message}", code="value-not-allowed"
            )
        return found
    if len(keys) > 1 or (keys and any(row.key is None for row in rows)):
        raise OptionsError(
            f"{source}: labels of {len(keys):,} ids, {shown}: expected those of one: say which "
            "with --id"
        )
    votes = {row.votes for row in rows}
    if not keys and len(votes) > 1 and _are_histograms(votes):
        raise OptionsError(
            f"{source}: labels of {len(votes):,} histograms: expected those of one (--id chooses "
            "rows that have an id)"
        )
    return rows


def _are_histograms(found: set[tuple[str, ...]]) -> bool:
    """Whether the other columns of a log are votes: whole numbers with the same sum per row."""
    rows = [[number for cell in row if (number := whole(cell)) is not None] for row in found]
    numbers = all(len(of) == len(row) > 1 for of, row in zip(rows, found, strict=True))
    return numbers and len({sum(row) for row in rows}) == 1


def _rows(lines: Iterable[str], source: str, names: LogNames = PLAIN) -> Iterator[_Labelled]:
    numbered = ((i, line) for i, line in enumerate(lines, 1) if line.strip())
    first = next(numbered, None)
    if first is None:
        return
    every = chain([first], numbered)
    if first[1].lstrip().startswith("{"):
        yield from (_of_json(line, number, source, names) for number, line in every)
    else:
        yield from _of_csv(every, source, names)


def _of_json(line: str, number: int, source: str, names: LogNames) -> _Labelled:
    place = f"{source}, line {number}"
    table = json_object(line, place)
    if names is not PLAIN:
        table = names.rename(table, ("histogram", "label", *ABOUT), place)
        return _Labelled(number, _text(table.get("label")), _text(table.get("id")) or None)
    label, key, votes = (table.get(name) for name in ("label", "id", "histogram"))
    text = str(label) if isinstance(label, int) and not isinstance(label, bool) else repr(label)
    cells = tuple(map(str, votes)) if isinstance(votes, list) else ()
    return _Labelled(number, text, None if key is None else str(key).strip() or None, cells)


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _of_csv(lines: Iterator[tuple[int, str]], source: str, names: LogNames) -> Iterator[_Labelled]:
    """The rows of a CSV file. Raises RowsError for anything else."""
    column, at_id, votes = None, None, []
    for number, line in lines:
        place = f"{source}, line {number}"
        cells = [cell.strip() for cell in cells_of(line, place)]
        if not any(cells):
            continue
        if column is None and names is not PLAIN:
            header = [cell.lower() for cell in cells]
            places, _ = names.places(header, ("label", *ABOUT), place)
            column, at_id = places.get("label"), places.get("id")
            if column is not None:
                continue
        if column is None:
            column = _label_column(cells, place)
            if cells[column].lower() == "label":
                header = [cell.lower() for cell in cells]
                at_id = header.index("id") if "id" in header else None
                votes = [i for i, name in enumerate(header) if name not in (*ABOUT, "label")]
                continue
        named = None if at_id is None or at_id >= len(cells) else cells[at_id] or None
        text = cells[column] if column < len(cells) else ""
        yield _Labelled(number, text, named, tuple(cells[i] for i in votes if i < len(cells)))


def _label_column(cells: list[str], place: str) -> int:
    if len(cells) == 1:
        return 0
    named = [i for i, cell in enumerate(cells) if cell.lower() == "label"]
    if len(named) != 1:
        raise ColumnsError(
            f"{place}: {len(cells)} columns, {len(named)} of them named 'label': expected one "
            "column, or a header that names one 'label'"
        )
    return named[0]
