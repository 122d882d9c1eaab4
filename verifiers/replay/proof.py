"""Whether what a pair of releases shows is of their laws, or only of how draws were played back.

Draws are played back in their order, which a correct target may let the data decide: it may draw
for the largest count first, for empty cells on a line of their own, in shares of as many records
as there are, or by a hash of the query. So an accusation needs more than one pair of runs.

- A release that moves by the same with whatever draws, or with all noise at its centre, is shifted:
  two laws of one noise that differ by a shift differ by what the value differs by.
- Noise is of another law where numbers of the release answer otherwise to the single draws: the sum
  of squared answers is the variance of a release that is affine in independent noise. Or where
  data and noise together decide how often it is drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..findings.note import Fields, Note
from .frozen import FrozenTarget, Ran
from .pairs import DIFFERENT, OF_DATA, PairFault, ReplayPair, unfrozen
from .tape import Draw, Parting

NOTHING = Note("nothing-drawn", "the target draws nothing of what can be frozen")

_TAPES = 3  # with draws of their own
_NEAR = 1e-3  # relative, of answers to noise that are taken for equal
_ALIKE = 1e-6  # relative, of moves that are taken for the same


def prove(
    target: FrozenTarget, pair: ReplayPair, fault: PairFault, first: Ran, other: Ran
) -> tuple[PairFault | None, Note | None]:
    """The fault of numbers that is proved of a pair, or why what was seen proves none.

    Neither, where noise is drawn otherwise and has one law all the same.

    fault: what the runs on the first and the other input showed. Raises TargetError, Refused.
    """
    if (changes := unlike(target, pair, first, other)) is not None:
        return None, changes
    if not any(draw.of_value for draw in (*first.draws, *other.draws)):
        return None, NOTHING
    fresh = [first, *(target.run(pair.one) for _ in range(_TAPES - 1))]
    if fault.what == "sensitivity":
        shown = _shift_fault(target, pair, fresh)
        if shown is not None:
            return shown, None
    elif _draws_vary(other.partings, fresh):
        return fault, None
    return _answer_fault(target, pair, fault, first, other)


def unlike(target: FrozenTarget, pair: ReplayPair, first: Ran, other: Ran) -> Note | None:
    """Why runs with the same draws differ; None where they do not."""
    changes = unfrozen(first, target.run(pair.one, first.draws))
    if changes is None:
        again = target.run(pair.other, first.draws)
        if not np.array_equal(again.released, other.released, equal_nan=True):
            changes = DIFFERENT
    return changes


def _shift_fault(target: FrozenTarget, pair: ReplayPair, fresh: Sequence[Ran]) -> PairFault | None:
    """The fault of releases that move alike with all draws, or with all noise at its centre."""
    varied = len({repr([draw.result for draw in run.draws]) for run in fresh}) > 1
    if varied and (found := _same_move(target, pair, iter(fresh))) is not None:
        return found
    # what has a seed of its own draws the same again: then all of it must be at its centre
    if varied or all(map(centres, fresh[0].draws)):
        calm = (target.run(pair.one, centre_draws(run.draws)) for run in fresh)
        return _same_move(target, pair, calm)
    return None


def _same_move(target: FrozenTarget, pair: ReplayPair, runs: Iterator[Ran]) -> PairFault | None:
    """The fault of releases that move further than claimed, and by the same, with several draws."""
    faults, moved = [], []
    for run, other in _both(target, pair, runs):
        faults.append(pair.judge.exceeded(run.row, other.row))
        with np.errstate(invalid="ignore"):
            moved.append(np.where(run.row == other.row, 0.0, other.row - run.row))
        row = run.row
    alike = len(faults) == _TAPES and all(faults) and _alike(moved, row)
    return faults[0] if alike else None


def _both(target: FrozenTarget, pair: ReplayPair, runs: Iterator[Ran]) -> Iterator[tuple[Ran, Ran]]:
    """Runs on both inputs with the same draws, as long as both draw alike."""
    for run in runs:
        other = target.run(pair.other, run.draws)
        if any(not parting.scale for parting in other.partings):
            return
        yield run, other


def _alike(moves: Sequence[NDArray[np.float64]], row: NDArray[np.float64]) -> bool:
    """Whether all moves are one, up to the rounding of what is released."""
    finite = [*np.abs(row[np.isfinite(row)]), *np.abs(moves[0][np.isfinite(moves[0])])]
    near = _ALIKE * max(finite, default=0.0)
    return all(np.allclose(move, moves[0], 1e-5, near, equal_nan=True) for move in moves)


def _draws_vary(partings: Sequence[Parting], fresh: Sequence[Ran]) -> bool:
    """Whether noise that one input draws more often is drawn more or less often by chance too."""
    for parting in partings:
        if parting.noise and parting.absent:
            place = parting.line, parting.function
            often = {sum((d.line, d.function) == place for d in run.draws) for run in fresh}
            if len(often) > 1:
                return True
    return False


def _answer_fault(
    target: FrozenTarget, pair: ReplayPair, fault: PairFault, first: Ran, other: Ran
) -> tuple[PairFault | None, Note | None]:
    """The fault of a release that answers otherwise to its noise on the second input."""
    aligned = all(parting.scale for parting in other.partings)
    one = answers_of(target, pair.one, first, some=aligned)
    two = answers_of(target, pair.other, other, some=aligned)
    for found in (one, two):
        if isinstance(found, Note):
            return None, found
    assert isinstance(one, UnitMoves)
    assert isinstance(two, UnitMoves)
    if _close(one.variances, two.variances) or (
        not (one.affine and two.affine) and _close(one.sizes, two.sizes)
    ):
        if fault.what == "noise":
            return None, None
        message = f"{one.line}: the order of what is drawn depends on the data"
        return None, Note("draws-by-data", message)
    if fault.what == "noise":
        return fault, None
    line = one.line if one.sizes.size else two.line
    at = int(np.argmax(np.abs(one.variances - two.variances)))
    here, there = (float(np.sqrt(each.variances[at])) for each in (one, two))
    place = f" number {at}" if one.variances.size > 1 else " the release"
    words = f"a unit moves{place} by {here:.6g} for the first input, by {there:.6g} for the second"
    fields: Fields = {"of": "scale", "first": here, "second": there}
    message = f"noise of another scale: {words}"
    return PairFault("noise", message, (line,), code=OF_DATA, fields=fields), None


def _close(one: NDArray[np.float64], two: NDArray[np.float64]) -> bool:
    return one.shape == two.shape and np.allclose(one, two, _NEAR, 1e-12)


_MOST = 64  # numbers drawn that are looked at
_STEP, _SMALL = 1e6, 1e-6  # by which noise is moved, in its scale; and other numbers
_BENT = 0.01  # relative, between answers to a step and to two


@dataclass(frozen=True)
class UnitMoves:
    """What a release moves by for a unit of each number drawn.

    Attributes:
        variances (d,): the sum of squares for each number released.
        sizes: L2 norms of the answers to each number drawn, in order of size, without those that
            are 0.
        affine: whether all are noise alone, which a release takes as it is.
        line: of the draw that is answered most.
    """

    variances: NDArray[np.float64]
    sizes: NDArray[np.float64]
    affine: bool
    line: str


def answers_of(target: FrozenTarget, values: Any, ran: Ran, *, some: bool) -> UnitMoves | Note:
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
            return UnitMoves(np.zeros(ran.row.size), np.zeros(0), True, "?")
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
    return UnitMoves(
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
        moved = move_number(draw, at, times * step)
        run = target.run(values, (*ran.draws[:turn], moved, *ran.draws[turn + 1 :]))
        if any(not parting.scale for parting in run.partings):
            return None
        found.append((run.row - ran.row) * unit / (times * step))
    once, twice = found
    if not np.allclose(once, twice, _BENT, 1e-9, equal_nan=False):
        return None
    return once


def move_number(draw: Draw, at: int, by: float) -> Draw:
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


def centre_draws(draws: Sequence[Draw]) -> tuple[Draw, ...]:
    """The draws with all noise at its centre, and uniform numbers in the middle."""
    return tuple(map(_centre, draws))


def centres(draw: Draw) -> bool:
    """Whether `centre_draws` sets all that is drawn."""
    return moves(draw) and (draw.given.noise or _middle(draw) is not None)


def _centre(draw: Draw) -> Draw:
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
