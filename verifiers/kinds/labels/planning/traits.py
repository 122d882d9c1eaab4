"""In which ways a stream of queries is asked, and what there is to decide of one."""

from dataclasses import dataclass
from enum import Enum, auto


class Asked(Enum):
    """In which way the labels of a stream are asked."""

    SWEPT = auto()
    """In batches that double from sweep to sweep."""
    IN_CALLS = auto()
    """In calls of one size, the first of which opens the run."""
    ONE_BY_ONE = auto()
    """In calls for one label."""
    IN_TURN = auto()
    """In turn with a neighbour, in calls for one label."""
    AT_THE_END = auto()
    """After all others."""
    EXPLORED = auto()
    """A hundred times, between the sweeps."""
    ON_DEMAND = auto()
    """Only to show a violation that others have found."""


class Totals(Enum):
    """Of which targets a plan has a role, by the totals of votes that they serve."""

    ANY = auto()
    OTHERS = auto()
    """Of those that serve totals other than the claimed teachers."""
    CLAIMED = auto()
    """Of those that serve the claimed teachers alone."""

    def includes(self, other_totals: bool) -> bool:
        """Whether a target that serves other totals, or one that does not, is among these."""
        return self is Totals.ANY or (self is Totals.OTHERS) == other_totals


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What there is to decide of a role; none has a default, so that a new one forgets none.

    kind: its name in reports; anchor: whether it is asked often enough to see the smallest effect;
    deep: whether its labels tell the noise scale; asked: in which way; totals: of which targets;
    turned: share of its queries under other class numbers; weight: what an anchor has of the
    anchors' prior weight, None for an even part of what the others leave.
    """

    kind: str
    anchor: bool
    deep: bool
    asked: Asked
    totals: Totals
    turned: float
    weight: float | None
