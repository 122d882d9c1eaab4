"""The state of a monitor on disk: what was read, and all that it showed, in one transaction."""

import fcntl
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...reference.arrays import Vector
from ..inputs.release_log import LogError

Votes = tuple[int, ...]

_TABLES = """
CREATE TABLE IF NOT EXISTS state (
    id INTEGER PRIMARY KEY CHECK (id = 0), claim TEXT NOT NULL, place TEXT, header TEXT,
    last_time REAL, evidence BLOB NOT NULL, more TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS histograms (
    votes TEXT PRIMARY KEY, last INTEGER NOT NULL, times INTEGER NOT NULL, counts BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS alarms (
    "check" TEXT PRIMARY KEY, alarm TEXT NOT NULL, printed INTEGER NOT NULL, posted INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inputs (
    name TEXT PRIMARY KEY, votes TEXT NOT NULL, times INTEGER NOT NULL, counts BLOB NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Kept:
    """What a monitor knew when it last wrote: place: in the log; more: whatever else it keeps."""

    place: str | None
    header: str | None
    last_time: float | None
    evidence: bytes
    more: dict[str, Any]


@dataclass(frozen=True)
class Group:
    """An input and what was answered to it: counts (o,) of outcomes, a refusal last.

    name: what the log calls it, or its votes.
    """

    name: str
    votes: Votes
    counts: Vector

    @property
    def times(self) -> int:
        """How often it was answered."""
        return int(self.counts.sum())


class Store:
    """A folder with the state of one monitor; one process at a time may hold it.

    claim: in a text that tells claims apart. Raises LogError where the folder cannot be used, is
    held by another process, or belongs to another claim.
    """

    def __init__(self, folder: str, claim: str, outcomes: int) -> None:
        self.folder, self.claim, self.outcomes = folder, claim, outcomes
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._lock = open(Path(folder) / "lock", "w")  # noqa: SIM115 - held until `close`
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise LogError(f"--state {folder}: another monitor is using it") from None
        except OSError as error:
            raise LogError(f"--state {folder}: {error.strerror or error}") from None
        try:
            self._base = sqlite3.connect(Path(folder) / "monitor.sqlite", isolation_level=None)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.executescript(_TABLES)
            row = self._base.execute("SELECT claim FROM state").fetchone()
        except sqlite3.Error as error:
            self._lock.close()
            raise LogError(f"--state {folder}: no state of a monitor: {error}") from None
        if row is not None and row[0] != claim:
            self.close()
            raise LogError(f"--state {folder}: the state of another claim: expected a new folder")

    def kept(self) -> Kept | None:
        """What was written last; None in a new folder."""
        columns = "place, header, last_time, evidence, more"
        with self._usable():
            row = self._base.execute(f"SELECT {columns} FROM state").fetchone()
        return None if row is None else Kept(row[0], row[1], row[2], row[3], json.loads(row[4]))

    def last(self, histograms: Iterable[Votes]) -> dict[Votes, int]:
        """The outcome that came last for each of some histograms, where one did."""
        found = {}
        with self._usable():
            for votes in set(histograms):
                row = self._base.execute(
                    "SELECT last FROM histograms WHERE votes = ?", (_text(votes),)
                ).fetchone()
                if row is not None:
                    found[votes] = int(row[0])
        return found

    def of_inputs(self, names: Iterable[str]) -> dict[str, tuple[Votes, int | None]]:
        """Votes and label of inputs that have a name; no label where there were several."""
        found: dict[str, tuple[Votes, int | None]] = {}
        with self._usable():
            for name in set(names):
                row = self._base.execute(
                    "SELECT votes, counts FROM inputs WHERE name = ?", (name,)
                ).fetchone()
                if row is not None:
                    came = np.flatnonzero(np.frombuffer(row[1], dtype=np.int64)).tolist()
                    found[name] = _votes(row[0]), came[0] if len(came) == 1 else None
        return found

    def asked(self, most: int) -> dict[Votes, Vector]:
        """The histograms asked most often, `most` of them, and the counts of their outcomes."""
        query = "SELECT votes, counts FROM histograms ORDER BY times DESC LIMIT ?"
        with self._usable():
            rows = self._base.execute(query, (most,)).fetchall()
        return {_votes(votes): np.frombuffer(counts, dtype=np.int64) for votes, counts in rows}

    def alarms(self) -> list[dict[str, Any]]:
        """All alarms so far, by row."""
        with self._usable():
            rows = self._base.execute("SELECT alarm FROM alarms").fetchall()
        return sorted((json.loads(row[0]) for row in rows), key=lambda alarm: int(alarm["row"]))

    def untold(self, where: str) -> list[str]:
        """The checks whose alarm has not been told yet; where: `printed` or `posted`."""
        with self._usable():
            rows = self._base.execute(f'SELECT "check" FROM alarms WHERE {where} = 0').fetchall()
        return [row[0] for row in rows]

    def mark(self, check: str, where: str) -> None:
        """Notes that an alarm was told."""
        with self._usable():
            self._base.execute(f'UPDATE alarms SET {where} = 1 WHERE "check" = ?', (check,))

    def write(
        self,
        kept: Kept,
        last: Mapping[Votes, int],
        answered: Sequence[Group],
        alarms: Mapping[str, dict[str, Any]],
    ) -> None:
        """All or nothing: the state, what was answered since, and new alarms by their check."""
        with self._usable(), self._transaction():
            for check, alarm in alarms.items():
                values = (check, json.dumps(alarm))
                self._base.execute("INSERT OR IGNORE INTO alarms VALUES (?, ?, 0, 0)", values)
            for group in answered:
                self._add(group, last)
            self._base.execute(
                "REPLACE INTO state VALUES (0, ?, ?, ?, ?, ?, ?)",
                (
                    self.claim,
                    kept.place,
                    kept.header,
                    kept.last_time,
                    kept.evidence,
                    json.dumps(kept.more),
                ),
            )

    def most_answered(self, least: int, most: int) -> list[Group]:
        """Inputs and histograms answered at least so often, the most frequent first."""
        found: list[Group] = []
        with self._usable():
            for table, name in (("inputs", "name"), ("histograms", "votes")):
                rows = self._base.execute(
                    f"SELECT {name}, votes, counts FROM {table} WHERE times >= ? "
                    "ORDER BY times DESC LIMIT ?",
                    (least, most),
                )
                found += [Group(n, _votes(v), np.frombuffer(c, dtype=np.int64)) for n, v, c in rows]
        named = {group.votes for group in found if group.name != _text(group.votes)}
        kept = [g for g in found if g.name != _text(g.votes) or g.votes not in named]
        return sorted(kept, key=lambda group: -group.times)[:most]

    def close(self) -> None:
        """Gives the folder back."""
        self._base.close()
        self._lock.close()

    def _add(self, group: Group, last: Mapping[Votes, int]) -> None:
        """Adds answers to an input that has a name, or to a histogram."""
        votes = _text(group.votes)
        by_name = group.name != votes
        table, key = ("inputs", "name") if by_name else ("histograms", "votes")
        row = self._base.execute(
            f"SELECT counts FROM {table} WHERE {key} = ?", (group.name,)
        ).fetchone()
        counts = np.asarray(group.counts, dtype=np.int64)
        if row is not None:
            counts = counts + np.frombuffer(row[0], dtype=np.int64)
        times, blob = int(counts.sum()), counts.tobytes()
        if by_name:
            values: tuple[object, ...] = (group.name, votes, times, blob)
        else:
            values = (votes, last[group.votes], times, blob)
        self._base.execute(f"REPLACE INTO {table} VALUES (?, ?, ?, ?)", values)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Raises LogError where the state can no longer be read or written."""
        try:
            yield
        except sqlite3.Error as error:
            raise LogError(f"--state {self.folder}: {error}") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")


def _text(votes: Votes) -> str:
    return ",".join(map(str, votes))


def _votes(text: str) -> Votes:
    return tuple(int(v) for v in text.split(","))
