"""Whether labels that differ with the same draws, or noise drawn otherwise, are a fault.

The noise of a label may be drawn in any unit: votes over their largest number, with noise over the
same, give the labels of votes. So the scale is told in votes: of how many the noise makes up for,
between two classes, or between the largest count and the threshold.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...reference import REFUSAL
from ..findings.note import Note
from ..kinds.labels.mechanism import LabelsMechanism
from .answers import centred, moves, replaced
from .faults import Fault
from .frozen import FrozenTarget
from .label_pairs import AnyLabel
from .pairs import Pair
from .proof import unlike
from .ran import Ran
from .tape import Draw, Parting

_MOST = 4  # numbers drawn first that are moved, and as many drawn last
_ENDS = 1e-6, 1e9  # units of noise between which a label changes
_HALVINGS = 45
_NEAR = 1e-4  # relative, of scales that are taken for one
_STEPS = 2.0  # votes that counts gain or lose by rounding them

_Place = tuple[int, int]
"""Of a number drawn: which draw, and which of its numbers."""

_Scales = dict[bool, list[tuple[float, float]]]
"""Of the screening (True) and of the votes: the ends between which each scale lies, in votes."""


def proved_of_label(
    target: FrozenTarget, pair: Pair, fault: Fault, first: Ran, other: Ran
) -> tuple[Fault | None, Note | None]:
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


def _scales(
    target: FrozenTarget, mechanism: LabelsMechanism, votes: NDArray[np.int64], ran: Ran
) -> _Scales:
    """How many votes a unit of noise makes up for, by single numbers moved among centred ones.

    Of a query that is refused with centred noise it is that of the screening, and that of the votes
    where screening is moved far enough to answer it.
    """
    draws = centred(ran.draws)
    found: _Scales = {}
    answered = _told(target, mechanism, votes, draws, found)
    if answered is not None:
        _told(target, mechanism, votes, answered, found, lifted=True)
    return found


def _told(
    target: FrozenTarget,
    mechanism: LabelsMechanism,
    votes: NDArray[np.int64],
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
    if not all(map(_only_left, ran.partings)):
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


def _only_left(parting: Parting) -> bool:
    """Whether draws were left over at the end, as of a query that is refused before its votes."""
    return parting.absent and parting.other == "nothing"


def _with(draws: tuple[Draw, ...], place: _Place, units: float) -> tuple[Draw, ...]:
    """The draws with the number at a place moved by so many units of its noise."""
    turn, at = place
    draw = draws[turn]
    scale = 1.0 if draw.given.scale is None else draw.given.scale
    unit = float(np.broadcast_to(scale, np.shape(draw.result)).flat[at])
    return (*draws[:turn], replaced(draw, at, units * unit), *draws[turn + 1 :])


def _label_by(
    target: FrozenTarget, votes: NDArray[np.int64], draws: tuple[Draw, ...], place: _Place
) -> Callable[[float], int]:
    """The label by how many units of noise the number at a place among the draws is moved."""
    return lambda units: int(target.run(votes, _with(draws, place, units)).row[0])


def _scale(
    mechanism: LabelsMechanism, votes: NDArray[np.int64], label: Callable[[float], int], calm: int
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
