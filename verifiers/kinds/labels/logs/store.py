"""The state of a monitor on disk, written in transactions."""

import fcntl
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .....reference.arrays import Vector
from .sealed import Sealed, StateError

Votes = tuple[int, ...]

_TABLES = {
    "state": "id INTEGER PRIMARY KEY CHECK (id = 0), claim TEXT NOT NULL, log TEXT NOT NULL, "
    "place TEXT, header TEXT, last_time REAL, evidence BLOB NOT NULL, more TEXT NOT NULL",
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

    log: its name, see `log_name`; place: up to which it was read; more: further state as JSON.
    """

    log: str
    place: str | None
    header: str | None
    last_time: float | None
    evidence: bytes
    more: dict[str, Any]


@dataclass(frozen=True)
class Group:
    """An input, with counts (o,) of its outcomes, refusals last; name: its id, or its votes."""

    name: str
    votes: Votes
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
        columns = "log, place, header, last_time, evidence, more"
        for log, place, header, time, evidence, more in self._base.rows(
            f"SELECT {columns} FROM state"
        ):
            return Kept(log, place, header, time, evidence, json.loads(more))
        return None

    def of_another_log(self, name: str) -> StateError:
        """The error for a state that belongs to the log `name`."""
        return StateError(
            f"{self._where}: the state of another log, {name}: expected that log, or a new folder"
        )

    def of_another_version(self) -> StateError:
        """The error for a state that this version cannot read."""
        return self._base.of_another_version()

    def last(self, histograms: Iterable[Votes]) -> dict[Votes, int]:
        """The latest outcome of each of `histograms` that has one."""
        question, found = "SELECT last FROM histograms WHERE votes = ?", {}
        for votes in set(histograms):
            for row in self._base.rows(question, _text(votes)):
                found[votes] = int(row[0])
        return found

    def of_inputs(self, names: Iterable[str]) -> dict[str, tuple[Votes, int | None]]:
        """Votes and label of inputs by id; label None where there were different ones."""
        question = "SELECT votes, counts FROM inputs WHERE name = ?"
        found: dict[str, tuple[Votes, int | None]] = {}
        for name in set(names):
            for votes, counts in self._base.rows(question, name):
                came = np.flatnonzero(np.frombuffer(counts, dtype=np.int64)).tolist()
                found[name] = _votes(votes), came[0] if len(came) == 1 else None
        return found

    def asked(self, most: int) -> dict[Votes, Vector]:
        """The `most` most frequent histograms, with counts (o,) of their outcomes."""
        question = "SELECT votes, counts FROM histograms ORDER BY times DESC LIMIT ?"
        rows = self._base.rows(question, most)
        return {_votes(votes): np.frombuffer(counts, dtype=np.int64) for votes, counts in rows}

    def alarms(self) -> list[dict[str, Any]]:
        """The alarms so far in JSON form, by row."""
        rows = self._base.rows("SELECT alarm FROM alarms")
        return sorted((json.loads(row[0]) for row in rows), key=lambda alarm: int(alarm["row"]))

    def untold(self, where: str) -> list[str]:
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
        last: Mapping[Votes, int],
        answered: Sequence[Group],
        alarms: Mapping[str, dict[str, Any]],
    ) -> None:
        """Writes the state, new answers, and new alarms by check, in one transaction."""
        where = (kept.log, kept.place, kept.header, kept.last_time)
        with self._base.transaction():
            for check, alarm in alarms.items():
                self._base.put("alarms", check, json.dumps(alarm), 0, 0)
            for group in answered:
                self._add(group, last)
            self._base.put("state", 0, self.claim, *where, kept.evidence, json.dumps(kept.more))

    def most_answered(self, least: int, most: int) -> list[Group]:
        """Up to `most` inputs and histograms with `least` answers or more, most frequent first."""
        found: list[Group] = []
        for table, name in (("inputs", "name"), ("histograms", "votes")):
            rows = self._base.rows(
                f"SELECT {name}, votes, counts FROM {table} WHERE times >= ? "
                "ORDER BY times DESC LIMIT ?",
                least,
                most,
            )
            found += [Group(n, _votes(v), np.frombuffer(c, dtype=np.int64)) for n, v, c in rows]
        named = {group.votes for group in found if group.name != _text(group.votes)}
        kept = [g for g in found if g.name != _text(g.votes) or g.votes not in named]
        return sorted(kept, key=lambda group: -group.times)[:most]

    def close(self) -> None:
        """Closes the file, and releases the folder."""
        self._base.close()
        self._lock.close()

    def _add(self, group: Group, last: Mapping[Votes, int]) -> None:
        """Adds answers to an input with an id, or to a histogram."""
        votes = _text(group.votes)
        by_name = group.name != votes
        table, key = ("inputs", "name") if by_name else ("histograms", "votes")
        counts = np.asarray(group.counts, dtype=np.int64)
        for row in self._base.rows(f"SELECT counts FROM {table} WHERE {key} = ?", group.name):
            counts = counts + np.frombuffer(row[0], dtype=np.int64)
        times, blob = int(counts.sum()), counts.tobytes()
        second = votes if by_name else int(last[group.votes])
        self._base.put(table, group.name, second, times, blob)


def _text(votes: Votes) -> str:
    return ",".join(map(str, votes))


def _votes(text: str) -> Votes:
    return tuple(int(v) for v in text.split(","))
