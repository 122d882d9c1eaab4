"""A log of releases: one row per label, with its histogram or input, in the order drawn."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...reference import REFUSAL, as_histogram
from .cells import LogError, cells_of, epsilon_of, json_object, seconds_of, text_of, whole
from .csv_rows import INDEX, votes_among
from .input_error import ColumnsError, UnclaimedError

__all__ = ["ABOUT", "LogError", "Row", "RowReader"]

ABOUT = ("id", "time", "worker", "call", "client", "charged")
"""Optional columns, beside votes and label."""

_KNOWN = ("histogram", "label", *ABOUT)
_ALL = {*_KNOWN}

_SEEN = {"[{": "a JSON array, ", ";": "semicolons, ", "\t": "tabs, "}
"""What a first line that is no header of CSV has in it, in words."""

_OF_VOTES = "is not a whole number of votes: expected 0 to 2^53"


class Row(NamedTuple):
    """One release: a histogram (c,) and the label drawn for it, -1 for a refusal.

    key: the id of the input, if any; time: in seconds of the log's clock; time_text: as the log has
    it; charged: the epsilon that the deployment charged for this release; worker, client, call: as
    the log names them.
    """

    histogram: tuple[int, ...]
    label: int
    key: str | None = None
    time: float | None = None
    worker: str | None = None
    charged: float | None = None
    client: str | None = None
    call: str | None = None
    time_text: str | None = None


Parse = Callable[[str, str], Row | None]
"""From a line, and its place for messages, to its row; None for a line without one."""


class RowReader:
    """Parses the lines of a log, CSV or JSON Lines as its first line shows, into rows.

    classes: of every histogram, None for as many as the first has; may_refuse: whether a label may
    be -1; given: the histogram of each id, for rows that name an input without its votes. Times may
    not decrease. header, last_time: of the reader whose work this one continues.
    """

    def __init__(
        self,
        classes: int | None,
        may_refuse: bool,
        header: str | None = None,
        last_time: float | None = None,
        given: Mapping[str, tuple[int, ...]] | None = None,
    ) -> None:
        self.classes, self.may_refuse = classes, may_refuse
        self._whose = "those of the first row" if classes is None else "those of the claim"
        self._given = given or {}
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
            return False
        columns = [name.strip().lower() for name in cells_of(line, place)]
        if columns.count("label") != 1:
            seen = next((what for mark, what in _SEEN.items() if mark in line), "")
            raise ColumnsError(
                f"{place}: expected JSON objects, one a line, or a header with a column for each "
                f"class and one named label, with commas between them; found {seen}"
                f"{line.strip()[:200]!r}"
            )
        self._parse = self._csv_parser(columns, place)
        return True

    def _csv_parser(self, columns: Sequence[str], place: str) -> Parse:
        votes = [i for i, name in enumerate(columns) if name not in (*ABOUT, "label")]
        about = {name: columns.index(name) for name in ABOUT if name in columns}
        label = columns.index("label")
        if votes or not self._given:
            votes = votes_among(columns, votes, self.classes, place)
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
            drawn = whole(cells[label - at])
            if drawn is None:
                raise LogError(self._no_label(cells[label - at], place))
            return _row(histogram, drawn, named, place)

        return parse

    def _json_row(self, line: str, place: str) -> Row:
        return self._of_table(json_object(line, place), place)

    def _of_table(self, table: Mapping[str, Any], place: str) -> Row:
        if not table.keys() <= _ALL:  # frames have an index, and a column for each class
            named_so = ((key.strip().lower(), value) for key, value in table.items())
            table = {key: value for key, value in named_so if key not in INDEX}
        others = [key for key in table if key not in _KNOWN]
        if others and "histogram" in table:
            raise ColumnsError(f"{place}: {others[0][:60]!r}: allowed are {', '.join(_KNOWN)}")
        if "label" not in table:
            found = ", ".join(table)[:200]
            raise ColumnsError(f"{place}: no label: allowed are {', '.join(_KNOWN)}; found {found}")
        label = _whole(table["label"])
        if label is None:
            raise LogError(self._no_label(str(table["label"]), place))
        named = {k: None if table.get(k) is None else text_of(table[k], place) for k in ABOUT}
        votes = self._votes(table, others, place) if others else table.get("histogram")
        histogram = (
            self._histogram_of_id(named["id"], place)
            if votes is None
            else self._histogram_of(votes, place)
        )
        return _row(histogram, label, named, place)

    def _no_label(self, given: str, place: str) -> str:
        """The message on a label that is no number."""
        last = "" if self.classes is None else f" to {self.classes - 1}"
        refusals = f", or {REFUSAL} for a refusal" if self.may_refuse else ""
        expected = f"expected a class, from 0{last}{refusals}"
        return f"{place}: label {given[:60]!r} is not a whole number: {expected}"

    def _votes(self, table: Mapping[str, Any], names: Sequence[str], place: str) -> list[int]:
        """The votes of an object with a key for each class."""
        if self._columns is None or self._columns[0] != tuple(names):
            order = votes_among(names, range(len(names)), self.classes, place)
            self._columns = tuple(names), [names[i] for i in order]
        votes = []
        for name in self._columns[1]:
            number = _whole(table[name])
            if number is None:
                shown = f"{str(table[name])[:60]!r} in {name[:60]!r}"
                raise LogError(f"{place}: {shown} {_OF_VOTES}")
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
            cells = text.split(",")
            votes = [whole(cell) for cell in cells]
            if None in votes:
                bad = cells[votes.index(None)]
                raise LogError(f"{place}: {bad[:60]!r} {_OF_VOTES}")
            found = self._histogram_of(votes, place)
            if len(self._met) >= _REMEMBERED:
                self._met.clear()
            self._met[text] = found
        return found

    def _histogram_of(self, votes: Any, place: str) -> tuple[int, ...]:
        try:
            histogram = tuple(as_histogram(votes).tolist())
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise LogError(f"{place}: {str(error)[:200]}") from None
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


def _row(
    histogram: tuple[int, ...], label: int, named: Mapping[str, str | None], place: str
) -> Row:
    if not named:
        return Row(histogram, label)
    return Row(
        histogram,
        label,
        named.get("id"),
        seconds_of(named.get("time"), place),
        named.get("worker"),
        epsilon_of(named.get("charged"), place),
        named.get("client"),
        named.get("call"),
        named.get("time"),
    )
