"""`privacy-claim` of tables: what a user costs is no more than is claimed."""

from dataclasses import replace
from typing import Self

from .....reference.accounting.adjacency import Adjacency
from .....reference.tables.certified import TableCost, released_alone, table_cost
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import NO_PRIVACY, Check, Reason, Setting
from ....run.phase import Phase
from ....text import rounded_down
from ...numbers.checks.privacy_claim import (
    CAUSE,
    ROUNDING,
    counted_of,
    digits_apart,
    in_words,
)
from ..claim import TablesClaim

_UNPRICED = Note(
    "cost-not-computed", "what a mean costs whose count is not released is not computed"
)


class TablePrivacyClaim(Check):
    """Holds the claimed epsilon and delta beside what a user certainly costs.

    That a private partition of one user alone is released is an event of probability 0 without
    that user, so that delta is at least its probability over all releases. Epsilon is held beside
    a lower bound of all numbers together, and of whether partitions are released; it is never
    called exact, since other rows may cost more.
    """

    id = "privacy-claim"
    phase = Phase.CLAIM

    def __init__(self, claim: TablesClaim) -> None:
        self.claim = claim

    @classmethod
    def make(cls, setting: Setting) -> Self:
        return cls(setting.claim)

    @classmethod
    def not_applicable_to(cls, claim: TablesClaim) -> Reason:
        if claim.privacy is None:
            return NO_PRIVACY
        released = [one for one in claim.mechanism.table.aggregates if one.hidden is None]
        return None if released else _UNPRICED

    def conclude(self, context: object = None) -> Outcome:
        """It asks for nothing."""
        privacy, mechanism = self.claim.privacy, self.claim.mechanism
        assert privacy is not None, "a check of claims with [privacy]"
        over = in_words(privacy.queries)
        least = released_alone(mechanism.table, privacy.queries)
        if privacy.delta < least * (1.0 - ROUNDING):
            message = (
                f"partitions that one user alone is in are released with probability {least:.4g} "
                f"in {over}, and delta = {privacy.delta:g} is claimed"
            )
            fields: Fields = {"delta": privacy.delta, "least": least, "queries": privacy.queries}
            cause = "delta leaves out the private partitions"
            why = Note("delta-too-small", cause, fields)
            return Outcome(Verdict.FAIL, Finding.caused(message, why))
        adjacency = Adjacency(mechanism.adjacency)
        cost = table_cost(mechanism.table, adjacency, privacy.queries, privacy.delta)
        digits = digits_apart(cost.epsilon, privacy.epsilon)
        message = (
            f"{_user(cost)} costs at least epsilon {cost.epsilon:.{digits}g} at delta "
            f"{privacy.delta:g} over {counted_of(cost.releases, privacy.queries)}, and epsilon = "
            f"{privacy.epsilon:.{digits}g} is claimed"
        )
        if cost.epsilon > privacy.epsilon:
            hint = rounded_down(privacy.epsilon, cost.epsilon)
            proof = f"{message} (certified in ball arithmetic){hint}"
            claimed: Fields = {"epsilon": privacy.epsilon, "delta": privacy.delta}
            counted = {"queries": privacy.queries, "releases": cost.releases}
            why = replace(CAUSE, fields={"cost": cost.epsilon, **claimed, **counted})
            return Outcome(Verdict.FAIL, Finding.caused(proof, why))
        return Outcome(Verdict.PASS, Finding(f"{message}: not refuted{self._apart(cost)}"))

    def _apart(self, cost: TableCost) -> str:
        """What is left out of the composition with the selection of partitions, in words."""
        table = self.claim.mechanism.table
        if table.selection is None:
            return ""
        if table.released is not None:
            return "; whether partitions are released is not added to the cost of their numbers"
        coarse = {str(one.noise) for one in cost.pair.moved if not one.on_grid}
        if not coarse:
            return ""
        return (
            f"; numbers with {' and '.join(sorted(coarse))} are not added to the selection's cost"
        )


def _user(cost: TableCost) -> str:
    """The user of a pair, in words."""
    pair = cost.pair
    rows = "a row" if pair.rows == 1 else f"{pair.rows:,} rows"
    where = "one partition" if pair.partitions == 1 else f"each of {pair.partitions:,} partitions"
    other = {
        "none": "",
        "not public": ", replaced by one in no public partition,",
        "same partitions": ", replaced by one with other values,",
        "elsewhere": ", replaced by one in other partitions,",
    }
    return f"a user of {rows} in {where}{other[pair.other]}"
