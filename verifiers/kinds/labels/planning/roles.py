"""What a stream of queries is for: each role says how it is asked, and what it must show."""

from enum import Enum, unique

from .traits import Asked, Totals, Traits


@unique
class Role(Enum):
    """All roles, in the order in which a plan has them; a value is what there is to decide."""

    PROBE = Traits(
        kind="probe",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """Where the commonest faults show soonest."""
    TYPICAL = Traits(
        kind="typical",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """What ensembles answer every day."""
    FRESH = Traits(
        kind="fresh",
        anchor=False,
        deep=True,
        asked=Asked.IN_CALLS,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """The histogram that opens the run, asked in calls of one size."""
    INFORMATIVE = Traits(
        kind="informative",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        turned=0.5,
        weight=0.2,
    )
    """Whose labels tell most of the noise scale."""
    NEAR_TIE = Traits(
        kind="near-tie",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        turned=0.4,
        weight=0.5,
    )
    """On which calls themselves are compared: its labels are hard to predict.

    More than half keeps one numbering: calls, copies and one large call are compared there.
    """
    HIGH_CONSENSUS = Traits(
        kind="high-consensus",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """Unanimous."""
    SMALLER_TOTAL = Traits(
        kind="smaller-total",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.OTHERS,
        turned=0.5,
        weight=None,
    )
    """Unanimous, with few votes."""
    OTHER_TOTAL = Traits(
        kind="other-total",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.OTHERS,
        turned=0.0,
        weight=None,
    )
    """A clear winner of more votes, which has twins."""
    CLEAR_WINNER = Traits(
        kind="clear-winner",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.CLAIMED,
        turned=0.0,
        weight=None,
    )
    """The same of the claimed votes, where no others are served."""
    SHIFTED = Traits(
        kind="shifted",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.OTHERS,
        turned=0.0,
        weight=None,
    )
    """A twin with the same votes added to every class."""
    PERMUTED = Traits(
        kind="permuted",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """A twin under other class numbers."""
    RAISED = Traits(
        kind="raised",
        anchor=True,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """A twin whose leader has gained votes."""
    LATE = Traits(
        kind="late",
        anchor=True,
        deep=True,
        asked=Asked.AT_THE_END,
        totals=Totals.ANY,
        turned=0.5,
        weight=None,
    )
    """Asked last, interleaved with a reserved quarter of the telling anchors."""
    PAIR = Traits(
        kind="pair",
        anchor=False,
        deep=True,
        asked=Asked.IN_TURN,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """Two neighbouring histograms whose labels are audited."""
    EVEN = Traits(
        kind="even",
        anchor=False,
        deep=True,
        asked=Asked.IN_TURN,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """Two neighbouring histograms with even votes."""
    SAME_VOTES = Traits(
        kind="same-votes",
        anchor=False,
        deep=True,
        asked=Asked.IN_TURN,
        totals=Totals.CLAIMED,
        turned=0.0,
        weight=None,
    )
    """Two of the claim's inputs that have one histogram."""
    LADDER = Traits(
        kind="clear-lead",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        turned=0.5,
        weight=None,
    )
    """Whose leader is so far ahead that a shortcut may leave out the noise."""
    SUPPORT = Traits(
        kind="support",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """With votes on so many classes: one for each number of them, where half the noise shows."""
    FEWER_VOTES = Traits(
        kind="fewer-votes",
        anchor=False,
        deep=True,
        asked=Asked.SWEPT,
        totals=Totals.OTHERS,
        turned=0.0,
        weight=None,
    )
    """Of some teachers less than claimed, where votes that are scaled up to them show."""
    SINGLES = Traits(
        kind="one-by-one",
        anchor=False,
        deep=True,
        asked=Asked.ONE_BY_ONE,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """What is asked deeply, asked in calls for one label."""
    SIMPLE = Traits(
        kind="simple",
        anchor=False,
        deep=True,
        asked=Asked.ON_DEMAND,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """Asked only to show a violation on the simplest histogram."""
    EXPLORER = Traits(
        kind="explorer",
        anchor=False,
        deep=False,
        asked=Asked.EXPLORED,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """Of many, each asked little."""
    OWN = Traits(
        kind="own",
        anchor=False,
        deep=False,
        asked=Asked.EXPLORED,
        totals=Totals.ANY,
        turned=0.0,
        weight=None,
    )
    """A deployment's own histogram."""

    def __init__(self, traits: Traits) -> None:
        self.kind, self.anchor, self.deep = traits.kind, traits.anchor, traits.deep
        self.asked, self.totals = traits.asked, traits.totals
        self.turned, self.weight = traits.turned, traits.weight


def anchors(other_totals: bool) -> list[Role]:
    """The anchors that a plan may have, by whether the target serves other totals."""
    return [role for role in Role if role.anchor and role.totals.includes(other_totals)]
