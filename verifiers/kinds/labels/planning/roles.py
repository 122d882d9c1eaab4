"""The roles of streams: what each is for, and how it is asked."""

from enum import Enum, unique

from .traits import Asked, Totals, Traits


@unique
class Role(Enum):
    """What a stream is for; roles stand in the order in which a plan lists their streams."""

    PROBE = Traits(
        kind="probe",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """A histogram on which the commonest faults show soonest."""
    TYPICAL = Traits(
        kind="typical",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """A histogram as ensembles meet it every day."""
    FRESH = Traits(
        kind="fresh",
        anchor=False,
        deep=True,
        asked=Asked.IN_CALLS,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """The histogram that opens the run, asked in calls of one size."""
    INFORMATIVE = Traits(
        kind="informative",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        rotated=0.5,
        weight=0.2,
    )
    """The histogram whose labels tell most about the noise scale."""
    NEAR_TIE = Traits(
        kind="near-tie",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        rotated=0.4,
        weight=0.5,
    )
    """Two leading classes within a tenth of the noise scale: calls are compared with each other.

    Its labels are hard to predict. More than half are asked under one numbering of the classes, for
    the comparison of short calls, copies and one large call.
    """
    HIGH_CONSENSUS = Traits(
        kind="high-consensus",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """A unanimous histogram of all teachers."""
    SMALLER_TOTAL = Traits(
        kind="smaller-total",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.OTHERS,
        rotated=0.5,
        weight=None,
    )
    """A unanimous histogram with few votes."""
    OTHER_TOTAL = Traits(
        kind="other-total",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.OTHERS,
        rotated=0.0,
        weight=None,
    )
    """A clear winner in a larger total, which has twins."""
    CLEAR_WINNER = Traits(
        kind="clear-winner",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.CLAIMED,
        rotated=0.0,
        weight=None,
    )
    """A clear winner in the claimed total, with twins, where no other totals are served."""
    SHIFTED = Traits(
        kind="shifted",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.OTHERS,
        rotated=0.0,
        weight=None,
    )
    """A twin with the same votes added to every class."""
    PERMUTED = Traits(
        kind="permuted",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """A twin under other class numbers."""
    RAISED = Traits(
        kind="raised",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """A twin whose leader has gained votes."""
    LATE = Traits(
        kind="late",
        anchor=True,
        deep=True,
        asked=Asked.AT_THE_END,
        totals=Totals.ANY,
        rotated=0.5,
        weight=None,
    )
    """Asked last, interleaved with a reserved quarter of the informative and the near-tie."""
    PAIR = Traits(
        kind="pair",
        anchor=False,
        deep=True,
        asked=Asked.IN_TURN,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """Two neighbouring histograms whose labels are audited."""
    EVEN = Traits(
        kind="even",
        anchor=False,
        deep=True,
        asked=Asked.IN_TURN,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """Two neighbouring histograms with even votes."""
    SAME_VOTES = Traits(
        kind="same-votes",
        anchor=False,
        deep=True,
        asked=Asked.IN_TURN,
        totals=Totals.CLAIMED,
        rotated=0.0,
        weight=None,
    )
    """Two of the claim's inputs that have one histogram."""
    LADDER = Traits(
        kind="clear-lead",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        rotated=0.5,
        weight=None,
    )
    """A leader so far ahead that a shortcut may leave out the noise."""
    SUPPORT = Traits(
        kind="support",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """For each number of classes with votes, the histogram where half the noise shows soonest."""
    FEWER_VOTES = Traits(
        kind="fewer-votes",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.OTHERS,
        rotated=0.0,
        weight=None,
    )
    """Fewer votes than claimed teachers, where scaling up to their number shows."""
    SINGLES = Traits(
        kind="one-by-one",
        anchor=False,
        deep=True,
        asked=Asked.ONE_BY_ONE,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """A histogram that is asked often, here in calls for one label."""
    SIMPLE = Traits(
        kind="simple",
        anchor=False,
        deep=True,
        asked=Asked.ON_DEMAND,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """Asked only to show a violation on the simplest histogram."""
    EXPLORER = Traits(
        kind="explorer",
        anchor=False,
        deep=False,
        asked=Asked.EXPLORED,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """One of many histograms from Hypothesis, each asked a hundred times."""
    OWN = Traits(
        kind="own",
        anchor=False,
        deep=False,
        asked=Asked.EXPLORED,
        totals=Totals.ANY,
        rotated=0.0,
        weight=None,
    )
    """A histogram that the deployment's owner gave."""

    def __init__(self, traits: Traits) -> None:
        self.kind, self.anchor, self.deep = traits.kind, traits.anchor, traits.deep
        self.asked, self.totals = traits.asked, traits.totals
        self.rotated, self.weight = traits.rotated, traits.weight


def anchors(other_totals: bool) -> list[Role]:
    """The anchor roles that a plan may have; other_totals: whether the target serves others."""
    return [role for role in Role if role.anchor and role.totals.includes(other_totals)]
