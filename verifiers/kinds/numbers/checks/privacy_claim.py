"""`privacy-claim`: the claimed epsilon, delta and queries against what the claimed noise costs."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, cast

from .....reference.numbers.costs import epsilon_bracket
from ....claims.tables import PrivacyClaim
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import Check, Reason, without_privacy
from ....run.phase import Phase
from ....text import rounded_down
from ..claim import NumbersClaim
from ..planning.pairs import certified_pair
from .pair_check import fractions

MOST = 1_000
"""Numbers that are counted at most, in all releases together, unless the noise is Gaussian.

The cost of fewer releases than claimed is a lower bound for all of them.
"""

ROUNDING = 1e-9
"""Relative error that is forgiven a delta: its law is exact to some 1e-12, claims are rounded."""

_BY_BALLS = "a lower bound of the claimed noise's cost, in ball arithmetic; nothing is asked"

CAUSE = Note(
    "cost-above-claim", "the accountant charges too little, or the claim allows too many queries"
)


class NumbersPrivacyClaim(Check):
    """Brackets the exact cost of the farthest neighbours; asks for nothing.

    A claim is refuted only by a lower bound on epsilon in ball arithmetic, for releases as they are
    rounded and clamped. A claim that is not refuted may cost more against other neighbours. The
    bracket is in floating point, and for noise that is neither rounded nor clamped.
    """

    id = "privacy-claim"
    phase = Phase.CLAIM

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        family, moving = claim.mechanism.aggregation.noise.family, _moving(claim)
        if claim.privacy is not None and not family.accounted:
            message = f"what several releases with {family} noise cost is not known"
            return Note("cost-not-computed", message)
        if claim.privacy is not None and moving > MOST:
            message = f"{moving:,} numbers move together: beyond {MOST:,} there is no bracket"
            return Note("cost-not-computed", message, {"numbers": moving, "most": MOST})
        return without_privacy(claim) or fractions(claim)

    def conclude(self, context: object = None) -> Outcome:
        """It asks for nothing."""
        privacy = self.claim.private
        counted, certain = self._counted, self._certain
        bracket = epsilon_bracket(self.claim.mechanism.aggregation, privacy.delta, counted)
        digits = digits_apart(certain, privacy.epsilon)
        low, high = f"{bracket.low:.{digits}g}", f"{bracket.high:.{digits}g}"
        cost = low if low == high else f"between {low} and {high}"
        what = (
            f"epsilon {privacy.epsilon:.{digits}g} at delta {privacy.delta:g} over "
            f"{in_words(privacy.queries)}"
        )
        of = f"the cost of {counted_of(counted, privacy.queries)} is"
        if certain > privacy.epsilon:
            message = (
                f"{what} is claimed, and {of} at least {certain:.{digits}g} (certified in "
                f"ball arithmetic; {cost} in floating point)"
                f"{rounded_down(privacy.epsilon, certain)}"
            )
            return Outcome(
                Verdict.FAIL, Finding.caused(message, CAUSE, **of_cost(certain, self.claim))
            )
        excludes = self.excluded
        less = "".join(
            f"; an epsilon below {one.size['epsilon']:.{digits}g} would have been refuted"
            for one in excludes
        )
        found = Finding(f"{what} is not refuted: {of} {cost}{less}", excludes=excludes)
        return Outcome(Verdict.PASS, found)

    @property
    def _counted(self) -> int:
        return counted_releases(self.claim)

    @cached_property
    def _certain(self) -> float:
        """What these releases certainly cost at the claimed delta."""
        return certified_pair(self.claim.mechanism).epsilon_lower(
            self._counted, self.claim.private.delta
        )

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """A smaller epsilon, by the claim alone."""
        privacy = self.claim.privacy
        if privacy is None or not 0.0 < self._certain <= privacy.epsilon:
            return ()
        size = {"epsilon": self._certain, "delta": privacy.delta, "queries": self._counted}
        where = ("the farthest neighbours",)
        found = self.entry(CAUSE.code, size, where, 0, method=_BY_BALLS)
        return (found,)


@dataclass(frozen=True)
class ProvenCost:
    """What a unit, in words, certainly costs over so many releases, in ball arithmetic.

    neighbours: that cost it, in brackets; apart: what is left out of it, in words.
    """

    who: str
    epsilon: float
    releases: int
    neighbours: str = ""
    apart: str = ""


class ReleasedAloneClaim(Check):
    """Holds the claimed delta and epsilon beside what a unit certainly costs; asks for nothing.

    That something is released which the neighbour does not have is an event of probability 0
    there, so that no epsilon covers it: delta is at least its probability, over all releases
    claimed. Epsilon is held beside a lower bound. left_out: a delta below it, as a cause.
    """

    id = "privacy-claim"
    phase = Phase.CLAIM
    left_out: ClassVar[str]

    @classmethod
    def not_applicable_to(cls, claim: Any) -> Reason:
        return without_privacy(claim)

    @property
    @abstractmethod
    def alone(self) -> tuple[str, float]:
        """What a unit alone makes, in words, and how likely it is released over all queries."""

    @abstractmethod
    def cost(self) -> ProvenCost:
        """What a unit certainly costs at the claimed delta."""

    def conclude(self, context: object = None) -> Outcome:
        """It asks for nothing."""
        privacy, (what, least) = self.claim.private, self.alone
        alone = (
            f"{what} are released with probability {least:.4g} in {in_words(privacy.queries)}, and "
            f"delta = {privacy.delta:g} is claimed"
        )
        if privacy.delta < least * (1.0 - ROUNDING):
            fields: Fields = {"delta": privacy.delta, "least": least, "queries": privacy.queries}
            why = Note("delta-too-small", self.left_out, fields)
            return Outcome(Verdict.FAIL, Finding.caused(alone, why))
        cost = self.cost()
        digits = digits_apart(cost.epsilon, privacy.epsilon)
        message = (
            f"{cost.who} costs at least epsilon {cost.epsilon:.{digits}g} at delta "
            f"{privacy.delta:g} over {counted_of(cost.releases, privacy.queries)}"
            f"{cost.neighbours}, and epsilon = {privacy.epsilon:.{digits}g} is claimed"
        )
        if cost.epsilon <= privacy.epsilon:
            beside = f"; {alone}" if least else ""
            return Outcome(Verdict.PASS, Finding(f"{message}: not refuted{cost.apart}{beside}"))
        hint = rounded_down(privacy.epsilon, cost.epsilon)
        proof = f"{message} (certified in ball arithmetic){hint}"
        seen = {**of_cost(cost.epsilon, self.claim), "releases": cost.releases}
        return Outcome(Verdict.FAIL, Finding.caused(proof, CAUSE, **seen))


def cost_at(claim: NumbersClaim, scale: float) -> tuple[float, float] | None:
    """Of the farthest neighbours."""
    privacy, aggregation = claim.private, cast(Any, claim.mechanism.aggregation)
    if not aggregation.noise.family.accounted or counted_releases(claim) < privacy.queries:
        return None  # of fewer releases, it would be no cost of those claimed
    factor = scale / aggregation.noise.family.scale
    there = replace(aggregation, noise=aggregation.noise.times(factor))
    bracket = epsilon_bracket(there, privacy.delta, privacy.queries)
    return bracket.low, bracket.high


def counted_releases(claim: NumbersClaim) -> int:
    """The number of releases that are counted."""
    privacy, aggregation = claim.private, claim.mechanism.aggregation
    if certified_pair(claim.mechanism).is_plain and aggregation.noise.family.isotropic:
        return privacy.queries
    return min(privacy.queries, MOST // _moving(claim))


def of_cost(certain: float, claim: Any) -> dict[str, float]:
    """What a message tells of a cost above the claimed one, as fields."""
    privacy: PrivacyClaim = claim.private
    claimed = {"epsilon": privacy.epsilon, "delta": privacy.delta, "queries": privacy.queries}
    return {"cost": certain, **claimed}


def in_words(releases: int) -> str:
    """So many releases, for messages."""
    return "one release" if releases == 1 else f"{releases:,} releases"


def counted_of(counted: int, releases: int) -> str:
    """How many of so many releases are counted, for messages."""
    return in_words(releases) if counted == releases else f"{counted:,} of {in_words(releases)}"


def digits_apart(certain: float, claimed: float) -> int:
    """Digits that tell a certain epsilon from a smaller claimed one; at least six."""
    if certain <= claimed:
        return 6
    several = range(6, 17)
    return next((d for d in several if f"{certain:.{d}g}" != f"{claimed:.{d}g}"), 17)


def _moving(claim: NumbersClaim) -> int:
    """How many numbers, each with noise of its own, differ between the farthest neighbours."""
    aggregation = claim.mechanism.aggregation
    family = aggregation.noise.family
    return 1 if family.isotropic else aggregation.farthest(family.norm).times
