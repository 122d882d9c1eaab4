"""A log of releases: one row per label, with its histogram or input, in the order drawn."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...reference import REFUSAL
from .cells import (
    OF_VOTES,
    LogError,
    cells_of,
    histogram_of,
    json_object,
    text_of,
    votes_of,
    whole,
)
from .csv_rows import INDEX, votes_among
from .input_error import ColumnsError, UnclaimedError
from .log_names import PLAIN, LogNames, Row, lower, row_of

__all__ = ["ABOUT", "LogError", "Row", "RowReader"]

ABOUT = ("id", "time", "worker", "call", "client", "charged")
"""Optional columns, beside votes and label."""

_KNOWN = ("histogram", "label", *ABOUT)
_ALL = {*_KNOWN}

_SEEN = {"[{": "a JSON array, ", ";": "semicolons, ", "\t": "tabs, "}
"""What a first line that is no header of CSV has in it, in words."""

_MAPPED = "; [log] of the claim says what a log calls its columns"

Parse = Callable[[str, str], Row | None]
"""From a line, and its place for messages, to its row; None for a line without one."""


class RowReader:
    """Parses the lines of a log, CSV or JSON Lines as its first line shows, into rows.

    classes: of every histogram, None for as many as the first has; may_refuse: whether a label may
    be -1; given: the histogram of each id, for rows that name an input without its votes; names: of
    columns and labels, where they are not dpassay's. Times may not decrease. header, last_time: of
    the reader whose work this one continues.
    """

    def __init__(
        self,
        classes: int | None,
        may_refuse: bool,
        header: str | None = None,
        last_time: float | None = None,
        *,
        given: Mapping[str, tuple[int, ...]] | None = None,
        names: LogNames = PLAIN,
    ) -> None:
        self.classes, self.may_refuse = classes, may_refuse
        self._whose = "those of the first row" if classes is None else "those of the claim"
        self._given, self.names = given or {}, names
        self.last_time = last_time
        self.header: str | None = None
        self._parse: Parse | None = None
        self._met: dict[str, tuple[int, ...]] = {}
        self._columns: tuple[tuple[str, ...], list[str]] | None = None
        self._timeless: dict[str, Row] = {}
        if header is not None:
            self._begin(header, "the header kept from before")

    def row(self, line: str, place: str) -> Row | None:
        """The row of a line; None for a blank one and for a header. Raises RowsError."""
        found = self._timeless.get(line)
        if found is not None:
            return found
        if not line.strip():
            return None
        if self._parse is None:
            line = line.lstrip("\ufeff")
            if self._begin(line, place):
                return None
        elif line == self.header and not line.lstrip().startswith("{"):
            return None  # a pipe that was started again repeats its header
        assert self._parse is not None
        row = self._checked(self._parse(line, place), place)
        if row.time is None:  # equal lines are equal rows, and most lines are repeated
            if len(self._timeless) >= _REMEMBERED:
                self._timeless.clear()
            self._timeless[line] = row
        return row

    def of_table(self, table: Mapping[str, Any], place: str) -> Row:
        """The row of an object with the keys of JSON Lines. Raises RowsError."""
        return self._checked(self._of_table(table, place), place)

    def _begin(self, line: str, place: str) -> bool:
        """Sets the format by the first line; returns whether that line is a header."""
        self.header = line
        if line.lstrip().startswith("{"):
            self._parse = self._json_row
            if self.names is not PLAIN:  # of a log that is read on its first line says all names
                self.names.rename(json_object(line, place), _KNOWN, place)
            return False
        columns = [name.strip().lower() for name in cells_of(line, place)]
        label = self.names.columns.get("label")
        seen = next((what for mark, what in _SEEN.items() if mark in line), "")
        if columns.count(lower(label or "label")) != 1 and (label is None or seen):
            raise ColumnsError(
                f"{place}: expected JSON objects, one a line, or a header with a column for each "
                f"class and one named {label or 'label'}, with commas between them; found {seen}"
                f"{line.strip()[:200]!r}{'' if label else _MAPPED}"
            )
        self._parse = self._csv_parser(columns, place)
        return True

    def _csv_parser(self, columns: Sequence[str], place: str) -> Parse:
        key = self.names.columns.get("histogram")
        if key is not None:
            raise ColumnsError(
                f"{place}: {key[:60]!r} (log.histogram of the claim) is one key, as of JSON Lines; "
                "CSV has a column for each class: expected histogram = [...], in the order of the "
                "classes"
            )
        named, votes = self.names.places(columns, ("label", *ABOUT), place)
        about = {name: i for name, i in named.items() if name != "label"}
        label = named["label"]
        further = [columns.index(lower(name)) for name in self.names.more]
        if votes or not self._given:
            votes = self._votes_among(columns, votes, place)
        if self.classes is None and votes:
            self.classes = len(votes)
        first = len(votes) if votes == list(range(len(votes))) else 0

        def parse(line: str, place: str) -> Row:
            cells = cells_of(line, place, first)
            if len(cells) != len(columns) - max(first - 1, 0):
                given = len(cells_of(line, place))
                raise LogError(f"{place}: {given} columns, but {len(columns)} in the header")
            at = max(first - 1, 0)  # leading votes are one cell, as most histograms are repeated
            named = {name: cells[i - at].strip() or None for name, i in about.items()}
            if votes:
                text = cells[0] if first else ",".join(cells[i] for i in votes)
                histogram = self._histogram_of_text(text, place)
            else:
                histogram = self._histogram_of_id(named.get("id"), place)
            more = tuple(cells[i - at].strip() or None for i in further)
            return row_of(histogram, self._label(cells[label - at], place), named, place, more)

        return parse

    def _json_row(self, line: str, place: str) -> Row:
        return self._of_table(json_object(line, place), place)

    def _of_table(self, table: Mapping[str, Any], place: str) -> Row:
        more = self.names.more_of(table, place)
        if self.names is not PLAIN:
            table = self.names.rename(table, _KNOWN, place)
        elif not table.keys() <= _ALL:  # frames have an index, and a column for each class
            named_so = ((key.strip().lower(), value) for key, value in table.items())
            table = {key: value for key, value in named_so if key not in INDEX}
        others = [key for key in table if key not in _KNOWN]
        if others and "histogram" in table:
            raise ColumnsError(f"{place}: {others[0][:60]!r}: allowed are {', '.join(_KNOWN)}")
        if "label" not in table:
            found = ", ".join(table)[:200]
            raise ColumnsError(
                f"{place}: no label: allowed are {', '.join(_KNOWN)}; found {found}{_MAPPED}"
            )
        label = self._label(table["label"], place)
        named = {k: None if table.get(k) is None else text_of(table[k], place) for k in ABOUT}
        votes = self._votes(table, others, place) if others else table.get("histogram")
        histogram = (
            self._histogram_of_id(named["id"], place)
            if votes is None
            else self._histogram_of(votes, place)
        )
        return row_of(histogram, label, named, place, more)

    def _label(self, given: Any, place: str) -> int:
        """The class that a label stands for, -1 for a refusal. Raises LogError."""
        if self.names.of_labels:
            return self.names.label(given, place, refuses=self.may_refuse)
        number = _whole(given)
        if number is not None:
            return number
        last = "" if self.classes is None else f" to {self.classes - 1}"
        refusals = f", or {REFUSAL} for a refusal" if self.may_refuse else ""
        raise LogError(
            f"{place}: label {str(given)[:60]!r} is not a whole number: expected a class, from 0"
            f"{last}{refusals}; in [log] of the claim, labels says what classes are called"
            f"{', and refusal_labels what refusals are' if self.may_refuse else ''}"
        )

    def _votes_among(self, names: Sequence[str], places: Sequence[int], place: str) -> list[int]:
        """The places of the columns of votes, by class, among those of `names` at `places`."""
        order = self.names.order(names, places, place)
        if order is not None:
            return order
        try:
            return votes_among(names, places, self.classes, place)
        except UnclaimedError as error:
            raise UnclaimedError(f"{error}{_MAPPED}") from None

    def _votes(self, table: Mapping[str, Any], names: Sequence[str], place: str) -> list[int]:
        """The votes of an object with a key for each class."""
        if self._columns is None or self._columns[0] != tuple(names):
            order = self._votes_among(names, range(len(names)), place)
            self._columns = tuple(names), [names[i] for i in order]
        votes = []
        for name in self._columns[1]:
            number = _whole(table[name])
            if number is None:
                shown = f"{str(table[name])[:60]!r} in {name[:60]!r}"
                raise LogError(f"{place}: {shown} {OF_VOTES}")
            votes.append(number)
        return votes

    def _histogram_of_id(self, key: str | None, place: str) -> tuple[int, ...]:
        """The histogram of an input of the claim, which the row names by its id."""
        if key is None or not self._given:
            needs = "" if key is None else f": id {key[:60]!r} needs [inputs] in the claim"
            raise LogError(f"{place}: no histogram{needs}")
        if key not in self._given:
            raise UnclaimedError(f"{place}: id {key[:60]!r} is not among the inputs of the claim")
        return self._given[key]

    def _histogram_of_text(self, text: str, place: str) -> tuple[int, ...]:
        """The histogram in cells of CSV; kept, since most histograms are repeated."""
        found = self._met.get(text)
        if found is None:
            found = self._histogram_of(votes_of(text.split(","), place), place)
            if len(self._met) >= _REMEMBERED:
                self._met.clear()
            self._met[text] = found
        return found

    def _histogram_of(self, votes: Any, place: str) -> tuple[int, ...]:
        histogram = histogram_of(votes, place)
        if not any(histogram):
            raise LogError(f"{place}: a histogram without any vote")
        if self.classes is None:
            self.classes = len(histogram)
        if len(histogram) != self.classes:
            raise UnclaimedError(
                f"{place}: a histogram of {len(histogram)} classes: expected {self.classes}, "
                f"{self._whose}"
            )
        return histogram

    def _checked(self, row: Row | None, place: str) -> Row:
        """The row, once its label and time are checked. Raises RowsError."""
        assert row is not None
        assert self.classes is not None, "the row above has a histogram"
        lowest = REFUSAL if self.may_refuse else 0
        if not lowest <= row.label < self.classes:
            refusals = f", or {REFUSAL} for a refusal" if self.may_refuse else ""
            counted = "; are classes counted from 1?" if row.label == self.classes else ""
            raise LogError(
                f"{place}: label {str(row.label)[:60]}: expected 0 to {self.classes - 1}{refusals}"
                f"{counted}"
            )
        if row.time is not None:
            if self.last_time is not None and row.time < self.last_time:
                raise LogError(
                    f"{place}: its time {row.time!r} is before that of a row above, "
                    f"{self.last_time!r}: expected rows in the order of their draws",
                    code="row-out-of-order",
                )
            self.last_time = row.time
        return row


_REMEMBERED = 100_000


def _whole(value: Any) -> int | None:
    """A whole number as JSON, a frame or a cell has it; None for anything else."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if math.isfinite(value) and value == int(value) else None
