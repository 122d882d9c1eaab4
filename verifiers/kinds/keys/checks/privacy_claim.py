"""`privacy-claim` of keys: what releasing a unit's keys costs is no more than is claimed."""

import math
from dataclasses import replace

from .....reference.accounting.adjacency import Adjacency
from .....reference.numbers.certified_keys import KeysCost, keys_cost
from ...numbers.checks.privacy_claim import ROUNDING, ProvenCost, ReleasedAloneClaim
from ..claim import KeysClaim


class KeysPrivacyClaim(ReleasedAloneClaim):
    """That a key is released which the neighbour does not have, and at which rates others are."""

    claim: KeysClaim
    left_out = "delta leaves out that such keys are released"

    @property
    def alone(self) -> tuple[str, float]:
        one = replace(self.claim.mechanism.keys, adjacency=Adjacency.ADD_REMOVE).delta
        queries = self.claim.private.queries
        least = 1.0 if one >= 1 else -math.expm1(queries * math.log1p(-one))
        return f"keys that one {self.claim.mechanism.unit} alone makes", least

    def cost(self) -> ProvenCost:
        """Keys of other counts are released at other rates, a lower bound on epsilon in balls."""
        delta = min(self.claim.private.delta * (1.0 + ROUNDING), math.nextafter(1.0, 0.0))
        cost = keys_cost(self.claim.mechanism.keys, self.claim.private.queries, delta)
        who = f"a {self.claim.mechanism.unit}"
        return ProvenCost(who, cost.epsilon, cost.releases, f" ({_neighbours(cost)})")


def _neighbours(cost: KeysCost) -> str:
    """The counts that differ, in words."""
    first, *others = cost.changes
    message = f"counts {first.here:,} and {first.there:,}"
    message += f" of each of {first.keys:,} keys" if first.keys > 1 else ""
    for change in others:
        message += f", of others {change.here:,} and {change.there:,}"
    return message + (", no other counts cost more" if cost.largest else "")
