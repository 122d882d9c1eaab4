"""Teachers that are prompts: how they vote, and how the votes change with one of them."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..laws import tallied
from .prompts import Prompt, Queries

Votes = NDArray[np.int64]


class PromptTeacher(Protocol):
    """A classifier that is told by a prompt what to do: a language model, or a stand-in for one."""

    def __call__(self, prompt: Prompt, queries: Queries) -> Votes:
        """Labels (queries,) from 0 to c - 1; the same ones for the same prompt and queries."""


def votes_of(teacher: PromptTeacher, prompts: Iterable[Prompt], queries: Queries) -> Votes:
    """Labels (prompts, queries) of one teacher a prompt.

    `prompts` is gone through once, so that it may be wrapped to show progress. Raises ValueError
    for no prompts, prompts of other numbers of classes, and replies that are no labels.
    """
    rows: list[Votes] = []
    classes: int | None = None
    for place, prompt in enumerate(prompts):
        classes = prompt.classes if classes is None else classes
        if prompt.classes != classes:
            raise ValueError(f"prompt {place} has {prompt.classes} classes, those before {classes}")
        rows.append(_checked(teacher(prompt, queries), prompt, len(queries), place))
    if not rows:
        raise ValueError("no prompts: expected one for each teacher")
    return np.array(rows)


def altered(
    teacher: PromptTeacher, votes: Votes, place: int, prompt: Prompt, queries: Queries
) -> Votes:
    """Histograms (queries, c) in the neighbouring world, where one teacher has another prompt.

    votes: (teachers, queries), from `votes_of`; place: of the teacher. The other teachers are not
    asked: a row differs from that of `tallied(votes, c)` by one vote moved, or not at all. Raises
    ValueError for a place that no teacher has, and votes on another number of queries.
    """
    if votes.ndim != 2 or votes.shape[1] != len(queries):
        raise ValueError(f"votes of shape {votes.shape}: expected {len(queries)} for each teacher")
    if not 0 <= place < len(votes):
        raise ValueError(f"place {place}: expected that of a teacher, 0 to {len(votes) - 1}")
    there = votes.copy()
    there[place] = _checked(teacher(prompt, queries), prompt, len(queries), place)
    return tallied(there, prompt.classes)


def _checked(reply: Votes, prompt: Prompt, queries: int, place: int) -> Votes:
    labels = np.asarray(reply)
    if labels.shape != (queries,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"teacher {place} replied with {labels.dtype} of shape {labels.shape}: "
            f"expected whole numbers of shape ({queries},)"
        )
    wrong = (labels < 0) | (labels >= prompt.classes)
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"teacher {place} replied {labels[at]} to query {at}: "
            f"expected a label from 0 to {prompt.classes - 1}"
        )
    return labels.astype(np.int64)
