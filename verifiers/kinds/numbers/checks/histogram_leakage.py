"""`histogram-leakage` of numbers: what averaging the releases of one input reveals."""

from .....attacks.averaging import error_of_average, share_within
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.verdict import Verdict
from ....run.checks import Check, Reason, without_privacy
from ....run.phase import Phase
from ..claim import NumbersClaim

_WARNED = 0.5  # of the numbers: beyond, most are read
_CAUSE = "releases of one input average out: lower the claim's queries, or add more noise"


class HistogramLeakage(Check):
    """The error of averaging the claim's queries, by the claimed law; asks for nothing.

    A number is read where the average lies nearer to it than half of what one unit moves it, which
    tells whether the unit is there. For counts of records it tells the count itself.
    """

    id = "histogram-leakage"
    phase = Phase.CLAIM

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        if claim.mechanism.takes == "tensors":
            why = "every release is of another batch: there is nothing to average"
            return Note("nothing-to-average", why)
        return without_privacy(claim)

    def conclude(self, context: object = None) -> Outcome:
        """It asks for nothing."""
        privacy, mechanism = self.claim.private, self.claim.mechanism
        limit = self.claim.gate.max_recoverable
        noise = mechanism.aggregation.noise
        half = 0.5 * mechanism.aggregation.farthest(float("inf")).by
        share = share_within(noise, privacy.queries, half)
        error = error_of_average(noise, privacy.queries)
        releases = f"by the claim, the average of {privacy.queries:,} releases of one input lies"
        if privacy.queries == 1:
            releases = "by the claim, a release lies"
        message = (
            f"{releases} {error:.3g} off (standard deviation), and reads {share:.1%} of the "
            f"numbers to within {half:.3g}, half of what one {mechanism.unit} moves them"
        )
        read = {"share": share, "error": error, "queries": privacy.queries}
        if not limit:
            warning = (
                f"the claim lets an attacker who averages its releases read {share:.1%} of the "
                f"numbers to within half of what one {mechanism.unit} moves them (see "
                "histogram-leakage); max_recoverable in [gate] sets a limit"
            )
            warned = (Note("average-reads-numbers", warning, read),) if share > _WARNED else ()
            return Outcome(Verdict.PASS, Finding(message, warnings=warned))
        if share <= limit:
            within = f": within max_recoverable = {limit:g}"
            return Outcome(Verdict.PASS, Finding(message + within))
        more = f"{message}: more than max_recoverable = {limit:g} allows"
        cause = Note("recoverable-above-limit", _CAUSE, {**read, "limit": limit})
        return Outcome(Verdict.FAIL, Finding.caused(more, cause))
