"""`privacy-claim` of keys: a key that one unit alone makes is released no more often than delta."""

import math
from dataclasses import replace

from ....reference.accounting.adjacency import Adjacency
from ...checks.base import Finding, Outcome
from ...findings.verdict import Verdict
from ..claim import NumbersClaim
from ..plan import NumbersPlan
from ..standing import NumbersStanding

_ROUNDING = 1e-9  # relative: the exact law is computed in doubles, to some 1e-12


class KeysPrivacyClaim:
    """Holds the claimed delta beside the exact one of a threshold, whatever epsilon is claimed.

    That a key is released which the neighbour does not have is an event of probability 0 there, so
    that no epsilon covers it: delta is at least its probability, over all releases claimed.
    """

    id = "privacy-claim"

    asks = 0

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        self.claim = claim

    def conclude(self, standing: NumbersStanding) -> Outcome | None:
        """See `AskingCheck.conclude`: it asks for nothing."""
        privacy = self.claim.privacy
        assert privacy is not None, "a check of claims with [privacy]"
        one = replace(self.claim.mechanism.keys, adjacency=Adjacency.ADD_REMOVE).delta
        least = 1.0 if one >= 1 else -math.expm1(privacy.queries * math.log1p(-one))
        unit = self.claim.mechanism.unit
        releases = "one release" if privacy.queries == 1 else f"{privacy.queries:,} releases"
        told = (
            f"keys that one {unit} alone makes are released with probability {least:.4g} in "
            f"{releases}, and delta = {privacy.delta:g} is claimed"
        )
        if privacy.delta < least * (1.0 - _ROUNDING):
            cause = "delta leaves out that such keys are released"
            return Outcome(Verdict.FAIL, Finding(told, cause, cause=cause))
        return Outcome(Verdict.PASS, Finding(told))
