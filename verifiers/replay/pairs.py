"""Neighbours of a kind of release, from plain to extreme, and simpler ones of each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from ...reference.arrays import Vector
from ..claims.claim import Claim
from .faults import Fault


class Judge(Protocol):
    """What two releases with the same draws show of a pair."""

    @property
    def numbers(self) -> bool:
        """Whether numbers are released, and no label."""

    def exceeded(self, one: Vector, other: Vector) -> Fault | None:
        """The fault, if any."""

    def share(self, one: Vector, other: Vector, steps: int) -> float:
        """How far two releases lie apart, in parts of what so many steps allow."""


@dataclass(frozen=True)
class Path:
    """Inputs from one to another, of which each is a neighbour of the next.

    steps: from the first to the last; pair: the k-th input and the one after it.
    """

    steps: int
    pair: Callable[[int], "Pair"]

    def at(self, place: int) -> Any:
        """The input at a place, from 0 to `steps`."""
        return self.pair(place).one if place < self.steps else self.pair(place - 1).other


def no_path(origin: Any) -> Path | None:
    """No path is looked at."""
    return None


@dataclass(frozen=True)
class Pair:
    """Two inputs, as a `Release` takes them.

    words: how they differ; judge: what two releases with the same draws show; neighbours:
    whether their noise must have one law; absent: whether that includes noise that one of them does
    not draw; path: from the first input of another pair to that of
    this one, None where there is none; simpler: pairs that show the same, but for less.
    """

    words: str
    one: Any
    other: Any
    judge: Judge
    neighbours: bool = True
    absent: bool = True
    path: Callable[[Any], Path | None] = field(default=no_path, compare=False)
    simpler: Callable[[], Iterator["Pair"]] = field(default=lambda: iter(()), compare=False)


_MODULES = {"labels": ".label_pairs", "numbers": ".number_pairs"}
"""Kinds whose neighbours are made here, each in a module that imports this one."""


def made_pairs(claim: Claim, seed: int) -> Iterator[Pair]:
    """Neighbours under a claim, without end. Raises ValueError of one line for other kinds."""
    name = claim.kind.name
    if name not in _MODULES:
        raise ValueError(f"noise is frozen for claims of {', '.join(_MODULES)}, not of {name}")
    made: Iterator[Pair] = import_module(_MODULES[name], __package__).pairs(claim, seed)
    return made
