"""The state of a monitor on disk, written in transactions, with that of its evidence as bytes."""

import fcntl
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .....reference.arrays import Vector
from ....evidence.onset import CellEvidence, OnsetEvidence
from ....evidence.scale import ScaleEvidence
from .judge import LogEvidence, Window
from .laws import Histogram
from .sealed import OTHER_VERSION, Sealed, StateError
from .strata import OF_STRATA

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
        columns = "log, place, header, last_time, evidence, more"
        rows = self._base.rows(f"SELECT {columns} FROM state")
        if not rows:
            return None
        log, place, header, time, evidence, more = rows[0]
        return Kept(log, place, header, time, evidence, json.loads(more))

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
        where = (kept.log, kept.place, kept.header, kept.last_time)
        with self._base.transaction():
            for check, alarm in alarms.items():
                self._base.put("alarms", check, json.dumps(alarm), 0, 0)
            for one in answered:
                self._add(one, last)
            self._base.put("state", 0, self.claim, *where, kept.evidence, json.dumps(kept.more))

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


_COUNTS = ("asked", "rows", "other_totals", "named", "refused", "by_input", "missed")


def bytes_of(evidence: LogEvidence) -> bytes:
    """The state on which later rows depend, except for the latest labels, which are in the store.

    Numbers keep every bit. See `restore`.
    """
    arrays = {
        name: np.asarray(getattr(part, field)) for name, (part, field) in _parts(evidence).items()
    }
    for at, party in enumerate(evidence.parties):
        for field in OnsetEvidence.SAVED:
            each = [getattr(one, field) for one in party.evidence.values()]
            arrays[f"party{at}.{field}"] = np.array(each)
        arrays[f"party{at}.log_values"] = np.array(party.log_values)
    arrays |= evidence.strata.arrays()
    fields = {
        "strata": evidence.strata.keys(),
        "parties": [list(party.evidence) for party in evidence.parties],
        "sides": [[s.value, s.names, list(s.seen.items())] for s in evidence.sides],
        "highest": evidence.highest,
        "found_after": evidence.found_after,
        "contradiction": evidence.contradiction,
        "window": evidence.window,
        "lately_from": evidence.lately_from,
        "alternatives": [cause.message for cause in evidence.alternatives.causes],
        "workers": list(evidence.copies.of_worker.items()),
        "random": evidence.rng.bit_generator.state,
    }
    kept = io.BytesIO()
    np.savez(kept, told=np.array(json.dumps(fields)), **arrays)  # type: ignore[arg-type]
    return kept.getvalue()


def restore(evidence: LogEvidence, kept: bytes) -> None:
    """Restores a state that was saved for the same claim.

    Raises ValueError or KeyError for the state of another version.
    """
    with np.load(io.BytesIO(kept), allow_pickle=False) as file:
        arrays = dict(file)
    state: dict[str, Any] = json.loads(str(arrays.pop("told")))
    strata = {name: arrays.pop(name) for name in [*arrays] if name.startswith(OF_STRATA)}
    parts, of_party = _parts(evidence), (*OnsetEvidence.SAVED, "log_values")
    # states from before wagers on hours, or on strata, go on; those begin with the next row
    parties = list(zip(evidence.parties, state["parties"], strict=False))
    known = {f"party{at}.{field}" for at in range(len(parties)) for field in of_party}
    if arrays.keys() != parts.keys() | known:
        raise ValueError("it has other parts")
    if state["alternatives"] != [cause.message for cause in evidence.alternatives.causes]:
        raise ValueError("it has other alternatives to the claim")
    for name, (part, field) in parts.items():
        _put(part, field, arrays[name])
    for at, (party, names) in enumerate(parties):
        for k, one in enumerate(map(party.follow, names)):
            for field in OnsetEvidence.SAVED:
                _put(one, field, arrays[f"party{at}.{field}"][k])
        party.log_values = arrays[f"party{at}.log_values"].tolist()
    if strata:
        evidence.strata.restore(state["strata"], strata)
    evidence.highest, evidence.found_after = state["highest"], state["found_after"]
    evidence.contradiction = state["contradiction"]
    if "lately_from" in state:  # states from before it did not say which rows their window had
        evidence.lately_from = state["lately_from"]
        if state["window"] is not None:
            first, last, interval = state["window"]
            between = None if interval is None else (interval[0], interval[1])
            evidence.window = Window(first, last, between)
    evidence.copies.of_worker = dict(state["workers"])
    for side, (value, names, seen) in zip(evidence.sides, state["sides"], strict=True):
        side.value, side.names, side.seen = value, names, dict(seen)
    evidence.rng.bit_generator.state = state["random"]


def _put(part: Any, field: str, value: Any) -> None:
    """Sets an attribute that is an array or a whole number."""
    whole = not isinstance(getattr(part, field), np.ndarray)
    setattr(part, field, int(value) if whole else value.copy())


def _parts(evidence: LogEvidence) -> dict[str, tuple[Any, str]]:
    """Arrays and whole numbers of the evidence: name in the state -> part and attribute."""
    by_rank, by_number = evidence.cells
    copies, lagged = evidence.copies, evidence.lagged
    parts: dict[str, tuple[Any, tuple[str, ...]]] = {
        "evidence": (evidence, _COUNTS),
        "pointed": (evidence.pointed, OnsetEvidence.SAVED),
        "by_rank": (by_rank, CellEvidence.SAVED),
        "by_number": (by_number, CellEvidence.SAVED),
        "copies": (copies, ("repeated", "missed", "before")),
        "of_copies": (copies.evidence, OnsetEvidence.SAVED),
        "lagged": (lagged, ("last",)),
        "of_lagged": (lagged.evidence, OnsetEvidence.SAVED),
        "scale": (evidence.scale, ScaleEvidence.SAVED),
        "lately": (evidence.lately, ScaleEvidence.SAVED),
    }
    for at, side in enumerate(evidence.sides):
        parts[f"side{at}"] = side, ("latest", "paired")
        parts[f"of_side{at}"] = side.evidence, OnsetEvidence.SAVED
    return {
        f"{n}.{field}": (part, field) for n, (part, fields) in parts.items() for field in fields
    }
