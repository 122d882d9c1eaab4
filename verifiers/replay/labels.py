"""Histograms whose labels must be alike with the same noise, and what proves a fault of labels.

The noise of a label may be drawn in any unit: votes over their largest number, with noise over the
same, give the labels of votes. So the scale is told in votes: of how many the noise makes up for,
between two classes, or between the largest count and the threshold.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ...reference import REFUSAL
from ...reference.arrays import Integers, Vector
from ..findings.note import Note
from ..kinds.labels.claim import LabelsClaim
from ..kinds.labels.mechanism import LabelsMechanism
from .frozen import FrozenTarget, Ran
from .number_pairs import moves_between
from .pairs import PairFault, Path, ReplayPair
from .proof import centre_draws, move_number, moves, unlike
from .tape import Draw, Parting

_SHIFTS = (1, 7, 100)
_REFUSED = Note("refused-by-more-votes", "a refusal, though no class has lost a vote")


def pairs(claim: LabelsClaim, seed: int) -> Iterator[ReplayPair]:
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
    mechanism: LabelsMechanism, rows: list[Integers], rng: np.random.Generator
) -> Iterator[ReplayPair]:
    """One input and another: the draws are to be alike, the labels need not."""
    while True:
        for here, there in pairwise(rng.permutation(len(rows))):
            judge = AnyLabel(mechanism)
            yield ReplayPair("another input", rows[here], rows[there], judge, absent=False)


def _of_votes(claim: LabelsClaim, rng: np.random.Generator) -> Iterator[ReplayPair]:
    mechanism = claim.mechanism
    classes, total = mechanism.classes, mechanism.total
    while True:
        for even in (1.0, 1000.0, 0.3, 20.0):
            votes = rng.multinomial(total, rng.dirichlet(np.full(classes, even))).astype(np.int64)
            yield _move_vote(mechanism, votes, rng)
            if claim.one_total:
                continue
            if not mechanism.moved_by_shifts:
                some = np.maximum(votes, 1)  # code may go through the classes with votes first
                for by in _SHIFTS:
                    yield _shift(mechanism, some, by)
            yield from _raise_winners(mechanism, votes)


@dataclass(frozen=True)
class AnyLabel:
    """Labels of neighbours may differ; mechanism: the claimed one."""

    mechanism: LabelsMechanism
    numbers: ClassVar[bool] = False

    def exceeded(self, one: Vector, other: Vector) -> PairFault | None:
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

    def exceeded(self, one: Vector, other: Vector) -> PairFault | None:
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
        return PairFault("shift", message, code=why.code, fields=fields)


def _move_vote(mechanism: LabelsMechanism, votes: Integers, rng: np.random.Generator) -> ReplayPair:
    """One teacher votes for another class: the draws are to be alike, the labels need not."""
    origin = int(rng.choice(np.flatnonzero(votes)))
    goes = int((origin + rng.integers(1, votes.size)) % votes.size)
    other = votes.copy()
    other[origin] -= 1
    other[goes] += 1
    judge = AnyLabel(mechanism)

    def path(before: Integers) -> Path | None:
        return moves_between(before, votes, judge, absent=False)

    words = f"one vote of class {origin} for class {goes}"
    return ReplayPair(words, votes, other, judge, absent=False, path=path)


def _shift(mechanism: LabelsMechanism, votes: Integers, by: int) -> ReplayPair:
    """As many votes more for each class (Theorem 2 of Wang et al. 2022)."""
    why = Note("labels-depend-on-shift", "though no class has gained on another")
    alike = _Alike(mechanism, why)
    words = f"{by} vote{'s' * (by > 1)} more for each class"
    return ReplayPair(words, votes, votes + by, alike, neighbours=False)


def _raise_winners(mechanism: LabelsMechanism, votes: Integers) -> Iterator[ReplayPair]:
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
        yield ReplayPair(f"one vote more for class {label}", votes, other, alike, neighbours=False)


_MOST = 4  # numbers drawn first that are moved, and as many drawn last
_ENDS = 1e-6, 1e9  # units of noise between which a label changes
_HALVINGS = 45
_NEAR = 1e-4  # relative, of scales that are taken for one
_STEPS = 2.0  # votes that counts gain or lose by rounding them

_Place = tuple[int, int]
"""Of a number drawn: which draw, and which of its numbers."""

_Scales = dict[bool, list[tuple[float, float]]]
"""Of the screening (True) and of the votes: the ends between which each scale lies, in votes."""


def prove_of_label(
    target: FrozenTarget, pair: ReplayPair, fault: PairFault, first: Ran, other: Ran
) -> tuple[PairFault | None, Note | None]:
    """The fault of labels that is proved of a pair, or why what was seen proves none.

    Neither, where noise is drawn otherwise and has one law all the same. fault: what the runs
    on the first and the other input showed. Raises TargetError, Refused.
    """
    if (changes := unlike(target, pair, first, other)) is not None:
        return None, changes
    if not any(map(moves, first.draws)):
        message = "what the label is made of is drawn as bits, which may serve any end"
        return None, Note("drawn-as-bits", message)
    if fault.what != "noise":
        return fault, None
    assert isinstance(pair.judge, AnyLabel)
    mechanism = pair.judge.mechanism
    refused = mechanism.refuses and REFUSAL in (int(first.row[0]), int(other.row[0]))
    if refused or _numbers(first) == _numbers(other):
        one = _scales(target, mechanism, pair.one, first)
        two = _scales(target, mechanism, pair.other, other)
        if not one.keys() & two.keys():
            message = f"{fault.lines[0]}: the label does not follow what is drawn"
            return None, Note("draws-not-followed", message)
        if all(_meet([*one[of], *two[of]]) for of in one.keys() & two.keys()):
            return None, None
    return fault, None


def _meet(ends: list[tuple[float, float]]) -> bool:
    """Whether scales that lie between these ends may be one."""
    return max(low for low, _ in ends) <= min(high for _, high in ends)


def _numbers(ran: Ran) -> int:
    return sum(int(np.size(draw.result)) for draw in ran.draws if draw.given.noise)


def _scales(target: FrozenTarget, mechanism: LabelsMechanism, votes: Integers, ran: Ran) -> _Scales:
    """How many votes a unit of noise makes up for, by single numbers moved among centred ones.

    Of a query that is refused with centred noise it is that of the screening, and that of the votes
    where screening is moved far enough to answer it.
    """
    draws = centre_draws(ran.draws)
    found: _Scales = {}
    answered = _add_scales(target, mechanism, votes, draws, found)
    if answered is not None:
        _add_scales(target, mechanism, votes, answered, found, lifted=True)
    return found


def _add_scales(
    target: FrozenTarget,
    mechanism: LabelsMechanism,
    votes: Integers,
    draws: tuple[Draw, ...],
    found: _Scales,
    *,
    lifted: bool = False,
) -> tuple[Draw, ...] | None:
    """Adds the scales that these draws tell; the draws that answer what they refuse, if any do.

    lifted: whether screening has been moved, so that its scale cannot be told.
    """
    places = [
        (turn, at)
        for turn, draw in enumerate(draws)
        if draw.given.noise and moves(draw)
        for at in range(int(np.size(draw.result)))
    ]
    if len(places) > 2 * _MOST:
        places = places[:_MOST] + places[-_MOST:]
    ran, answered = target.run(votes, draws), None
    if not all(map(_is_left_over, ran.partings)):
        return None
    calm = int(ran.row[0])
    for place in places:
        label = _label_by(target, votes, draws, place)
        scale = _scale(mechanism, votes, label, calm)
        if scale is None or (scale[0] and lifted):
            continue
        found.setdefault(scale[0], []).append(scale[1])
        if scale[0] and calm == REFUSAL:
            moved = (_with(draws, place, sign * _ENDS[1]) for sign in (1.0, -1.0))
            some = (far for far in moved if int(target.run(votes, far).row[0]) != REFUSAL)
            answered = answered or next(some, None)
    return answered


def _is_left_over(parting: Parting) -> bool:
    """Whether draws were left over at the end, as of a query that is refused before its votes."""
    return parting.absent and parting.other == "nothing"


def _with(draws: tuple[Draw, ...], place: _Place, units: float) -> tuple[Draw, ...]:
    """The draws with the number at a place moved by so many units of its noise."""
    turn, at = place
    draw = draws[turn]
    scale = 1.0 if draw.given.scale is None else draw.given.scale
    unit = float(np.broadcast_to(scale, np.shape(draw.result)).flat[at])
    return (*draws[:turn], move_number(draw, at, units * unit), *draws[turn + 1 :])


def _label_by(
    target: FrozenTarget, votes: Integers, draws: tuple[Draw, ...], place: _Place
) -> Callable[[float], int]:
    """The label by how many units of noise the number at a place among the draws is moved."""
    return lambda units: int(target.run(votes, _with(draws, place, units)).row[0])


def _scale(
    mechanism: LabelsMechanism, votes: Integers, label: Callable[[float], int], calm: int
) -> tuple[bool, tuple[float, float]] | None:
    """Whether a number screens, and the ends of its scale; None where it changes no label.

    The votes by which a class was behind, or the largest count on its side of the threshold, over
    the units of noise by which that changes. label: by these units; calm: without any.
    """
    low, high = _ENDS
    signs = (1.0, -1.0) if mechanism.refuses else (1.0,)
    sign, there = next(((s, k) for s in signs if (k := label(s * high)) != calm), (1.0, calm))
    if there == calm or label(sign * low) != calm:
        return None
    screens = mechanism.threshold is not None and REFUSAL in (calm, there)
    if mechanism.threshold is not None and screens:
        apart = abs(float(votes.max()) - mechanism.threshold)
    else:
        apart = float(votes[calm] - votes[there])
    if apart <= 0.0:
        return None
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        found = label(sign * middle)
        turned = (found == REFUSAL) == (there == REFUSAL) if screens else found == there
        low, high = (low, middle) if turned else (middle, high)
    room = _STEPS if mechanism.ordered and not screens else _NEAR * apart
    return screens, ((apart - room) / high, (apart + room) / high)
