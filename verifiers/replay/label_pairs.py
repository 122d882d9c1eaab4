"""Histograms whose labels must be alike with the same noise, and neighbours that draw alike."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...reference import REFUSAL
from ...reference.arrays import Vector
from ..findings.note import Note
from ..kinds.labels.claim import LabelsClaim
from ..kinds.labels.mechanism import LabelsMechanism
from .faults import Fault
from .number_pairs import moves_between
from .pairs import Pair, Path

_SHIFTS = (1, 7, 100)
_REFUSED = Note("refused-by-more-votes", "a refusal, though no class has lost a vote")


def pairs(claim: LabelsClaim, seed: int) -> Iterator[Pair]:
    """Pairs without end, of `[inputs]` where the claim has some.

    Raises ValueError for claims in which teachers are drawn, and for one input alone.
    """
    if claim.mechanism.sampled is not None:
        raise ValueError("mechanism.sampled: which teachers vote is drawn, and not frozen")
    rng = np.random.default_rng([seed, 18])
    if not claim.given:
        return _of_votes(claim, rng)
    rows = [np.array(votes) for votes in dict.fromkeys(row.histogram for row in claim.given)]
    if len(rows) < 2:
        raise ValueError("inputs.file: all rows have the same votes, expected rows to compare")
    return _of_inputs(claim.mechanism, rows, rng)


def _of_inputs(
    mechanism: LabelsMechanism, rows: list[NDArray[np.int64]], rng: np.random.Generator
) -> Iterator[Pair]:
    """One input and another: the draws are to be alike, the labels need not."""
    while True:
        for here, there in pairwise(rng.permutation(len(rows))):
            judge = AnyLabel(mechanism)
            yield Pair("another input", rows[here], rows[there], judge, absent=False)


def _of_votes(claim: LabelsClaim, rng: np.random.Generator) -> Iterator[Pair]:
    mechanism = claim.mechanism
    classes, total = mechanism.classes, mechanism.total
    while True:
        for even in (1.0, 1000.0, 0.3, 20.0):
            votes = rng.multinomial(total, rng.dirichlet(np.full(classes, even))).astype(np.int64)
            yield _moved(mechanism, votes, rng)
            if claim.one_total:
                continue
            if not mechanism.moved_by_shifts:
                some = np.maximum(votes, 1)  # code may go through the classes with votes first
                for by in _SHIFTS:
                    yield _shifted(mechanism, some, by)
            yield from _raised(mechanism, votes)


@dataclass(frozen=True)
class AnyLabel:
    """Labels of neighbours may differ; mechanism: the claimed one."""

    mechanism: LabelsMechanism
    numbers: ClassVar[bool] = False

    def exceeded(self, one: Vector, other: Vector) -> Fault | None:
        return None

    def share(self, one: Vector, other: Vector, steps: int) -> float:
        return 0.0


@dataclass(frozen=True)
class _Alike(AnyLabel):
    """Labels must be the same where the first is `label`, or any if None.

    why: in words, with the code of labels that are not. The largest count, which may have to reach
    a threshold, is no smaller for the second input.
    """

    why: Note
    label: int | None = None

    def exceeded(self, one: Vector, other: Vector) -> Fault | None:
        """More votes may turn a refusal into an answer, and never back."""
        here, there = int(one[0]), int(other[0])
        refused = self.mechanism.refuses and there == REFUSAL
        if here == there or (self.mechanism.refuses and here == REFUSAL):
            return None
        if self.label not in (None, here) and not refused:
            return None
        why = _REFUSED if refused else self.why
        fields = {"first": here, "second": there}
        message = f"changes from {here} to {there}, {why}"
        return Fault("shift", message, code=why.code, fields=fields)


def _moved(mechanism: LabelsMechanism, votes: NDArray[np.int64], rng: np.random.Generator) -> Pair:
    """One teacher votes for another class: the draws are to be alike, the labels need not."""
    origin = int(rng.choice(np.flatnonzero(votes)))
    goes = int((origin + rng.integers(1, votes.size)) % votes.size)
    other = votes.copy()
    other[origin] -= 1
    other[goes] += 1
    judge = AnyLabel(mechanism)

    def path(before: NDArray[np.int64]) -> Path | None:
        return moves_between(before, votes, judge, absent=False)

    words = f"one vote of class {origin} for class {goes}"
    return Pair(words, votes, other, judge, absent=False, path=path)


def _shifted(mechanism: LabelsMechanism, votes: NDArray[np.int64], by: int) -> Pair:
    """As many votes more for each class (Theorem 2 of Wang et al. 2022)."""
    why = Note("labels-depend-on-shift", "though no class has gained on another")
    alike = _Alike(mechanism, why)
    words = f"{by} vote{'s' * (by > 1)} more for each class"
    return Pair(words, votes, votes + by, alike, neighbours=False)


def _raised(mechanism: LabelsMechanism, votes: NDArray[np.int64]) -> Iterator[Pair]:
    """One vote more for each of two classes: where it has won, it wins still.

    Code may go through classes in the order of their votes, or through those with votes first, so
    both stay the same.
    """
    for label in np.argsort(votes)[::-1][:2]:
        passed = (votes[label] <= votes) & (votes <= votes[label] + 1)
        if votes[label] == 0 or passed.sum() > 1:  # by another class than its own
            continue
        other = votes.copy()
        other[label] += 1
        why = Note("winner-loses-by-votes", "though only that class has gained")
        alike = _Alike(mechanism, why, int(label))
        yield Pair(f"one vote more for class {label}", votes, other, alike, neighbours=False)
