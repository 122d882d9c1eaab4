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

import numpy as np
from numpy.typing import NDArray

from ..findings.note import Fields, Note
from .answers import Answers, answers_of, centred, centres
from .faults import DIFFERENT, OF_DATA, Fault, unfrozen
from .frozen import FrozenTarget
from .pairs import Pair
from .ran import Ran
from .tape import Parting

NOTHING = Note("nothing-drawn", "the target draws nothing of what can be frozen")

_TAPES = 3  # with draws of their own
_NEAR = 1e-3  # relative, of answers to noise that are taken for equal
_ALIKE = 1e-6  # relative, of moves that are taken for the same


def proved(
    target: FrozenTarget, pair: Pair, fault: Fault, first: Ran, other: Ran
) -> tuple[Fault | None, Note | None]:
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
        shown = _shifted(target, pair, fresh)
        if shown is not None:
            return shown, None
    elif _redrawn(other.partings, fresh):
        return fault, None
    return _answered(target, pair, fault, first, other)


def unlike(target: FrozenTarget, pair: Pair, first: Ran, other: Ran) -> Note | None:
    """Why runs with the same draws differ; None where they do not."""
    changes = unfrozen(first, target.run(pair.one, first.draws))
    if changes is None:
        again = target.run(pair.other, first.draws)
        if not np.array_equal(again.released, other.released, equal_nan=True):
            changes = DIFFERENT
    return changes


def _shifted(target: FrozenTarget, pair: Pair, fresh: Sequence[Ran]) -> Fault | None:
    """The fault of releases that move alike with all draws, or with all noise at its centre."""
    varied = len({repr([draw.result for draw in run.draws]) for run in fresh}) > 1
    if varied and (found := _moved_alike(target, pair, iter(fresh))) is not None:
        return found
    # what has a seed of its own draws the same again: then all of it must be at its centre
    if varied or all(map(centres, fresh[0].draws)):
        calm = (target.run(pair.one, centred(run.draws)) for run in fresh)
        return _moved_alike(target, pair, calm)
    return None


def _moved_alike(target: FrozenTarget, pair: Pair, runs: Iterator[Ran]) -> Fault | None:
    """The fault of releases that move further than claimed, and by the same, with several draws."""
    faults, moved = [], []
    for run, other in _both(target, pair, runs):
        faults.append(pair.judge.exceeded(run.row, other.row))
        with np.errstate(invalid="ignore"):
            moved.append(np.where(run.row == other.row, 0.0, other.row - run.row))
        row = run.row
    alike = len(faults) == _TAPES and all(faults) and _alike(moved, row)
    return faults[0] if alike else None


def _both(target: FrozenTarget, pair: Pair, runs: Iterator[Ran]) -> Iterator[tuple[Ran, Ran]]:
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


def _redrawn(partings: Sequence[Parting], fresh: Sequence[Ran]) -> bool:
    """Whether noise that one input draws more often is drawn more or less often by chance too."""
    for parting in partings:
        if parting.noise and parting.absent:
            place = parting.line, parting.function
            often = {sum((d.line, d.function) == place for d in run.draws) for run in fresh}
            if len(often) > 1:
                return True
    return False


def _answered(
    target: FrozenTarget, pair: Pair, fault: Fault, first: Ran, other: Ran
) -> tuple[Fault | None, Note | None]:
    """The fault of a release that answers otherwise to its noise on the second input."""
    aligned = all(parting.scale for parting in other.partings)
    one = answers_of(target, pair.one, first, some=aligned)
    two = answers_of(target, pair.other, other, some=aligned)
    for found in (one, two):
        if isinstance(found, Note):
            return None, found
    assert isinstance(one, Answers)
    assert isinstance(two, Answers)
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
    return Fault("noise", message, (line,), code=OF_DATA, fields=fields), None


def _close(one: NDArray[np.float64], two: NDArray[np.float64]) -> bool:
    return one.shape == two.shape and np.allclose(one, two, _NEAR, 1e-12)
