"""The roles of streams: what each is for, and how it is asked."""

from dataclasses import dataclass
from enum import Enum, auto, unique


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
    """A hundred times, between the sweeps; such labels do not estimate the noise scale."""
    ON_DEMAND = auto()
    """Only to show a violation that others have found."""


@dataclass(frozen=True)
class Traits:
    """The properties of a role.

    kind: its name in reports; anchor: whether it is asked often enough to see the smallest effect;
    asked: in which way; other_totals: whether the targets that have it serve totals of votes other
    than the claimed teachers, None where all targets have it; rotated: share of its queries under
    rotated class numbers; weight: an anchor's share of the anchors' prior weight, None for an equal
    part of the rest.
    """

    kind: str
    anchor: bool = False
    asked: Asked = Asked.SWEPT
    other_totals: bool | None = None
    rotated: float = 0.0
    weight: float | None = None


@unique
class Role(Enum):
    """What a stream is for; roles stand in the order in which a plan lists their streams."""

    PROBE = Traits("probe")
    """A histogram on which the commonest faults show soonest."""
    TYPICAL = Traits("typical")
    """A histogram as ensembles meet it every day."""
    FRESH = Traits("fresh", asked=Asked.IN_CALLS)
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
    LATE = Traits("late", anchor=True, asked=Asked.AT_THE_END, rotated=0.5)
    """Asked last, interleaved with a reserved quarter of the informative and the near-tie."""
    PAIR = Traits("pair", asked=Asked.IN_TURN)
    """Two neighbouring histograms whose labels are audited."""
    EVEN = Traits("even", asked=Asked.IN_TURN)
    """Two neighbouring histograms with even votes."""
    SAME_VOTES = Traits("same-votes", asked=Asked.IN_TURN, other_totals=False)
    """Two of the claim's inputs that have one histogram."""
    LADDER = Traits("clear-lead", rotated=0.5)
    """A leader so far ahead that a shortcut may leave out the noise."""
    ROUNDED = Traits("rounded-counts")
    """Leaders so close that a rounding of noisy counts shows, by who wins where they are equal."""
    SUPPORT = Traits("support")
    """For each number of classes with votes, the histogram where half the noise shows soonest."""
    FEWER_VOTES = Traits("fewer-votes", other_totals=True)
    """Fewer votes than claimed teachers, where scaling up to their number shows."""
    SINGLES = Traits("one-by-one", asked=Asked.ONE_BY_ONE)
    """A histogram that is asked often, here in calls for one label."""
    SIMPLE = Traits("simple", asked=Asked.ON_DEMAND)
    """Asked only to show a violation on the simplest histogram."""
    EXPLORER = Traits("explorer", asked=Asked.EXPLORED)
    """One of many histograms from Hypothesis, each asked a hundred times."""
    OWN = Traits("own", asked=Asked.EXPLORED)
    """A histogram that the deployment's owner gave."""

    def __init__(self, traits: Traits) -> None:
        self.kind, self.anchor, self.asked = traits.kind, traits.anchor, traits.asked
        self.other_totals = traits.other_totals
        self.rotated, self.weight = traits.rotated, traits.weight

    @property
    def deep(self) -> bool:
        """Whether its labels are used to estimate the noise scale."""
        return self.asked is not Asked.EXPLORED


def anchors(other_totals: bool) -> list[Role]:
    """The anchor roles that a plan may have; other_totals: whether the target serves others."""
    return [role for role in Role if role.anchor and role.other_totals in (None, other_totals)]
