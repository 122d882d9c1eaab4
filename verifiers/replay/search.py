"""The search for a pair that shows a fault, and the line where it arises."""

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from ...reference.mechanisms import REFUSAL
from ..findings.note import Note
from ..targets.replies import Refused
from .frozen import FrozenTarget, NoReleaseError, Ran
from .labels import prove_of_label
from .pairs import DIFFERENT, PairFault, Path, ReplayPair, noise_fault, unfrozen
from .proof import NOTHING, prove
from .refusals import Judge
from .steps import lines_that_move, parting_lines
from .tape import Draw, Parting

UNANSWERED = (Refused, NoReleaseError)
"""What a run ends in without a release."""

End = Refused | NoReleaseError

ALL_REFUSED = Note("no-pair-compared", "every query was refused, so that no label was compared")

_SHRINKS, _SECONDS = 60, 20.0
"""Simpler pairs that are tried in all, and for how long: a target may import for seconds."""

_LOOKS = 8  # at what a line, or a move, seems to show and cannot be proved: then no more
_Looks = defaultdict[tuple[str, ...], list[Note | None]]
"""Lines of what seemed to be a fault -> why each was none, None where the noise is of one law."""

_LINES = 4  # that are named where numbers move


@dataclass(frozen=True)
class Found:
    """What the pairs showed.

    Attributes:
        fault, pair: of the first that showed one, as simple as it was found.
        unfrozen: why nothing could be compared.
        compared, skipped: pairs.
        draws: of one run.
    """

    fault: PairFault | None
    pair: ReplayPair | None
    unfrozen: Note | None
    compared: int
    skipped: int
    draws: tuple[Draw, ...]


def search(target: FrozenTarget, pairs: Iterable[ReplayPair], judge: Judge) -> Found:
    """Looks at pairs until one shows a fault; judge: of refusals. Raises TargetError."""
    compared = skipped = 0
    answered = False
    looks: _Looks = defaultdict(list)
    base: Any = None
    first: Ran | End | None = None
    why: Note | None = None
    draws: tuple[Draw, ...] = ()
    for pair in pairs:
        looked = [pair]
        if base is not pair.one:
            before, base, first = (base, first), pair.one, _run(target, pair.one)
            if isinstance(first, Ran) and not draws:
                draws = first.draws
                again = _run(target, base, draws)
                changes = unfrozen(first, again) if isinstance(again, Ran) else DIFFERENT
                if changes is not None:
                    return Found(None, None, changes, compared, skipped, draws)
            if isinstance(before[1], Ran):
                looked += _critical_neighbours(
                    target, before[1], pair.path(before[0]), absent=pair.absent
                )
        for near in looked:
            start = first if near is pair else _run(target, near.one)
            assert start is not None
            fault, parted = _examine(target, start, near, looks)
            if isinstance(parted, UNANSWERED):
                told = judge(near, parted)
                if not isinstance(told, Note):
                    return Found(*told, None, compared, skipped, draws)
                parted = told
            if fault is not None and isinstance(start, Ran):
                fault, simple, start = _shrink(target, fault, near, start)
                placed = _locate(target, fault, simple, start)
                return Found(placed, simple, None, compared, skipped, draws)
            skipped, compared = skipped + (parted is not None), compared + (parted is None)
            answered |= isinstance(start, Ran) and not np.array_equal(start.row, [REFUSAL])
            why = why or parted
    if compared and not answered:
        return Found(None, None, ALL_REFUSED, 0, skipped + compared, draws)
    if not draws and compared:
        return Found(None, None, NOTHING, 0, skipped + compared, draws)
    return Found(None, None, why, compared, skipped, draws)


def _critical_neighbours(
    target: FrozenTarget, first: Ran, path: Path | None, *, absent: bool
) -> list[ReplayPair]:
    """The neighbours on a path between which the noise changes, or a release moves most."""
    if path is None:
        return []
    judge = path.pair(0).judge
    low, high = 0, path.steps
    try:
        here, there = first, target.run(path.at(high), first.draws)
        noisy = _noise(there, absent) != _noise(here, absent)
        while high - low > 1:
            middle = (low + high) // 2
            halfway = target.run(path.at(middle), first.draws)
            left = judge.share(here.row, halfway.row, middle - low)
            right = judge.share(halfway.row, there.row, high - middle)
            changed = _noise(halfway, absent) != _noise(here, absent)
            if changed if noisy else left > right:
                high, there = middle, halfway
            else:
                low, here = middle, halfway
    except UNANSWERED:
        return []
    return [path.pair(low)]


