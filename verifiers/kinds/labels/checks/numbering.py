"""Classes that the target numbers or counts differently from the claim, found by its labels."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .....reference.arrays import Matrix, Vector
from ....findings.note import Note
from ....text import counted, four_digits
from ..planning.class_faults import without
from ..planning.laws import LabelFault
from ..planning.plan import Plan
from .fitted import log_ratios

_EXPECTED = 20.0
"""Expected labels of a class from which its absence counts: probability e^-20 by chance."""

_LEAST_LOG_Q = -30.0  # least log-probability that a label counts with
_NAMED = 6  # most classes that a message names
_FROM_ONE = "does the target, or what hands it the votes, count classes from 1?"
_COMPARE = "compare the order of the classes in the histogram with that of the labels"


@dataclass(frozen=True)
class Miscounted:
    """Another numbering, or number, of classes; advice: where to look.

    log_ratio: log-likelihood ratio against the claim, less the price of the choice.
    """

    cause: Note
    advice: str
    log_ratio: float


class AsNumbered:
    """The labels of a run as the target numbered them, by the histogram that it got."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.classes = plan, plan.claim.mechanism.classes
        self._counts: dict[tuple[int, int], Vector] = {}

    def observe(self, stream: int, counts: Vector, rotation: int) -> None:
        """Adds counts of labels (o,) whose rotation by `rotation` was undone."""
        answered = self._rotate(counts, rotation)
        self._counts[stream, rotation] = self._counts.get((stream, rotation), 0.0) + answered

    def likeliest(self) -> Miscounted | None:
        """The other numbering or number of classes that explains the labels best, if any."""
        if not self._counts:
            return None
        keys = list(self._counts)
        counts = np.array([self._counts[key] for key in keys])
        log_q = np.array([self._rotate(self.plan.log_q[s], rotation) for s, rotation in keys])
        votes = np.array([self._rotate(self.plan.histograms[s], rotation) for s, rotation in keys])
        found = (
            self._best_order(counts, log_q, votes),
            self._missing_classes(counts, log_q, votes),
        )
        return max(filter(None, found), key=lambda one: one.log_ratio, default=None)

    def _rotate(self, values: Vector, rotation: int) -> Vector:
        """Values (o,) by outcome, with classes rotated, and a refusal in its place."""
        return np.append(np.roll(values[: self.classes], rotation), values[self.classes :])

    def _best_order(self, counts: Matrix, log_q: Matrix, votes: Matrix) -> Miscounted | None:
        """The best permutation of class numbers, if it is not the identity."""
        gains = np.maximum(log_q[:, : self.classes], _LEAST_LOG_Q).T @ counts[:, : self.classes]
        each = np.arange(self.classes)
        expected = (counts.sum(-1)[:, None] * np.exp(log_q[:, : self.classes])).sum(0)
        order = max(
            _orders(gains, expected), key=lambda o: float(gains[each, o.label_of].sum()) - o.cost
        )
        if (order.label_of == each).all():
            return None
        class_of = np.append(np.argsort(order.label_of), np.arange(self.classes, log_q.shape[1]))
        note = replace(order.note, message=f"labels look as if {order.note}")
        fault = LabelFault(note, lambda _: np.exp(log_q[:, class_of]))
        gained = float(log_ratios(fault, counts, log_q, votes).sum()) - order.cost
        return Miscounted(note, order.advice, gained)

    def _missing_classes(self, counts: Matrix, log_q: Matrix, votes: Matrix) -> Miscounted | None:
        """Classes that were never released although expected, if there are any."""
        c = self.classes
        expected = (counts.sum(-1)[:, None] * np.exp(log_q[:, :c])).sum(0)
        gone = (counts[:, :c].sum(0) == 0) & (expected >= _EXPECTED)
        if not gone.any() or gone.all():
            return None
        fault = LabelFault(_RENUMBERED, without(self.plan.claim.mechanism, lambda _: gone))
        gained = float(log_ratios(fault, counts, log_q, votes).sum() - gone.sum() * math.log(c))
        few, missing = _name_classes(np.flatnonzero(gone).tolist()), float(expected[gone].sum())
        never = f"{few} never came, {four_digits(missing)} expected"
        left = c - int(gone.sum())
        if gone[left:].all():
            cause = f"labels look as if the target had {counted(left, 'class', 'classes')}: {never}"
            advice = f"compare classes = {c} of the claim with the number that the target has"
            fields = {"classes": left, "claimed": c, "expected": missing}
            return Miscounted(Note("class-count-differs", cause, fields), advice, gained)
        advice = "look for a class that is passed over"
        if gone[0]:
            advice = "is it passed over as the background, or are classes counted from 1?"
        cause = f"labels look as if a class had been left out: {never}"
        fields = {"class": int(np.argmax(gone)), "classes": c - left, "expected": missing}
        return Miscounted(Note("class-left-out", cause, fields), advice, gained)


@dataclass(frozen=True)
class _Order:
    """A numbering; label_of: number (c,) of each class; cost: nats for its choice."""

    label_of: NDArray[np.int64]
    note: Note
    advice: str
    cost: float


_RENUMBERED = Note("classes-renumbered", "")


def _orders(gains: Matrix, expected: Vector) -> Iterator[_Order]:
    """Numberings of the classes that are tried.

    gains: log-likelihood (c, c) if a class has a number; expected: labels (c,) of each class.
    """
    from scipy.optimize import linear_sum_assignment

    c = len(gains)
    each, named = np.arange(c), math.log(c + 1.0)
    yield _Order(each, _RENUMBERED, "", 0.0)
    backwards = "classes were numbered backwards, the first one " + str(c - 1)
    note = replace(_RENUMBERED, message=backwards, fields={"order": "backwards"})
    yield _Order(each[::-1], note, _COMPARE, named)
    for step in range(1, c):
        by = f"- 1, and class 0 were {c - 1}" if step == c - 1 else f"+ {step}, modulo {c}"
        message = f"class k were numbered k {by}"
        advice = _FROM_ONE if step in (1, c - 1) else _COMPARE
        note = replace(_RENUMBERED, message=message, fields={"shift": step})
        yield _Order((each + step) % c, note, advice, named)
    label_of = linear_sum_assignment(gains, maximize=True)[1]
    moved = np.flatnonzero(label_of != each)
    if moved.size == 2:
        message, cost = f"{_name_classes(moved.tolist())} had each other's numbers", 2.0 * named
        fields = {"class": int(moved[0]), "other_class": int(moved[1])}
    else:
        seen = moved[expected[moved] >= _EXPECTED]  # classes with enough labels
        seen = seen[np.argsort(-expected[seen])[:_NAMED]]
        messages = [f"{k} as {label_of[k]}" for k in sorted(seen)]
        message = f"classes were numbered otherwise, {', '.join(messages) or 'many'} among them"
        cost, fields = float(gammaln(c + 1.0)), {"classes": int(moved.size)}
    yield _Order(label_of, replace(_RENUMBERED, message=message, fields=fields), _COMPARE, cost)


def _name_classes(classes: list[int]) -> str:
    """Class numbers in words, such as "class 3" and "classes 3 and 8"."""
    if len(classes) == 1:
        return f"class {classes[0]}"
    if len(classes) > 2 and classes[-1] - classes[0] == len(classes) - 1:
        return f"classes {classes[0]} to {classes[-1]}"
    if len(classes) > _NAMED:
        return f"{len(classes)} classes from {classes[0]} to {classes[-1]}"
    return f"classes {', '.join(map(str, classes[:-1]))} and {classes[-1]}"
