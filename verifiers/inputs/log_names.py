"""What a log calls its columns and its labels, where a claim says it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...reference import REFUSAL
from ..text import nearest
from .cells import LogError, epsilon_of, seconds_of, text_of, whole
from .csv_rows import INDEX
from .input_error import ColumnsError

Layout = tuple[dict[str, int], list[int]]
"""Indices of columns: of each of dpassay's names, and of those that may be of votes."""


class Row(NamedTuple):
    """One release: a histogram (c,) and the label drawn for it, -1 for a refusal.

    key: the id of the input, if any; time: in seconds of the log's clock; time_text: as the log has
    it; charged: the epsilon that the deployment charged for this release; worker, client, call: as
    the log names them; more: of the columns that the claim names beyond these.
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
    more: tuple[str | None, ...] = ()


def row_of(
    histogram: tuple[int, ...],
    label: int,
    named: Mapping[str, str | None],
    place: str,
    more: tuple[str | None, ...] = (),
) -> Row:
    """The row; named: its other cells, by name; more: as `Row` has it. Raises LogError."""
    if not named and not more:
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
        more,
    )


_LISTED = 30
"""Most names that a message lists."""


@dataclass(frozen=True)
class LogNames:
    """The names of `[log]`.

    Attributes:
        columns: name of dpassay's, as `label` or `time` -> name in the log.
        votes: the columns of votes, in the order of the classes; none where the claim names none.
        labels: what stands for the classes, in their order; none for their numbers.
        refusals: what stands for a refusal; none for -1.
        more: further columns by whose values rows are told apart.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    votes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    _layouts: dict[tuple[str, ...], Layout] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Of the keys of the latest object, as most have the same."""

    def places(
        self, names: Sequence[str], known: Sequence[str], place: str, *, all_of_them: bool = True
    ) -> Layout:
        """Where columns stand: those of dpassay's names, and those that may be of votes.

        Args:
            names: of the columns, in lower case.
            known: dpassay's names of columns; those that the claim does not rename may be missing.
            place: of the header, for messages.
            all_of_them: whether all that the claim names must be there, not label and votes alone.

        Raises:
            ColumnsError: the claim names a column that is not there, or there twice.
        """
        given = [
            *self.columns.items(),
            *(("histogram", name) for name in self.votes),
            *(("columns", name) for name in self.more),
        ]
        for key, name in given:
            times = names.count(lower(name))
            if times > 1 or (times == 0 and (all_of_them or key in ("label", "histogram"))):
                wrong = "no column" if times == 0 else f"{times} columns"
                raise ColumnsError(
                    f"{place}: {wrong} named {name[:60]!r} (log.{key} of the claim): expected one "
                    f"of {_listed(names)}{_meant(name, names)}"
                )
        taken = {*map(lower, (*self.columns.values(), *self.votes, *self.more))}
        own = {one: lower(self.columns[one]) for one in known if one in self.columns}
        own |= {one: one for one in known if one not in self.columns and one not in taken}
        named = {one: names.index(name) for one, name in own.items() if name in names}
        votes = {*map(lower, self.votes)} or {*names} - {*known} - taken
        return named, [i for i, name in enumerate(names) if name in votes]

    def order(self, names: Sequence[str], among: Sequence[int], place: str) -> list[int] | None:
        """The indices of the columns of votes, by class; None where the claim does not say them.

        Args:
            names: of all columns, in lower case.
            among: the indices of those that may be of votes.
            place: of the header, for messages.

        Raises:
            ColumnsError: several sets of columns are named after the classes, or only some are.
        """
        if self.votes:
            return [names.index(lower(name)) for name in self.votes]
        labels = [*map(lower, self.labels)]
        if not all(labels) or len({*labels}) < max(len(labels), 1):
            return None
        known, first = {names[i]: i for i in among}, labels[0]
        around = {
            (name[:at], name[at + len(first) :])
            for name in known
            for at in range(len(name))
            if name.startswith(first, at)
        }
        sets = [[before + label + after for label in labels] for before, after in sorted(around)]
        sets = [each for each in sets if known.keys() >= {*each}]
        if len(sets) == 1:
            return [known[name] for name in sets[0]]
        words = [label for label in labels if not label.isdecimal() and len(label) > 1]
        some = [name for name in known if any(_is_part(word, name) for word in words)]
        if sets or some:
            why = (
                "more than one set of columns is" if sets else f"of all columns {_listed(some)} is"
            )
            raise ColumnsError(
                f"{place}: {why} named after log.labels: expected histogram = [...] in [log], the "
                f"columns of votes in the order of the classes; found {_listed([*known])}"
            )
        return None

    def rename(self, table: Mapping[str, Any], known: Sequence[str], place: str) -> dict[str, Any]:
        """An object of JSON Lines with dpassay's names, and those of votes in lower case.

        known: dpassay's names, of which only the first object needs all that the claim renames.
        Raises ColumnsError.
        """
        names = (*map(lower, table),)
        if names not in self._layouts:
            found = self.places(names, known, place, all_of_them=not self._layouts)
            self._layouts.clear()
            self._layouts[names] = found
        named, votes = self._layouts[names]
        values = [*table.values()]
        renamed = {own: values[i] for own, i in named.items()}
        if "histogram" not in renamed:
            renamed |= {names[i]: values[i] for i in votes if names[i] not in INDEX}
        return renamed

    def more_of(self, table: Mapping[str, Any], place: str) -> tuple[str | None, ...]:
        """The cells of the further columns in an object of JSON Lines. Raises LogError."""
        if not self.more:
            return ()
        cells = {lower(key): value for key, value in table.items()}
        found = (cells.get(lower(name)) for name in self.more)
        return tuple(None if cell is None else text_of(cell, place) for cell in found)

    @property
    def of_labels(self) -> bool:
        """Whether labels or refusals have names of their own."""
        return bool(self.labels or self.refusals)

    def label(self, given: Any, place: str, *, refuses: bool) -> int:
        """The class that a label names, -1 for a refusal.

        Args:
            given: as the log has it, None where nothing stands there.
            place: for messages.
            refuses: whether there may be refusals.

        Raises:
            LogError: no class has that name.
        """
        text = "" if given is None else str(given).strip()
        number = whole(text)
        plain = text if number is None else str(number)  # frames write 1.0 for 1
        refusals = self.refusals or (str(REFUSAL),)
        refused = text in refusals or plain in refusals
        if refused and refuses:
            return REFUSAL
        if not refused and not self.labels and number is not None:
            return number
        if not refused and (text in self.labels or plain in self.labels):
            return self.labels.index(text if text in self.labels else plain)
        wrong = ": " if not refused else _NO_REFUSALS
        marks = f", or {' or '.join(map(repr, refusals))} for a refusal" if refuses else ""
        allowed = _listed([*map(repr, self.labels)]) or "a class, from 0"
        said = "" if self.refusals or not refuses else "; refusal_labels in [log] names others"
        raise LogError(
            f"{place}: label {text[:60]!r}{wrong}expected {allowed}{marks}"
            f"{_meant(text, self.labels)}{said}"
        )


_NO_REFUSALS = (
    ' is a refusal, of which a log of this claim has none (name = "confident-gnmax" refuses): '
)

PLAIN = LogNames()
"""The names of a log whose claim has no `[log]`: dpassay's own."""


def lower(name: str) -> str:
    """The name of a column as it is compared."""
    return name.strip().lower()


def _is_part(word: str, name: str) -> bool:
    """Whether a word stands in a name, between underscores, other signs, or its ends."""
    return re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", name) is not None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(name[:30] for name in names[:_LISTED]) + more


def _meant(given: str, known: Sequence[str]) -> str:
    """The name that one which is unknown resembles, in brackets; empty for none."""
    near = nearest(given.strip(), known)
    return f" (did you mean {near!r}?)" if near else ""
