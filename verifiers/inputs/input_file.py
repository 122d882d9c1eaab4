"""A file of inputs: what a deployment may be asked, each with the votes of its teachers."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cells import histogram_of, is_whole, json_lines, refuse_constant, votes_of
from .csv_rows import csv_rows, votes_among, with_header
from .files import read_text
from .input_error import ColumnsError, RowsError, UnclaimedError

_KEYS = ("id", "input", "histogram", "votes")
_NAMED = ("id", "input")
_DEEPEST = 50  # lists and objects within each other


@dataclass(frozen=True)
class Input:
    """One row: the votes on an input, as a histogram (c,).

    Attributes:
        query: the input in JSON, as the deployment takes it, if the row has one.
        votes: the class of each teacher (teachers,), if given.
        key: the id of the input in logs.
    """

    histogram: tuple[int, ...]
    query: str | None = None
    votes: tuple[int, ...] | None = None
    key: str | None = None

    @property
    def name(self) -> str:
        """The input in messages: by its id, else its query, else its votes alone."""
        votes = str(list(self.histogram))
        if self.key is None and self.query is None:
            return votes
        called = repr(self.key[:60]) if self.key is not None else (self.query or "")[:60]
        return f"input {called} ({votes})"


def read_inputs(path: str, classes: int, teachers: int, *, need_queries: bool) -> tuple[Input, ...]:
    """The rows of the file at `path`: JSON Lines, or CSV with a header, told by its first line.

    classes, teachers: of the claim, which every row must have; need_queries: whether each row must
    hold a query. Rows of one input, or of one id, must have the same histogram. Raises RowsError
    that names the file, the line and what is allowed.
    """
    text = read_text(path, again=True)
    tables: Iterator[tuple[str, Mapping[str, Any]]] = _csv_tables(text, path, classes)
    if text.lstrip().startswith("{"):
        tables = json_lines(text, path, parse_constant=refuse_constant)
    found: list[Input] = []
    known: dict[tuple[str, str], tuple[int, ...]] = {}
    for place, table in tables:
        row = _parse_row(table, place, classes, teachers)
        if need_queries and row.query is None:
            raise RowsError(f'{place}: no input, which form = "query" needs in every row')
        for name, value in (("id", row.key), ("input", row.query)):
            if (
                value is not None
                and known.setdefault((name, value), row.histogram) != row.histogram
            ):
                raise RowsError(
                    f"{place}: {name} {value[:60]} has other votes than in a row above: the votes "
                    "on an input are fixed"
                )
        found.append(row)
    if not found:
        raise RowsError(f"{path}: no inputs: expected one per row")
    return tuple(found)


def _depth(value: Any) -> int:
    """How deeply lists and objects are nested in a JSON value."""
    deepest, level = 0, [value]
    while level and deepest <= _DEEPEST:
        inner = [
            v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)
        ]
        level = [each for values in inner for each in values]
        deepest += bool(inner)
    return deepest


def _csv_tables(text: str, path: str, classes: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Rows of CSV as if from JSON Lines: columns not named id or input are classes."""
    names, rows = with_header(csv_rows(text, path), path)
    names = [name.lower() for name in names]
    doubled = [name for name in _NAMED if names.count(name) > 1]
    if doubled:
        raise ColumnsError(f"{path}, line 1: more than one column named {doubled[0]}")
    if not names or any(not name or is_whole(name) or name[0] == "[" for name in names):
        raise ColumnsError(
            f"{path}, line 1: expected JSON objects, or a header with a column for each class, and "
            "perhaps columns named id and input"
        )
    places = [i for i, name in enumerate(names) if name not in _NAMED]
    places = votes_among(names, places, classes, f"{path}, line 1")
    for number, row in rows:
        place = f"{path}, line {number}"
        votes = votes_of([row[i] for i in places], place)
        named = {
            name: cell.strip() or None
            for name, cell in zip(names, row, strict=True)
            if name in _NAMED
        }
        yield place, {**named, "histogram": votes}


def _parse_row(table: Mapping[str, Any], place: str, classes: int, teachers: int) -> Input:
    unknown = next((key for key in table if key not in _KEYS), None)
    if unknown is not None:
        raise ColumnsError(f"{place}: {unknown[:60]!r}: allowed are {', '.join(_KEYS)}")
    votes = None if table.get("votes") is None else _votes(table["votes"], place, classes)
    counted = None if votes is None else np.bincount(votes, minlength=classes).tolist()
    given = table.get("histogram", counted)
    if given is None:
        raise RowsError(f"{place}: neither histogram nor votes")
    histogram = histogram_of(given, place)
    if counted is not None and histogram != tuple(counted):
        raise RowsError(f"{place}: the histogram is not that of the votes, {counted}")
    if len(histogram) != classes or sum(histogram) != teachers:
        raise UnclaimedError(
            f"{place}: {len(histogram)} classes and {sum(histogram)} votes, but the claim has "
            f"{classes} classes and {teachers} teachers"
        )
    if _depth(table.get("input")) > _DEEPEST:
        raise RowsError(f"{place}: an input nested more than {_DEEPEST} deep")
    query = json.dumps(table["input"]) if table.get("input") is not None else None
    key = None if table.get("id") is None else str(table["id"]).strip() or None
    return Input(histogram, query, votes, key)


def _votes(given: Any, place: str, classes: int) -> tuple[int, ...]:
    """The class of each teacher (teachers,). Raises RowsError."""
    allowed = f"expected the class of each teacher, 0 to {classes - 1}"
    if not isinstance(given, list) or not given:
        raise RowsError(f"{place}: votes {str(given)[:60]!r}: {allowed}")
    for vote in given:
        if isinstance(vote, bool) or not isinstance(vote, int) or not 0 <= vote < classes:
            raise RowsError(f"{place}: vote {str(vote)[:60]!r}: {allowed}")
    return tuple(given)
