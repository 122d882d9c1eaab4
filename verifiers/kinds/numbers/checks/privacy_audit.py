"""`privacy-audit`: what the releases of two neighbours alone say of the claimed epsilon."""

from ....findings.finding import Finding, Outcome
from ....findings.verdict import Verdict
from ....run.phase import Phase
from ....run.registry import NO_PRIVACY
from ..claim import NumbersClaim
from ..evidence.learned_events import LearnedEvents
from ..evidence.two_events import Level
from ..planning.pairs import Pair, farthest_pair
from .base import spec_of
from .pair_check import PairCheck, PairEvidence

_CAUSE = "the releases of neighbours differ more than the claim allows: too little noise"


class PrivacyAudit(PairCheck):
    """The farthest neighbours, compared along their move, whatever the mechanism.

    The null is that one release keeps to the claimed epsilon and delta: they are claimed of all
    queries together, so that they bound each. The claimed noise plays no part.
    """

    id = "privacy-audit"
    draws = 5_000

    @staticmethod
    def lacks(claim: NumbersClaim) -> str | None:
        """Why a claim leaves no room for it; None where it does."""
        return NO_PRIVACY if claim.privacy is None else None

    def made(self) -> list[Pair]:
        """See `PairCheck.made`."""
        return [farthest_pair(self.claim, self.plan.coordinates)]

    def releases(self, pair: Pair) -> int:
        """See `PairCheck.releases`: here a whole release is a draw."""
        return self.most(self.wanted)

    def pairs_of(self, pair: Pair) -> int:
        """See `PairCheck.pairs_of`."""
        return self.releases(pair)

    def evidence(self, pair: Pair) -> LearnedEvents:
        """See `PairCheck.evidence`."""
        privacy = self.claim.privacy
        assert privacy is not None
        return LearnedEvents(Level(privacy.epsilon, privacy.delta), pair.direction)

    def violation(self, pair: Pair, evidence: PairEvidence) -> Outcome:
        """See `PairCheck.violation`."""
        assert isinstance(evidence, LearnedEvents)
        first, often, rarely = evidence.told()
        one, other = pair.said if first else pair.said[::-1]
        message = (
            f"an event learned from earlier releases came in {often:.2%} of those of {one} and "
            f"in {rarely:.2%} of those of its neighbour, {other}: the claimed {evidence.level} "
            f"does not allow that of one release ({evidence.pairs:,} pairs)"
        )
        return Outcome(Verdict.FAIL, Finding(message, _CAUSE, cause=_CAUSE), self.queries)

    def silence(self, found: list[tuple[Pair, PairEvidence]]) -> Outcome:
        """See `PairCheck.silence`."""
        pair, evidence = found[0]
        assert isinstance(evidence, LearnedEvents)
        share = evidence.share_needed(self.log_threshold, evidence.pairs)
        message = (
            f"{evidence.pairs:,} releases each of {pair.name} do not contradict {evidence.level}; "
            "an event that one of them alone has, learned from the first releases, would have been "
            f"seen from about {share:.1%} of its releases on"
        )
        return Outcome(Verdict.PASS, Finding(message), self.queries)


SPECS = (spec_of(PrivacyAudit, Phase.OWN, PrivacyAudit.lacks),)
