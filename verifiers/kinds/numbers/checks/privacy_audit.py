"""`privacy-audit`: what the releases of two neighbours alone say of the claimed epsilon."""

from collections.abc import Sequence

from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.verdict import Verdict
from ....run.checks import Reason, without_privacy
from ....run.phase import Phase
from ..claim import NumbersClaim
from ..evidence.two_events import LearnedEvents, Level
from ..planning.pairs import NumberPair, farthest_pair
from .pair_check import PairCheck, PairEvidence, compared, of_pair


class ClaimedLevelCheck(PairCheck):
    """Holds the releases of neighbours to the claimed epsilon and delta, whatever the mechanism.

    The null is that one release keeps to them: they are claimed of all queries together, so that
    they bound each. The claimed noise plays no part. Subclasses say what they saw.
    """

    id = "privacy-audit"
    phase = Phase.OWN

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        return without_privacy(claim)

    @property
    def level(self) -> Level:
        """The claimed epsilon and delta."""
        privacy = self.claim.private
        return Level(privacy.epsilon, privacy.delta)

    def pairs_of(self, pair: NumberPair) -> int:
        """Here a whole release is a draw."""
        return self.releases(pair)

    def event(self, pair: NumberPair, evidence: PairEvidence) -> tuple[str, float, float]:
        """The event that one input has too often, in words, and how often either has it."""
        raise NotImplementedError

    def fail_finding(self, pair: NumberPair, evidence: PairEvidence) -> Outcome:
        event, often, rarely = self.event(pair, evidence)
        message = (
            f"{event}: the claimed {self.level} does not allow that of one "
            f"release ({evidence.pairs:,} pairs)"
        )
        seen = of_pair(often, rarely, self.level, evidence.pairs)
        return Outcome(Verdict.FAIL, Finding.caused(message, self.cause, **seen), self.queries)


class PrivacyAudit(ClaimedLevelCheck):
    """The farthest neighbours, compared along their move."""

    draws = 5_000
    cause = Note(
        "neighbours-too-far-apart",
        "the releases of neighbours differ more than the claim allows: too little noise",
    )

    def made(self) -> list[NumberPair]:
        return [farthest_pair(self.claim.mechanism, self.plan.coordinates)]

    def releases(self, pair: NumberPair) -> int:
        return self.most(self.wanted)

    def evidence(self, pair: NumberPair) -> LearnedEvents:
        return LearnedEvents(self.level, pair.direction)

    def event(self, pair: NumberPair, evidence: PairEvidence) -> tuple[str, float, float]:
        assert isinstance(evidence, LearnedEvents)
        first, often, rarely = evidence.event()
        inputs = pair.words if first else pair.words[::-1]
        words = compared("an event learned from earlier releases came", often, rarely, inputs)
        return words, often, rarely

    def passed(
        self, found: list[tuple[NumberPair, PairEvidence]], excludes: Sequence[Excluded]
    ) -> str:
        pair, evidence = found[0]
        return (
            f"{evidence.pairs:,} releases each of {pair.name} do not contradict {self.level}; how "
            "large an excess would have been seen is not known"
        )

    def excluded_by(self, pairs: Sequence[NumberPair]) -> tuple[Excluded, ...]:
        """How often a learned event is seen has no known bound."""
        return ()

    def bets(self, pair: NumberPair) -> int:
        """Nothing is bet on the releases of the first call."""
        return self.pairs_of(pair) - self.call(pair, self.releases(pair))
