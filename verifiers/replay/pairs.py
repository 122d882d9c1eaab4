"""Neighbours of a kind of release, and what two runs on them with the same draws show.

How far a release moves, and where the runs part.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from ...reference.arrays import Vector
from ..findings.note import Fields, Note
from .frozen import Ran
from .tape import Parting

_ROUNDING = 1e-5
"""Part of the numbers released, and of what is allowed: room for sums in single precision."""

OF_DATA = "noise-depends-on-data"
"""The code of noise whose law depends on the data."""

_NAMES = {np.inf: "max", 2.0: "L2", 1.0: "L1"}
NORMS = {np.inf: "in one number", 2.0: "in L2 norm", 1.0: "in L1 norm"}


@dataclass(frozen=True)
class PairFault:
    """What is wrong with a pair: in words, and where.

    Attributes:
        what: one of "sensitivity", "noise", "shift", "refusal".
        code, fields: of what is wrong.
        lines: lines of the target with what happens there.
        moves: how far a number of the release moves, and allowed: how far it may.
    """

    what: str
    message: str
    lines: tuple[str, ...] = ()
    moves: float | None = None
    allowed: float | None = None
    code: str = field(kw_only=True)
    fields: Fields = field(default_factory=dict, kw_only=True)


@dataclass(frozen=True)
class Limits:
    """How far neighbours may move a release: norm (1, 2, inf) -> distance; grid: of rounding."""

    norms: Mapping[float, float]
    grid: float = 0.0
    numbers: ClassVar[bool] = True

    def share(self, one: Vector, other: Vector, steps: int) -> float:
        """How far two releases lie apart, in parts of what so many steps allow."""
        if np.isnan(one).any() or np.isnan(other).any():
            return 0.0
        norms = self.norms.items()
        with np.errstate(invalid="ignore"):
            apart = np.where(one == other, 0.0, other - one)
        return max(_length(apart, norm) / limit / steps for norm, limit in norms)

    def exceeded(self, one: Vector, other: Vector) -> PairFault | None:
        """The fault of a release that moves further; None where it does not."""
        if np.isnan(other).any() or np.isnan(one).any():
            alike = np.array_equal(np.isnan(one), np.isnan(other))
            if alike:
                return None
            return PairFault("sensitivity", "is NaN for one of them", code="nan-by-data")
        with np.errstate(invalid="ignore"):
            apart = np.where(one == other, 0.0, other - one)
        near = _ROUNDING * float(np.abs(one[np.isfinite(one)]).max(initial=0.0))
        for norm, limit in self.norms.items():
            found = _length(apart, norm)
            wide = self.grid + near
            room = wide if np.isinf(norm) else wide * apart.size ** (1.0 / norm)
            if found > limit * (1.0 + _ROUNDING) + room:
                how = NORMS[norm] if apart.size > 1 else ""
                words = f"moves by {found:.6g}{' ' * bool(how)}{how}, the claim allows {limit:.6g}"
                told: Fields = {"moves": found, "allowed": limit, "norm": _NAMES[norm]}
                code = "moves-too-far"
                return PairFault(
                    "sensitivity", words, moves=found, allowed=limit, code=code, fields=told
                )
        return None


def _length(apart: Vector, norm: float) -> float:
    """The norm of a move (d,), of numbers whose squares may overflow."""
    largest = float(np.abs(apart).max(initial=0.0))
    if largest in (0.0, np.inf):
        return largest
    return largest * float(np.linalg.norm(apart / largest, norm))


def noise_fault(partings: tuple[Parting, ...], *, absent: bool) -> PairFault | None:
    """The fault of noise whose law depends on the data.

    absent: whether noise that one run does not draw is a fault: not where a noisy threshold decides
    what is drawn next.
    """
    for parting in partings:
        if not parting.noise or (parting.absent and not absent):
            continue
        line = f"{parting.line}: {parting.function}"
        words = f"{parting.one} for the first input, {parting.other} for the second"
        if parting.absent:
            made = f"a draw ({_draw_text(parting)})"
            only = f"{made} is made for one input only"
            return PairFault("noise", only, (line,), code=OF_DATA, fields={"of": "absence"})
        of = "scale" if parting.scale else "shape"
        message = f"noise of another {of}: {words}"
        return PairFault("noise", message, (line,), code=OF_DATA, fields={"of": of})
    return None


def _draw_text(parting: Parting) -> str:
    return parting.other if parting.one == "nothing" else parting.one


DIFFERENT = Note("runs-differ", "two runs on one input with the same draws give different releases")
"""Why a target whose draws are played back is not frozen."""


def unfrozen(first: Ran, again: Ran) -> Note | None:
    """Why two runs on one input with the same draws differ; None where they do not."""
    released = np.array_equal(first.released, again.released, equal_nan=True)
    if released and not again.partings:
        return None
    if first.modules:
        message = f"{first.modules[0]} draws outside Python, unseen: dpassay verify can judge it"
        return Note("draws-unseen", message)
    if again.partings:
        parting = again.partings[0]
        message = f"{parting.line}: {parting.function} is not asked alike in two runs on one input"
        return Note("runs-differ", message)
    return DIFFERENT


class Judge(Protocol):
    """What two releases with the same draws show of a pair."""

    @property
    def numbers(self) -> bool:
        """Whether numbers are released, and no label."""

    def exceeded(self, one: Vector, other: Vector) -> PairFault | None:
        """The fault, if any."""

    def share(self, one: Vector, other: Vector, steps: int) -> float:
        """How far two releases lie apart, in parts of what so many steps allow."""


@dataclass(frozen=True)
class Path:
    """Inputs from one to another, of which each is a neighbour of the next.

    steps: from the first to the last; pair: the k-th input and the one after it.
    """

    steps: int
    pair: Callable[[int], "ReplayPair"]

    def at(self, place: int) -> Any:
        """The input at a place, from 0 to `steps`."""
        return self.pair(place).one if place < self.steps else self.pair(place - 1).other


def no_path(origin: Any) -> Path | None:
    """No path is looked at."""
    return None


@dataclass(frozen=True)
class ReplayPair:
    """Two inputs, as a `Release` takes them.

    Attributes:
        words: how they differ.
        judge: what two releases with the same draws show.
        neighbours: whether their noise must have one law.
        absent: whether that includes noise that one of them does not draw.
        path: from the first input of another pair to that of this one, None where there is none.
        simpler: pairs that show the same, but for less.
    """

    words: str
    one: Any
    other: Any
    judge: Judge
    neighbours: bool = True
    absent: bool = True
    path: Callable[[Any], Path | None] = field(default=no_path, compare=False)
    simpler: Callable[[], Iterator["ReplayPair"]] = field(default=lambda: iter(()), compare=False)
