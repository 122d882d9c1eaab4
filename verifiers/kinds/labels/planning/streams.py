"""Streams: each asks one histogram, in a role that says what for and how."""

import math
from dataclasses import dataclass
from enum import Enum, auto, unique
from itertools import cycle
from typing import NamedTuple


@dataclass(frozen=True)
class Extent:
    """The share of the full breadth that a plan asks, and whether it compares symmetric twins.

    Anchors are unaffected: their queries follow from the smallest effect that a pass rules out.
    """

    share: float = 1.0
    symmetries: bool = True

    def of(self, queries: int, least: int) -> int:
        """`share` of `queries`, rounded up, and no fewer than `least` unless there are fewer."""
        return max(min(least, queries), math.ceil(self.share * queries))


FULL = Extent()

FRESH_CALL = 32
"""Labels of the run's first call, and of those that are compared with it."""


class WayOfAsking(Enum):
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
    """A hundred times, between the sweeps; such labels do not estimate the noise scale."""
    ON_DEMAND = auto()
    """Only to show a violation that others have found."""


@dataclass(frozen=True)
class Traits:
    """The properties of a role.

    kind: its name in reports.
    anchor: whether it is asked often enough to see the smallest effect.
    asked: in which way.
    other_totals: whether the targets that have it serve totals of votes other than the claimed
        teachers, None where all targets have it.
    rotated: share of its queries under rotated class numbers.
    weight: an anchor's share of the anchors' prior weight, None for an equal part of the rest.
    breadth: queries of each stream at the full extent, and the least at any, where no smallest
        effect determines them.
    """

    kind: str
    anchor: bool = False
    asked: WayOfAsking = WayOfAsking.SWEPT
    other_totals: bool | None = None
    rotated: float = 0.0
    weight: float | None = None
    breadth: tuple[int, int] = (0, 0)


@unique
class Role(Enum):
    """What a stream is for; roles stand in the order in which a plan lists their streams."""

    PROBE = Traits("probe", breadth=(56, 8))
    """A histogram on which the commonest faults show soonest."""
    TYPICAL = Traits("typical", breadth=(420, 16))
    """A histogram as ensembles meet it every day."""
    FRESH = Traits("fresh", asked=WayOfAsking.IN_CALLS, breadth=(4 * FRESH_CALL, 4 * FRESH_CALL))
    """The histogram that opens the run, asked in calls of one size."""
    INFORMATIVE = Traits("informative", anchor=True, rotated=0.5, weight=0.2)
    """The histogram whose labels tell most about the noise scale."""
    NEAR_TIE = Traits("near-tie", anchor=True, rotated=0.4, weight=0.5)
    """Two leading classes within a tenth of the noise scale: calls are compared with each other.

    Its labels are hard to predict. More than half are asked under one numbering of the classes, for
    the comparison of short calls, copies and one large call.
    """
    HIGH_CONSENSUS = Traits("high-consensus", anchor=True)
    """A unanimous histogram of all teachers."""
    SMALLER_TOTAL = Traits("smaller-total", anchor=True, other_totals=True, rotated=0.5)
    """A unanimous histogram with few votes."""
    OTHER_TOTAL = Traits("other-total", anchor=True, other_totals=True)
    """A clear winner in a larger total, which has twins."""
    CLEAR_WINNER = Traits("clear-winner", anchor=True, other_totals=False)
    """A clear winner in the claimed total, with twins, where no other totals are served."""
    SHIFTED = Traits("shifted", anchor=True, other_totals=True)
    """A twin with the same votes added to every class."""
    PERMUTED = Traits("permuted", anchor=True)
    """A twin under other class numbers."""
    RAISED = Traits("raised", anchor=True)
    """A twin whose leader has gained votes."""
    LATE = Traits("late", anchor=True, asked=WayOfAsking.AT_THE_END, rotated=0.5)
    """Asked last, interleaved with a reserved quarter of the informative and the near-tie."""
    PAIR = Traits("pair", asked=WayOfAsking.IN_TURN, breadth=(256, 32))
    """Two neighbouring histograms whose labels are audited."""
    EVEN = Traits("even", asked=WayOfAsking.IN_TURN, breadth=(128, 16))
    """Two neighbouring histograms with even votes."""
    SAME_VOTES = Traits(
        "same-votes", asked=WayOfAsking.IN_TURN, other_totals=False, breadth=(192, 32)
    )
    """Two of the claim's inputs that have one histogram."""
    LADDER = Traits("clear-lead", rotated=0.5)
    """A leader so far ahead that a shortcut may leave out the noise."""
    ROUNDED = Traits("rounded-counts")
    """Leaders so close that a rounding of noisy counts shows, by who wins where they are equal."""
    SUPPORT = Traits("support")
    """For each number of classes with votes, the histogram where half the noise shows soonest."""
    FEWER_VOTES = Traits("fewer-votes", other_totals=True)
    """Fewer votes than claimed teachers, where scaling up to their number shows."""
    NEAR_TOTAL = Traits("near-total", other_totals=False)
    """A total near the claimed teachers that is served, where totals far from them are refused."""
    SINGLES = Traits("one-by-one", asked=WayOfAsking.ONE_BY_ONE)
    """A histogram that is asked often, here in calls for one label."""
    SIMPLE = Traits("simple", asked=WayOfAsking.ON_DEMAND)
    """Asked only to show a violation on the simplest histogram."""
    EXPLORER = Traits("explorer", asked=WayOfAsking.EXPLORED, breadth=(100, 4))
    """One of many histograms from Hypothesis, each asked a hundred times."""
    OWN = Traits("own", asked=WayOfAsking.EXPLORED, breadth=(100, 4))
    """A histogram that the deployment's owner gave."""

    def __init__(self, traits: Traits) -> None:
        self.kind, self.anchor, self.asked = traits.kind, traits.anchor, traits.asked
        self.other_totals = traits.other_totals
        self.rotated, self.weight, self.breadth = traits.rotated, traits.weight, traits.breadth
        self.deep = traits.asked is not WayOfAsking.EXPLORED  # tells of the noise scale


