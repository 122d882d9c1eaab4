"""A language model as the teacher: prompts become text, answers become votes, and are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .answer_cache import AnswerCache, answer_key
from .prompts import Prompt, Queries, checked_label, rendered


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
