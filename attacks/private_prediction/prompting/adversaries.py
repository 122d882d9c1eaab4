"""Prompts that an adversary puts in the place of one teacher's.

Nat-MIAQ and Pois-MIAQ ask the query of their example, again and again; Pois-MINQ has four prompts,
and asks natural queries (Chadha et al. 2024, arXiv 2402.09403, appendix E.2).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .prompts import Prompt, Queries, Query, checked_label


def natural(prompt: Prompt, query: Query, label: int, place: int = 0) -> Prompt:
    """Nat-MIAQ: the query, with its right label, in place of one example of the teacher's."""
    return _with_example(prompt, query, label, place)


def poisoned(prompt: Prompt, query: Query, label: int, wrong: int, place: int = 0) -> Prompt:
    """Pois-MIAQ: the query, whose right label is `label`, with a wrong one for an example.

    Raises ValueError where `wrong` is right, and for a place that has no example.
    """
    checked_label(label, prompt.classes, "label")
    checked_label(wrong, prompt.classes, "wrong")
    if wrong == label:
        raise ValueError(f"wrong {wrong}: expected another label than the right one")
    return _with_example(prompt, query, wrong, place)


def confident(
    prompt: Prompt,
    votes: NDArray[np.int64],
    queries: Queries,
    labels: NDArray[np.int64],
    rng: np.random.Generator,
) -> Prompt:
    """Pois-MINQ (Confident): the query on which most teachers agree, mislabelled, as the example.

    votes: histograms (queries, c); labels: right ones (queries,); rng breaks ties of queries. The
    prompt has this one example. Raises ValueError for votes, queries and labels that do not match.
    """
    counts, right = _checked(prompt, votes, labels, len(queries))
    chosen = _chosen(counts.max(axis=1), rng)
    return _mislabelled(prompt, queries[chosen], counts[chosen], int(right[chosen]))


def unconfident(
    prompt: Prompt,
    votes: NDArray[np.int64],
    queries: Queries,
    labels: NDArray[np.int64],
    rng: np.random.Generator,
) -> Prompt:
    """Pois-MINQ (Unconfident): the query whose two largest counts are nearest, mislabelled.

    As `confident` otherwise.
    """
    counts, right = _checked(prompt, votes, labels, len(queries))
    largest = np.sort(counts, axis=1)
    chosen = _chosen(largest[:, -2] - largest[:, -1], rng)
    return _mislabelled(prompt, queries[chosen], counts[chosen], int(right[chosen]))


def all_same(prompt: Prompt, label: int) -> Prompt:
    """Pois-MINQ (All same): a prompt that demands one label, whatever is asked."""
    return replace(prompt, examples=(), always=label, mapping=None)


def wrong_mapping(prompt: Prompt, votes: NDArray[np.int64]) -> Prompt:
    """Pois-MINQ (Mapping): each class has the number of the class most often second behind it.

    votes: histograms (queries, c). The teacher keeps its examples, whose numbers change with those
    of their classes. Classes that share the second place count a part of it each, and a query on
    which all teachers agree has none. A class that nobody is ever second to gets the number of the
    one with most votes apart from it; of equals the lowest number counts.
    """
    counts = _histograms(prompt, votes)
    mapping = tuple(_second(counts, label) for label in range(prompt.classes))
    return replace(prompt, always=None, mapping=mapping)


def _second(counts: NDArray[np.int64], label: int) -> int:
    led = counts[counts[:, label] == counts.max(axis=1)]
    others = np.delete(led, label, axis=1)
    most = others.max(axis=1, initial=0, keepdims=True)
    second = (others == most) & (most > 0)
    often = (second / np.maximum(second.sum(axis=1, keepdims=True), 1)).sum(axis=0)
    if not often.any():
        often = np.delete(counts.sum(axis=0), label)
    place = int(often.argmax())
    return place + (place >= label)


def wrong_label(counts: NDArray[np.int64], label: int) -> int:
    """The label to mislabel a query with, of its votes (c,) and its right label.

    The one with most votes that is neither right nor ahead, as a vote for the one ahead is no
    change; of two classes the wrong one. Of equals the lowest number.
    """
    votes = counts.astype(np.float64)
    ahead = int(votes.argmax())
    if votes.size > 2:
        votes[ahead] = -1.0
    votes[label] = -2.0
    return int(votes.argmax())


def _chosen(merit: NDArray[np.int64], rng: np.random.Generator) -> int:
    """The place of the most merit, ties broken at random."""
    return int(rng.choice(np.flatnonzero(merit == merit.max())))


def _mislabelled(prompt: Prompt, query: Query, counts: NDArray[np.int64], label: int) -> Prompt:
    """The prompt with a query of these votes, wrongly labelled, as its only example."""
    example = (query, wrong_label(counts, label))
    return replace(prompt, examples=(example,), always=None, mapping=None)


def _with_example(prompt: Prompt, query: Query, label: int, place: int) -> Prompt:
    examples = list(prompt.examples)
    if not 0 <= place < len(examples):
        raise ValueError(f"place {place}: the teacher has {len(examples)} examples to be swapped")
    examples[place] = (query, label)
    return replace(prompt, examples=tuple(examples))


def _histograms(prompt: Prompt, votes: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.asarray(votes)
    if counts.ndim != 2 or counts.shape[1] != prompt.classes or not len(counts):
        raise ValueError(
            f"votes of shape {counts.shape}: expected a histogram of {prompt.classes} classes "
            "for each of one or more queries"
        )
    if counts.dtype.kind not in "iu" or counts.min() < 0:
        raise ValueError("votes: expected whole numbers from 0")
    return counts.astype(np.int64)


def _checked(
    prompt: Prompt, votes: NDArray[np.int64], labels: NDArray[np.int64], queries: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    counts, right = _histograms(prompt, votes), np.asarray(labels)
    if right.shape != (len(counts),) or queries != len(counts):
        raise ValueError(
            f"{queries} queries, labels of shape {right.shape} and {len(counts)} histograms: "
            "expected as many of each"
        )
    for place, label in enumerate(right):
        checked_label(label, prompt.classes, f"label of query {place},")
    return counts, right.astype(np.int64)