def anchors(other_totals: bool) -> list[Role]:
    """The anchor roles that a plan may have; other_totals: whether the target serves others."""
    return [role for role in Role if role.anchor and role.other_totals in (None, other_totals)]


@dataclass(frozen=True)
class Stream:
    """The planned queries of one histogram (c,), in one role.

    relabel: for a permuted histogram, the original class of each of its classes; rotated: how many
    of the queries are asked under rotated class numbers, so that a class that is treated unlike the
    others is among the leaders somewhere; second: whether it asks the second of two inputs that
    have these votes.
    """

    role: Role
    histogram: tuple[int, ...]
    queries: int
    relabel: tuple[int, ...] | None = None
    rotated: int = 0
    second: bool = False

    @property
    def kind(self) -> str:
        """The role, as reports name it."""
        return self.role.kind

    @property
    def is_anchor(self) -> bool:
        """Whether this stream alone is asked often enough to see the smallest effect."""
        return self.role.anchor


@dataclass(frozen=True)
class StreamPair:
    """Two streams of one role on neighbouring histograms, asked alternately."""

    role: Role
    first: int
    second: int

    @property
    def streams(self) -> tuple[int, int]:
        """The two streams, in the order asked."""
        return self.first, self.second


class ComparedStreams(NamedTuple):
    """Two streams that a check compares, and the label pairs needed to see the smallest effect."""

    base: int
    other: int
    pairs: int


@dataclass(frozen=True)
class LabelBatch:
    """`size` labels of a stream, in calls for `call` labels each (None: in one call).

    rotation: of the class numbers, in places, 0 for the histogram as it stands; other: a
    stream that is asked for one label after each label of this one, in calls for one label.
    """

    stream: int
    size: int
    rotation: int = 0
    call: int | tuple[int, ...] | None = None
    other: int | None = None

    @property
    def labels(self) -> int:
        """Labels in all, those of the other stream included."""
        return self.size if self.other is None else 2 * self.size

    @property
    def calls(self) -> tuple[int, ...]:
        """Labels of each call; a list of sizes is repeated until all labels are asked."""
        given = (self.size,) if self.call is None else self.call
        each, left = cycle((given,) if isinstance(given, int) else given), self.size
        sizes: list[int] = []
        while left > 0:
            sizes.append(min(next(each), left))
            left -= sizes[-1]
        return tuple(sizes)
