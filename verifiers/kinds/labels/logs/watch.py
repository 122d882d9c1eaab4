"""A growing log's queries held to the budget, as often as a proof of some seconds allows."""

from collections import Counter
from collections.abc import Callable, Mapping, Set

from .....reference.arrays import Vector
from ....claims.tables import PrivacyClaim
from ..checks.privacy_claim import PrivacyClaimCheck
from ..claim import LabelsClaim
from .certain_total import Votes
from .costs import CHARGES, PRIVACY, Asked, charges_cost, queries_cost

_HISTOGRAMS = 20_000  # that are looked at, those asked most often
_GROWN = 1.25  # times as many rows as at the last look, while more come
_IDLE = 1.01  # and where none come

_Answered = Callable[[int], Mapping[Votes, Vector]]
"""The histograms asked most often, at most so many, and the counts (o,) of their outcomes."""


class Watch:
    """Looks at the claim once, and at what the rows cost once an upper bound passes the claim's.

    looked: the rows at which costs were last looked at.
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
        told: Set[str],
        answered: _Answered,
        *,
        idle: bool,
    ) -> list[str]:
        """The checks that fail now.

        rows: so far; charged: by all of them, None where some do not say; most: an epsilon that
        they cost at most; told: the checks that have failed before; idle: no rows are waiting.
        """
        privacy, found = self.claim.privacy, []
        if privacy is None or rows == 0:
            return []
        if not self.claim_judged:
            self.claim_judged = True
            check = PrivacyClaimCheck(self.claim)
            check.run()
            found += [PRIVACY] if check.refuted and PRIVACY not in told else []
        if rows < (_IDLE if idle else _GROWN) * self.looked or most is None:
            return found
        over = PRIVACY not in told and not found and most > privacy.epsilon
        under = CHARGES not in told and charged is not None and most > charged
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
        """Of a caching deployment each histogram was asked once."""
        mechanism = self.claim.mechanism
        asked = Asked(Counter(), Counter())
        for votes, counts in answered.items():
            asked.times[votes] = 1 if mechanism.caching else int(counts.sum())
            if mechanism.refuses:
                asked.refused[votes] = min(int(counts[-1]), asked.times[votes])
        return asked

    def as_json(self) -> dict[str, object]:
        """For those who keep it."""
        return {"looked": self.looked, "claim_judged": self.claim_judged}

    def restore(self, kept: Mapping[str, object]) -> None:
        """Takes up what was kept."""
        self.looked, self.claim_judged = int(str(kept["looked"])), bool(kept["claim_judged"])


def _falls_short(claim: LabelsClaim, privacy: PrivacyClaim, asked: Asked, charged: float) -> bool:
    return charges_cost(claim, privacy, asked, charged).proved > charged
