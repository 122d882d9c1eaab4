"""What a shadow is asked for, and what it tells."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from .counting import Outcome
from .decision import Decision
from .hints import Hint


class CallEnd(Enum):
    """What a call ended in."""

    ANSWERED = auto()
    REFUSED = auto()
    FAILED = auto()


@dataclass(frozen=True)
class Rehearsal:
    """Calls, one after the other, from the state after the import.

    calls: inputs, with how many releases each asks for; release: how inputs travel; noise: seeds
    the generators that the target holds; seconds: that all may take; refuses: whether a label may
    be a refusal, None where no labels are released.
    """

    calls: tuple[tuple[Any, int], ...]
    release: Any
    noise: int
    seconds: float
    refuses: bool | None = None


@dataclass(frozen=True)
class CallSeen:
    """What one call took: how often each outcome, and the sides of comparisons of two numbers.

    why: of a call that failed, its error in one line.
    """

    ended: CallEnd
    taken: dict[Outcome, int]
    sides: dict[int, tuple[float, float]]
    why: str = ""


@dataclass(frozen=True)
class Loaded:
    """What loading came to.

    constants, shares: whole numbers, and those between 0 and 1, in the source; layers: of
    confinement that hold; why: the target could not be loaded, None where it was; hints: of the
    source.
    """

    decisions: tuple[Decision, ...]
    constants: tuple[int, ...]
    shares: tuple[float, ...]
    layers: tuple[str, ...]
    why: str | None
    hints: tuple[Hint, ...] = ()
