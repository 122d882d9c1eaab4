"""The state of a monitor on disk, written in transactions."""

import fcntl
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .....reference.arrays import Vector
from .laws import Histogram
from .sealed import OTHER_VERSION, Sealed, StateError

_TABLES = {
    "state": "id INTEGER PRIMARY KEY CHECK (id = 0), claim TEXT NOT NULL, log TEXT NOT NULL, "
    "place TEXT, header TEXT, last_time REAL, learned BLOB NOT NULL",
    "histograms": "votes TEXT PRIMARY KEY, last INTEGER NOT NULL, times INTEGER NOT NULL, "
    "counts BLOB NOT NULL",
    "alarms": '"check" TEXT PRIMARY KEY, alarm TEXT NOT NULL, printed INTEGER NOT NULL, '
    "posted INTEGER NOT NULL",
    "inputs": "name TEXT PRIMARY KEY, votes TEXT NOT NULL, times INTEGER NOT NULL, "
    "counts BLOB NOT NULL",
}


@dataclass(frozen=True)
class Kept:
    """The state that a monitor last wrote.

    log: its name, see `log_name`; place: up to which it was read; learned: see `saved`.
    """

    log: str
    place: str | None
    header: str | None
    last_time: float | None
    learned: bytes


@dataclass(frozen=True)
class AnsweredInput:
    """An input, with counts (o,) of its outcomes, refusals last; name: its id, or its votes."""

    name: str
    votes: Histogram
    counts: Vector

    @property
    def times(self) -> int:
        """How often it was answered."""
        return int(self.counts.sum())


