"""The lines that a run of the target goes through, and the numbers of its variables."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tape import Tape

_MOST_LINES = 200_000
_MOST_NUMBERS = 100_000  # of a variable


@dataclass(frozen=True)
class LastValue:
    """What a variable held last: since when, after which line, and its numbers (n,)."""

    turn: int
    line: str
    numbers: NDArray[np.float64]


@dataclass
class LineTrace:
    """The lines of a run in order, `file.py:12`, and what variables of functions held last."""

    path: list[str] = field(default_factory=list)
    held: dict[tuple[str, str], LastValue] = field(default_factory=dict)

    @contextmanager
    def traced(self, tape: Tape) -> Iterator[None]:
        """A block whose lines are followed, where they are the target's own."""
        before: dict[int, tuple[str, dict[str, int]]] = {}

        def follow(frame: FrameType, event: str, argument: Any) -> Any:
            if not tape.own(frame.f_code.co_filename):
                return None
            if event == "call":
                before[id(frame)] = "", {}
                return follow
            self._note(frame, before)
            if event == "line" and len(self.path) < _MOST_LINES:
                line = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
                self.path.append(line)
                before[id(frame)] = line, before[id(frame)][1]
            if event == "return":
                self._keep(frame, "what is returned", before[id(frame)][0], argument)
            return follow

        sys.settrace(follow)
        try:
            yield
        finally:
            sys.settrace(None)

    def _note(self, frame: FrameType, before: dict[int, tuple[str, dict[str, int]]]) -> None:
        """Keeps the variables that the line before has given new numbers."""
        line, known = before.get(id(frame), ("", {}))
        now: dict[str, int] = {}
        for name, value in frame.f_locals.items():
            found = numbers_of(value)
            if found is None:
                continue
            now[name] = hash(found.tobytes())
            if line and known.get(name) != now[name]:
                self._keep(frame, name, line, found)
        before[id(frame)] = line, now

    def _keep(self, frame: FrameType, name: str, line: str, value: Any) -> None:
        found = numbers_of(value)
        if found is not None and line:
            place = f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}", name
            self.held[place] = LastValue(len(self.path), line, found)


def numbers_of(value: Any) -> NDArray[np.float64] | None:
    """A variable's numbers (n,), or None where it has none, or too many."""
    if isinstance(value, dict):
        value = list(value.values())
    listed = isinstance(value, list | tuple) and 0 < len(value) <= _MOST_NUMBERS
    single = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (listed or single or (hasattr(value, "__array__") and not callable(value))):
        return None
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(value)
            known = found.dtype.kind in "iuf" and 0 < found.size <= _MOST_NUMBERS
            return found.astype(np.float64).reshape(-1) if known else None
    except Exception:  # whatever an object of the target raises when it is made an array
        return None


def lines_that_move(
    one: LineTrace, other: LineTrace, moves: NDArray[np.float64]
) -> list[tuple[str, str]]:
    """Lines of the second run, with a variable each, that differ by what the release differs by.

    moves (d,): the difference of the releases. In the order of the run, without the last, at which
    the release is returned.
    """
    found = []
    near = 1e-6 * float(np.abs(moves[np.isfinite(moves)]).max(initial=0.0)) + 1e-12
    for place in one.held.keys() & other.held.keys():
        here, there = one.held[place], other.held[place]
        if here.numbers.shape != moves.shape or there.numbers.shape != moves.shape:
            continue
        with np.errstate(invalid="ignore"):
            apart = there.numbers - here.numbers
            like = np.isclose(apart, moves, 0.0, near, equal_nan=True)
        if like.all():
            found.append((there.turn, there.line, place[1]))
    places = [place for _, *place in sorted(found)]
    return [(line, name) for line, name in places[: max(1, len(places) - 1)]]


def parting_lines(one: LineTrace, other: LineTrace) -> tuple[str, str, str] | None:
    """The line after which two runs go on to different ones, and these; None where they do not."""
    for turn, (here, there) in enumerate(zip(one.path, other.path, strict=False)):
        if here != there:
            return one.path[turn - 1] if turn else here, here, there
    return None
