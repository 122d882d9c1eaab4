"""`privacy-claim` of keys: what releasing a unit's keys costs is no more than is claimed."""

import math
from dataclasses import replace

from .....reference.accounting.adjacency import Adjacency
from .....reference.numbers.certified_keys import KeysCost, keys_cost
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.verdict import Verdict
from ....run.checks import Check, Reason, without_privacy
from ....run.phase import Phase
from ....text import rounded_down
from ...numbers.checks.privacy_claim import (
    CAUSE,
    ROUNDING,
    counted_of,
    digits_apart,
    in_words,
    of_cost,
)
from ..claim import KeysClaim


class KeysPrivacyClaim(Check):
    """Holds the claimed delta and epsilon beside what the claimed law costs.

    That a key is released which the neighbour does not have is an event of probability 0 there, so
    that no epsilon covers it: delta is at least its probability, over all releases claimed. Beyond
    that, keys of other counts are released at other rates, a lower bound on epsilon in balls.
    """

    id = "privacy-claim"
    phase = Phase.CLAIM

    @classmethod
    def not_applicable_to(cls, claim: KeysClaim) -> Reason:
        return without_privacy(claim)

    def conclude(self, context: object = None) -> Outcome:
        """It asks for nothing."""
        privacy, keys = self.claim.privacy, self.claim.mechanism.keys
        assert privacy is not None, "a check of claims with [privacy]"
        one = replace(keys, adjacency=Adjacency.ADD_REMOVE).delta
        least = 1.0 if one >= 1 else -math.expm1(privacy.queries * math.log1p(-one))
        unit = self.claim.mechanism.unit
        alone = (
            f"keys that one {unit} alone makes are released with probability {least:.4g} in "
            f"{in_words(privacy.queries)}, and delta = {privacy.delta:g} is claimed"
        )
        if privacy.delta < least * (1.0 - ROUNDING):
            words = "delta leaves out that such keys are released"
            fields = {"delta": privacy.delta, "least": least, "queries": privacy.queries}
            return Outcome(
                Verdict.FAIL, Finding.caused(alone, Note("delta-too-small", words, fields))
            )
        delta = privacy.delta * (1.0 + ROUNDING)
        cost = keys_cost(keys, privacy.queries, min(delta, math.nextafter(1.0, 0.0)))
        digits = digits_apart(cost.epsilon, privacy.epsilon)
        message = (
            f"a {unit} costs at least epsilon {cost.epsilon:.{digits}g} at delta "
            f"{privacy.delta:g} over "
            f"{counted_of(cost.releases, privacy.queries)} ({_neighbours(cost)}), and epsilon = "
            f"{privacy.epsilon:.{digits}g} is claimed"
        )
        if cost.epsilon > privacy.epsilon:
            hint = rounded_down(privacy.epsilon, cost.epsilon)
            proof = f"{message} (certified in ball arithmetic){hint}"
            seen = of_cost(cost.epsilon, self.claim)
            return Outcome(Verdict.FAIL, Finding.caused(proof, CAUSE, **seen))
        return Outcome(Verdict.PASS, Finding(f"{message}; {alone}"))


def _neighbours(cost: KeysCost) -> str:
    """The counts that differ, in words."""
    first, *others = cost.changes
    message = f"counts {first.here:,} and {first.there:,}"
    message += f" of each of {first.keys:,} keys" if first.keys > 1 else ""
    for change in others:
        message += f", of others {change.here:,} and {change.there:,}"
    return message + (", no other counts cost more" if cost.largest else "")
