"""The ways in which a stream is asked, and the properties of a role."""

from dataclasses import dataclass
from enum import Enum, auto


class Asked(Enum):
    """The way in which the labels of a stream are asked."""

    SWEPT = auto()
    """In batches that double from sweep to sweep."""
    IN_CALLS = auto()
    """In calls of one size, the first of which opens the run."""
    ONE_BY_ONE = auto()
    """In calls for one label."""
    IN_TURN = auto()
    """In calls for one label, alternating with a neighbour."""
    AT_THE_END = auto()
    """After all others."""
    EXPLORED = auto()
    """A hundred times, between the sweeps."""
    ON_DEMAND = auto()
    """Only to show a violation that others have found."""


class Totals(Enum):
    """The targets whose plans have a role, by the totals of votes that they serve."""

    ANY = auto()
    OTHERS = auto()
    """Targets that serve totals other than the claimed teachers."""
    CLAIMED = auto()
    """Targets that serve the claimed total only."""

    def includes(self, other_totals: bool) -> bool:
        """Whether a target belongs to these; other_totals: whether it serves other totals."""
        return self is Totals.ANY or (self is Totals.OTHERS) == other_totals


@dataclass(frozen=True, kw_only=True)
class Traits:
    """The properties of a role; none has a default, so that a new role states them all.

    kind: its name in reports; anchor: whether it is asked often enough to see the smallest effect;
    deep: whether its labels are used to estimate the noise scale; asked: in which way; totals:
    which targets have it; turned: share of its queries under rotated class numbers; weight: an
    anchor's share of the anchors' prior weight, None for an equal part of the rest.
    """

    kind: str
    anchor: bool
    deep: bool
    asked: Asked
    totals: Totals
    rotated: float
    weight: float | None