class Store:
    """A folder with the state of one monitor, which one process at a time may use.

    claim: as text; outcomes: how many there are. Raises StateError if the folder cannot be used, is
    in use, belongs to another claim, or is damaged.
    """

    def __init__(self, folder: str, claim: str, outcomes: int) -> None:
        self.claim, self.outcomes, self._where = claim, outcomes, f"--state {folder}"
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._lock = open(Path(folder) / "lock", "w")  # noqa: SIM115 - held until `close`
        except OSError as error:
            raise StateError(f"{self._where}: {error.strerror or error}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._base = Sealed(Path(folder) / "monitor.sqlite", self._where, _TABLES)
        except BlockingIOError:
            self._lock.close()
            raise StateError(f"{self._where}: another monitor is using it") from None
        except BaseException:
            self._lock.close()
            raise
        rows = self._base.rows("SELECT claim FROM state")
        if rows and rows[0][0] != claim:
            self.close()
            raise StateError(f"{self._where}: the state of another claim: expected a new folder")

    def kept(self) -> Kept | None:
        """The state that was last written; None if none was."""
        rows = self._base.rows("SELECT log, place, header, last_time, learned FROM state")
        return Kept(*rows[0]) if rows else None

    def of_another_log(self, name: str) -> StateError:
        """The error for a state that belongs to the log `name`."""
        return StateError(
            f"{self._where}: the state of another log, {name}: expected that log, or a new folder"
        )

    def of_another_version(self) -> StateError:
        """The error for a state that this version cannot read."""
        return self._base.error(OTHER_VERSION)

    def last(self, histograms: Iterable[Histogram]) -> dict[Histogram, int]:
        """The latest outcome of each of `histograms` that has one."""
        question, found = "SELECT last FROM histograms WHERE votes = ?", {}
        for votes in set(histograms):
            for row in self._base.rows(question, _text(votes)):
                found[votes] = int(row[0])
        return found

    def of_inputs(self, names: Iterable[str]) -> dict[str, tuple[Histogram, int | None]]:
        """Votes and label of inputs by id; label None where there were different ones."""
        question = "SELECT votes, counts FROM inputs WHERE name = ?"
        found: dict[str, tuple[Histogram, int | None]] = {}
        for name in set(names):
            for votes, counts in self._base.rows(question, name):
                came = np.flatnonzero(np.frombuffer(counts, dtype=np.int64)).tolist()
                found[name] = _votes(votes), came[0] if len(came) == 1 else None
        return found

    def most_asked(self, most: int) -> dict[Histogram, Vector]:
        """The `most` most frequent histograms, with counts (o,) of their outcomes."""
        return {
            one.votes: one.counts for one in self._most_frequent("histograms", "votes", 0, most)
        }

    def alarms(self) -> list[dict[str, Any]]:
        """The alarms so far in JSON form, by row."""
        rows = self._base.rows("SELECT alarm FROM alarms")
        return sorted((json.loads(row[0]) for row in rows), key=lambda alarm: int(alarm["row"]))

    def unreported(self, where: str) -> list[str]:
        """The checks whose alarm was not reported yet; where: `printed` or `posted`."""
        return [row[0] for row in self._base.rows(f'SELECT "check" FROM alarms WHERE {where} = 0')]

    def mark(self, check: str, where: str) -> None:
        """Records that an alarm was reported; where: `printed` or `posted`."""
        question = 'SELECT alarm, printed, posted FROM alarms WHERE "check" = ?'
        ((alarm, printed, posted),) = self._base.rows(question, check)
        marks = (1, posted) if where == "printed" else (printed, 1)
        with self._base.transaction():
            self._base.put("alarms", check, alarm, *marks)

    def write(
        self,
        kept: Kept,
        last: Mapping[Histogram, int],
        answered: Sequence[AnsweredInput],
        alarms: Mapping[str, dict[str, Any]],
    ) -> None:
        """Writes the state, new answers, and new alarms by check, in one transaction."""
        where = (kept.log, kept.place, kept.header, kept.last_time, kept.learned)
        with self._base.transaction():
            for check, alarm in alarms.items():
                self._base.put("alarms", check, json.dumps(alarm), 0, 0)
            for one in answered:
                self._add(one, last)
            self._base.put("state", 0, self.claim, *where)

    def most_answered(self, least: int, most: int) -> list[AnsweredInput]:
        """Up to `most` inputs and histograms with `least` answers or more, most frequent first."""
        found = self._most_frequent("inputs", "name", least, most)
        found += self._most_frequent("histograms", "votes", least, most)
        named = {one.votes for one in found if one.name != _text(one.votes)}
        kept = [one for one in found if one.name != _text(one.votes) or one.votes not in named]
        return sorted(kept, key=lambda one: -one.times)[:most]

    def _most_frequent(self, table: str, name: str, least: int, most: int) -> list[AnsweredInput]:
        """The most frequent rows of a table; name: its key."""
        columns, order = f"{name}, votes, counts", "times >= ? ORDER BY times DESC LIMIT ?"
        rows = self._base.rows(f"SELECT {columns} FROM {table} WHERE {order}", least, most)
        return [AnsweredInput(n, _votes(v), np.frombuffer(c, dtype=np.int64)) for n, v, c in rows]

    def close(self) -> None:
        """Closes the file, and releases the folder."""
        self._base.close()
        self._lock.close()

    def _add(self, answered: AnsweredInput, last: Mapping[Histogram, int]) -> None:
        """Adds answers to an input with an id, or to a histogram."""
        votes = _text(answered.votes)
        by_name = answered.name != votes
        table, key = ("inputs", "name") if by_name else ("histograms", "votes")
        counts = np.asarray(answered.counts, dtype=np.int64)
        question = f"SELECT counts FROM {table} WHERE {key} = ?"
        for row in self._base.rows(question, answered.name):
            counts = counts + np.frombuffer(row[0], dtype=np.int64)
        second = votes if by_name else int(last[answered.votes])
        self._base.put(table, answered.name, second, int(counts.sum()), counts.tobytes())


def _text(votes: Histogram) -> str:
    return ",".join(map(str, votes))


def _votes(text: str) -> Histogram:
    return tuple(int(v) for v in text.split(","))