def _noise(ran: Ran, absent: bool) -> list[Parting]:
    """Where the noise of a run parted from the tape; absent: whether lacking draws count."""
    return [parting for parting in ran.partings if parting.noise and (absent or not parting.absent)]


def _run(target: FrozenTarget, values: Any, recorded: tuple[Draw, ...] | None = None) -> Ran | End:
    """A run on an input, or what it ended in."""
    try:
        return target.run(values, recorded)
    except UNANSWERED as end:
        return end


def _compare(
    target: FrozenTarget, first: Ran, pair: ReplayPair
) -> tuple[list[PairFault], Ran | End, Note | None]:
    """What a pair seems to show, and the second run; or why it cannot be compared."""
    other = _run(target, pair.other, first.draws)
    if not isinstance(other, Ran):
        return [], other, None
    noise = noise_fault(other.partings, absent=pair.absent) if pair.neighbours else None
    faults = [] if noise is None else [noise]
    moved = pair.judge.exceeded(first.row, other.row)
    if moved is None:
        return faults, other, None
    drawn = next((parting for parting in other.partings if not parting.scale), None)
    if drawn is None:
        return [*faults, moved], other, None
    # what moved may be the draw
    message = f"{drawn.line}: {drawn.function} draws by the data, and is not frozen"
    return faults, other, Note("draws-by-data", message)


def _examine(
    target: FrozenTarget, first: Ran | End, pair: ReplayPair, looks: _Looks
) -> tuple[PairFault | None, Note | End | None]:
    """The fault that a pair shows, or why it cannot be compared, or what a run ended in."""
    if not isinstance(first, Ran):
        return None, first
    faults, other, why = _compare(target, first, pair)
    if not isinstance(other, Ran):
        return None, other
    for seen in faults:
        before = looks[seen.lines]
        if len(before) < _LOOKS:
            proof = prove if pair.judge.numbers else prove_of_label
            try:
                fault, unproved = proof(target, pair, seen, first, other)
            except UNANSWERED as end:
                return None, end
            if fault is not None:
                return fault, None
            before.append(unproved)
        why = before[-1] or why
    return None, why


def _shrink(
    target: FrozenTarget, fault: PairFault, pair: ReplayPair, first: Ran
) -> tuple[PairFault, ReplayPair, Ran]:
    """The simplest pair that was found to show a fault of the same kind, and its first run."""
    looks: _Looks = defaultdict(list)
    left, end = _SHRINKS, time.monotonic() + _SECONDS
    while left > 0 and time.monotonic() < end:
        for simpler in islice(pair.simpler(), left):
            if time.monotonic() > end:
                break
            left -= 1
            start = _run(target, simpler.one)
            found, _ = _examine(target, start, simpler, looks)
            if found is not None and isinstance(start, Ran) and found.what == fault.what:
                fault, pair, first = found, simpler, start
                break
        else:
            break
    return fault, pair, first


def _locate(target: FrozenTarget, fault: PairFault, pair: ReplayPair, drawn: Ran) -> PairFault:
    """The fault with the lines at which it arises, by the draws of the run that showed it."""
    first = target.run(pair.one, drawn.draws, traced=True)
    other = target.run(pair.other, drawn.draws, traced=True)
    lines = list(fault.lines)
    if fault.what == "shift":  # which noise of another scale may have brought about
        lines += [f"{p.line}: {p.function}, {p.one}, then {p.other}" for p in other.partings]
    with np.errstate(invalid="ignore"):
        moves = np.where(other.row == first.row, 0.0, other.row - first.row)
    if np.any(moves != 0.0):
        for line, name in lines_that_move(first.steps, other.steps, moves)[:_LINES]:
            lines.append(f"{line}: {name} moves as the release does")
    parted = parting_lines(first.steps, other.steps)
    if parted is not None:
        after, one, there = parted
        lines.append(f"{after}: goes on to {one} for the first input, to {there} for the second")
    return replace(fault, lines=tuple(dict.fromkeys(lines)))
