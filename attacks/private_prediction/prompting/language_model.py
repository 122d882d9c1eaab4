"""A language model as the teacher: prompts become text, answers become votes, and are kept."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .prompts import Prompt, Queries, checked_label, rendered

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


class LanguageModel(Protocol):
    """What answers texts with labels; `CausalModel` is one, by transformers."""

    @property
    def identity(self) -> tuple[str, ...]:
        """What answers depend on, apart from the text and the number of classes."""

    def labels(self, texts: Sequence[str], classes: int) -> list[int]:
        """One label from 0 to c - 1 for each text."""


@dataclass(frozen=True, eq=False)
class LanguageModelTeacher:
    """A `PromptTeacher` that asks a language model, of each text once.

    cache: a file for its answers, made where it is absent; None keeps none. batch: texts asked at
    once; those answered are kept before the next ones are asked, so that a run that is ended loses
    one batch. The first answer kept counts for all runs and processes that share the file, even
    where other texts in a batch would change the last bits of a score: votes stay as they are.
    """

    model: LanguageModel
    cache: Path | None = None
    batch: int = 16

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"batch {self.batch}: expected one text or more")

    def __call__(self, prompt: Prompt, queries: Queries) -> NDArray[np.int64]:
        """Labels (queries,); ValueError for queries that are not text, and replies of no label."""
        texts = [rendered(prompt, query) for query in queries]
        keys = [answer_key(self.model.identity, prompt.classes, text) for text in texts]
        kept = AnswerCache(self.cache) if self.cache is not None else None
        labels = kept.found(list(dict.fromkeys(keys))) if kept else {}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in labels}
        open_keys = list(missing)
        for start in range(0, len(open_keys), self.batch):
            part = open_keys[start : start + self.batch]
            fresh = self._asked(part, [missing[key] for key in part], prompt.classes)
            labels.update(kept.kept(fresh) if kept else fresh)
        return np.array([labels[key] for key in keys], dtype=np.int64)

    def _asked(self, keys: list[str], texts: list[str], classes: int) -> dict[str, int]:
        replies = self.model.labels(texts, classes)
        if len(replies) != len(texts):
            raise ValueError(f"{len(replies)} replies of the language model to {len(texts)} texts")
        checked = [
            checked_label(reply, classes, "reply of the language model") for reply in replies
        ]
        return dict(zip(keys, checked, strict=True))
