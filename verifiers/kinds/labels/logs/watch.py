"""Compares the cost of a growing log with the claim, now and then, as proofs take seconds."""

from collections import Counter
from collections.abc import Callable, Mapping, Set

from .....reference.arrays import Vector
from ....claims.tables import PrivacyClaim
from ..checks.privacy_claim import PrivacyClaimCheck
from ..claim import LabelsClaim
from .certain_total import Votes
from .costs import CHARGES, PRIVACY, Asked, charges_cost, queries_cost

_HISTOGRAMS = 20_000  # most that are looked at, the most frequent ones
_GROWN = 1.25  # rows over those at the last look from which costs are computed again
_IDLE = 1.01  # as `_GROWN`, while no rows are waiting

_Answered = Callable[[int], Mapping[Votes, Vector]]
"""From a number to so many of the most frequent histograms, with counts (o,) of outcomes."""


class Watch:
    """Checks the claim once, and the cost of rows once an upper bound of it exceeds the claim.

    looked: rows when costs were last computed.
    """

    def __init__(self, claim: LabelsClaim) -> None:
        self.claim = claim
        self.looked = 0
        self.claim_judged = False

    def look(
        self,
        rows: int,
        charged: float | None,
        most: float | None,
        raised: Set[str],
        answered: _Answered,
        *,
        idle: bool,
    ) -> list[str]:
        """The checks that newly fail.

        rows: so far; charged: epsilon charged by all rows, None if some do not say; most: upper
        bound of their cost; told: checks that failed before; answered: gives the most frequent
        histograms; idle: whether no rows are waiting.
        """
        privacy, found = self.claim.privacy, []
        if privacy is None or rows == 0:
            return []
        if not self.claim_judged:
            self.claim_judged = True
            check = PrivacyClaimCheck(self.claim)
            check.run()
            found += [PRIVACY] if check.refuted and PRIVACY not in raised else []
        if rows < (_IDLE if idle else _GROWN) * self.looked or most is None:
            return found
        over = PRIVACY not in raised and not found and most > privacy.epsilon
        under = CHARGES not in raised and charged is not None and most > charged
        if not (over or under):
            return found
        self.looked = rows
        asked = self._asked(answered(_HISTOGRAMS))
        if over and queries_cost(self.claim, privacy, asked.times).proved > privacy.epsilon:
            found.append(PRIVACY)
        if under and charged is not None and _falls_short(self.claim, privacy, asked, charged):
            found.append(CHARGES)
        return found

    def _asked(self, answered: Mapping[Votes, Vector]) -> Asked:
        """How often each histogram was asked and refused; under caching, once at most."""
        mechanism = self.claim.mechanism
        asked = Asked(Counter(), Counter())
        for votes, counts in answered.items():
            asked.times[votes] = 1 if mechanism.caching else int(counts.sum())
            if mechanism.refuses:
                asked.refused[votes] = min(int(counts[-1]), asked.times[votes])
        return asked

    def as_json(self) -> dict[str, object]:
        """The state as JSON."""
        return {"looked": self.looked, "claim_judged": self.claim_judged}

    def restore(self, kept: Mapping[str, object]) -> None:
        """Restores a saved state."""
        self.looked, self.claim_judged = int(str(kept["looked"])), bool(kept["claim_judged"])


def _falls_short(claim: LabelsClaim, privacy: PrivacyClaim, asked: Asked, charged: float) -> bool:
    return charges_cost(claim, privacy, asked, charged).proved > charged
