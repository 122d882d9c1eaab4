"""Answers of a language model on disk, so that a run that was ended goes on where it was."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, label INTEGER NOT NULL)"
_AT_ONCE = 500  # keys in one question: SQLite takes 999 and more


def answer_key(identity: Sequence[str], classes: int, text: str) -> str:
    """A hash of all that an answer depends on: model, way of asking, classes, prompt."""
    parts = json.dumps([*identity, classes, text])  # lengths are told apart, unlike in a plain join
    return hashlib.sha256(parts.encode()).hexdigest()


@dataclass(frozen=True)
class AnswerCache:
    """Labels by `answer_key` in a file of SQLite, which several processes may share.

    What `kept` was given is on disk when it returns, all of it or nothing. Raises ValueError for a
    file that is no such cache, or cannot be written.
    """

    path: Path

    def found(self, keys: Sequence[str]) -> dict[str, int]:
        """The labels of those keys that are there."""
        labels: dict[str, int] = {}
        with self._open() as file:
            for start in range(0, len(keys), _AT_ONCE):
                part = list(keys[start : start + _AT_ONCE])
                marks = ",".join("?" * len(part))
                rows = file.execute(f"SELECT key, label FROM answers WHERE key IN ({marks})", part)
                labels.update(rows.fetchall())
        return labels

    def kept(self, labels: Mapping[str, int]) -> dict[str, int]:
        """Adds labels, and returns those that the file then has: the first one of a key stays."""
        with self._open() as file:
            file.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", labels.items())
        return self.found(list(labels))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=60.0)) as file, file:
                file.execute(_TABLE)
                yield file
        except sqlite3.Error as error:
            raise ValueError(f"cache of answers {self.path}: {error}") from None
