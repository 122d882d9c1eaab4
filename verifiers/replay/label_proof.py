"""Whether labels that differ with the same draws, or noise drawn otherwise, are a fault.

The noise of a label may be drawn in any unit: votes over their largest number, with noise over the
same, give the labels of votes. So the scale is told in votes: of how many the noise makes up for.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..findings.note import Note
from .answers import centred, moves, replaced
from .faults import Fault
from .frozen import FrozenTarget
from .pairs import Pair
from .proof import unlike
from .ran import Ran
from .tape import Draw

_MOST = 4  # classes that are raised
_ENDS = 1e-6, 1e9  # units of noise between which a label changes
_HALVINGS = 45
_NEAR = 1e-4  # relative, of scales that are taken for one


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
    if _numbers(first) == _numbers(other):
        one = list(_scales(target, pair.one, first))
        two = list(_scales(target, pair.other, other))
        if not one or not two:
            message = f"{fault.lines[0]}: the label does not follow what is drawn"
            return None, Note("draws-not-followed", message)
        if np.ptp([*one, *two]) <= _NEAR * max(*one, *two):
            return None, None
    return fault, None


def _numbers(ran: Ran) -> int:
    return sum(int(np.size(draw.result)) for draw in ran.draws if draw.given.noise)


def _scales(target: FrozenTarget, votes: NDArray[np.int64], ran: Ran) -> Iterator[float]:
    """How many votes a unit of noise makes up for, by single numbers raised among centred ones."""
    draws = centred(ran.draws)
    calm = target.run(votes, draws)
    found = 0
    for turn, draw in enumerate(draws):
        if calm.partings or not draw.given.noise or not moves(draw):
            continue
        for at in range(int(np.size(draw.result))):
            raised = _raised_until(target, votes, draws, (turn, at), int(calm.row[0]))
            if raised is not None:
                yield raised
                found += 1
            if found == _MOST:
                return


def _raised_until(
    target: FrozenTarget,
    votes: NDArray[np.int64],
    draws: tuple[Draw, ...],
    place: tuple[int, int],
    calm: int,
) -> float | None:
    """Votes by which a class was behind, over the units of noise by which it comes to win."""
    turn, at = place
    draw = draws[turn]
    scale = 1.0 if draw.given.scale is None else draw.given.scale
    unit = float(np.broadcast_to(scale, np.shape(draw.result)).flat[at])

    def label(units: float) -> int:
        moved = replaced(draw, at, units * unit)
        return int(target.run(votes, (*draws[:turn], moved, *draws[turn + 1 :])).row[0])

    low, high = _ENDS
    wins = label(high)
    if wins == calm or label(low) != calm or votes[calm] <= votes[wins]:
        return None
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if label(middle) == wins else (middle, high)
    return float(votes[calm] - votes[wins]) / high
