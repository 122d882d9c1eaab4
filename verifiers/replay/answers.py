"""How a release answers to the single numbers that it draws."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..findings.note import Note
from .faults import DIFFERENT
from .frozen import FrozenTarget
from .ran import Ran
from .tape import Draw

_MOST = 64  # numbers drawn that are looked at
_STEP, _SMALL = 1e6, 1e-6  # by which noise is moved, in its scale; and other numbers
_BENT = 0.01  # relative, between answers to a step and to two


@dataclass(frozen=True)
class Answers:
    """What a release moves by for a unit of each number drawn.

    variances (d,): the sum of squares for each number released; sizes: L2 norms of the answers to
    each number drawn, in order of size, without those that are 0; affine: whether all are noise
    alone, which a release takes as it is; line: of the draw that is answered most.
    """

    variances: NDArray[np.float64]
    sizes: NDArray[np.float64]
    affine: bool
    line: str


def answers_of(target: FrozenTarget, values: Any, ran: Ran, *, some: bool) -> Answers | Note:
    """The answers on one input, or why they cannot be told.

    ran: a run on it; some: whether some of the numbers will do where there are many.
    """
    places = [
        (turn, at)
        for turn, draw in enumerate(ran.draws)
        if moves(draw)
        for at in range(int(np.size(draw.result)))
    ]
    if not places:
        if np.array_equal(target.run(values).row, ran.row):  # whatever is drawn
            return Answers(np.zeros(ran.row.size), np.zeros(0), True, "?")
        message = "what the release is made of is drawn as bits, which show nothing of their law"
        return Note("drawn-as-bits", message)
    if len(places) > _MOST:
        if not some:
            message = f"{len(places):,} numbers are drawn in an order that may depend on the data"
            return Note("draws-by-data", message, {"numbers": len(places)})
        places = [places[k] for k in np.linspace(0, len(places) - 1, _MOST).astype(int)]
    again = target.run(values, ran.draws)
    if again.partings or not np.array_equal(again.row, ran.row):
        return DIFFERENT
    found = []
    for turn, at in places:
        answer = _answer(target, values, ran, turn, at)
        if answer is None:
            message = f"{ran.draws[turn].line}: the release does not follow what is drawn"
            return Note("draws-not-followed", message)
        found.append(answer)
    matrix = np.array(found)
    sizes = np.linalg.norm(matrix, axis=1)
    return Answers(
        np.square(matrix).sum(axis=0),
        np.sort(sizes[sizes > 1e-9 * sizes.max(initial=0.0)]),
        all(ran.draws[turn].given.noise for turn, _ in places),
        ran.draws[places[int(np.argmax(sizes))][0]].line,
    )


def moves(draw: Draw) -> bool:
    """Whether numbers of a draw can be moved a little, or for noise far, and still be drawn."""
    kind = np.asarray(draw.result).dtype.kind
    return kind == "f" or (kind in "iu" and draw.given.noise)


def _answer(
    target: FrozenTarget, values: Any, ran: Ran, turn: int, at: int
) -> NDArray[np.float64] | None:
    """What a unit of one number moves the release by, None where two steps are not twice one."""
    draw = ran.draws[turn]
    unit = 1.0
    if draw.given.noise and draw.given.scale is not None:
        unit = float(np.broadcast_to(draw.given.scale, np.shape(draw.result)).flat[at])
    step = _STEP * unit if draw.given.noise else _SMALL
    found = []
    for times in (1.0, 2.0):
        moved = replaced(draw, at, times * step)
        run = target.run(values, (*ran.draws[:turn], moved, *ran.draws[turn + 1 :]))
        if any(not parting.scale for parting in run.partings):
            return None
        found.append((run.row - ran.row) * unit / (times * step))
    once, twice = found
    if not np.allclose(once, twice, _BENT, 1e-9, equal_nan=False):
        return None
    return once


def replaced(draw: Draw, at: int, by: float) -> Draw:
    """The draw with one of its numbers moved."""
    numbers = np.array(draw.result)
    numbers.flat[at] += numbers.dtype.type(by)
    return replace(draw, result=_like(draw.result, numbers))


def _like(result: Any, numbers: Any) -> Any:
    """Numbers in the form of a result."""
    if isinstance(result, np.ndarray):
        return numbers
    if isinstance(result, np.generic):
        return numbers.reshape(-1)[0]
    return numbers.tolist()


def centred(draws: Sequence[Draw]) -> tuple[Draw, ...]:
    """The draws with all noise at its centre, and uniform numbers in the middle."""
    return tuple(map(_centred, draws))


def centres(draw: Draw) -> bool:
    """Whether `centred` sets all that is drawn."""
    return moves(draw) and (draw.given.noise or _middle(draw) is not None)


def _centred(draw: Draw) -> Draw:
    if not moves(draw):
        return draw
    numbers = np.array(draw.result)
    name = draw.function.rsplit(".", 1)[1].rstrip("_")
    if not draw.given.noise:
        middle = _middle(draw)
        if middle is None:
            return draw
        numbers[...] = middle
    elif draw.given.scale is not None and draw.given.centre is not None:
        ones = name in ("exponential", "expovariate", "rayleigh")
        numbers[...] = draw.given.centre + (np.asarray(draw.given.scale) if ones else 0.0)
    else:
        numbers[...] = 1 if name in ("geometric", "standard_exponential") else 0
    return replace(draw, result=_like(draw.result, numbers))


def _middle(draw: Draw) -> float | None:
    """The middle of what uniform numbers are drawn from; None for other numbers."""
    name, fixed = draw.function.rsplit(".", 1)[1].rstrip("_"), draw.given.fixed
    if name in ("random", "rand", "random_sample"):
        return 0.5
    if name != "uniform":
        return None
    ends = [
        next((fixed[key] for key in keys if key in fixed), default)
        for keys, default in (
            (("argument 1", "low", "a", "minval", "from"), 0.0),
            (("argument 2", "high", "b", "maxval", "to"), 1.0),
        )
    ]
    return sum(map(float, ends)) / 2.0 if all(np.ndim(end) == 0 for end in ends) else None
