"""`privacy-audit`: a lower bound of epsilon by the labels of two neighbours."""

from .....reference.mechanisms import Labels
from ....claims.tables import ANY_QUERIES
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.pair_bounds import Audit, PairLabels
from ....findings.report import Verdict
from ....run.checks import Reason, RunContext
from ....run.phase import Phase
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.streams import Role, Stream
from .base import CACHED, PLAIN, Circumstances, LabelsCheck, refuting
from .compared_streams import PAIR_REFUSED

_NO_NEIGHBOURS = Note(
    "no-neighbours-asked",
    "no two inputs of the claim, or of totals that are served, are neighbours: one vote apart, "
    "under add-remove of one vote more or less",
)


class LabelsPrivacyAudit(LabelsCheck):
    """Bounds the divergence of a tied pair from below, for any mechanism.

    The null is the claimed (epsilon, delta) over its queries. The cut is chosen by the first tenth
    of the labels; the rest give anytime-valid intervals of its probability at both histograms, so
    that stopping early costs nothing.
    """

    id = "privacy-audit"
    phase = Phase.AUDIT
    sees_labels = True

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        if claim.uncounted is not None or claim.privacy is None:
            return claim.uncounted
        if claim.mechanism.caching:
            return CACHED
        if claim.privacy.scope != ANY_QUERIES:
            message = "privacy.scope is a file of histograms: use dpassay audit for a pair of them"
            return Note("scope-is-a-file", message)
        return None

    @classmethod
    def not_applicable_in(cls, plan: Plan) -> Reason:
        return None if plan.pair(Role.PAIR) else _NO_NEIGHBOURS

    @classmethod
    def needs(cls, plan: Plan, at: int, stream: Stream) -> bool:
        return stream.role is Role.PAIR

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        claim = plan.claim
        pair = plan.pair(Role.PAIR)
        assert pair is not None
        self.streams = pair.streams
        outcomes = claim.mechanism.classes + claim.mechanism.refuses
        self.alpha = self.share * claim.gate.false_alarm
        self.pairs = PairLabels(outcomes, pilot=plan.streams[pair.first].queries // 10)
        self.lacking: Note | None = None

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        """Adds new labels of one of the two histograms."""
        if stream in self.streams:
            self.pairs.observe(self.streams.index(stream), labels)

    def drop(self, stream: int) -> Note | None:
        """Both are needed, so the check does not apply then."""
        if stream in self.streams:
            self.lacking = PAIR_REFUSED
        return None

    def conclude(self, context: RunContext | None = None) -> Outcome | None:
        """None where there were fewer labels than planned."""
        privacy = self.plan.claim.private
        found = self.pairs.bounds(privacy, privacy.queries, self.alpha)
        if self.lacking is not None:
            return Outcome(Verdict.NOT_APPLICABLE, Finding.of(self.lacking), found.queries)
        planned = sum(self.plan.streams[i].queries for i in self.streams)
        if found.queries < planned and not found.refuted:
            return None
        return Outcome(refuting(found.refuted), self._finding(found), found.queries)

    def _finding(self, found: Audit) -> Finding:
        here, there = (self.plan.claim.named(self.plan.streams[i].histogram) for i in self.streams)
        text = (
            f"{found.queries:,} labels of {here} and its neighbour {there}: epsilon of one "
            f"query is at least {found.epsilon_lower:.3g} at delta {found.delta:g} "
            f"(confidence 1 - {self.alpha:.2g})"
        )
        if found.refuted:
            return Finding(
                f"{text}; over the claim's queries that is more than the claimed epsilon",
                "the labels of neighbours differ far more than the claim allows: too little noise",
                self.plan.streams[self.streams[0]].histogram,
                code="neighbours-too-far-apart",
                fields={"epsilon": found.epsilon_lower, "delta": found.delta},
            )
        return Finding(f"{text}; the claim is not refuted")
