"""`privacy-claim` of a sampler: what its training costs, by the claim and by what was found."""

from dataclasses import replace

from ....reference.accounting.batches import batches_epsilon, epochs_epsilon
from ....reference.accounting.composition import Bracket
from ....reference.batches import BatchDraws
from ...findings.finding import Finding, Outcome
from ...findings.note import Fields, Note
from ...findings.verdict import Verdict
from ...run.checks import Check, Reason, RunContext, without_privacy
from ...run.phase import Phase
from . import subsets
from .claim import BatchesClaim
from .sizes import RATE
from .watch import Watch

_DOUBT = 1e-3  # of the claimed epsilon, for floating point


class BatchesPrivacyClaim(Check):
    """The epsilon of the claimed sampler beside the claimed one, and that of the one found."""

    id = "privacy-claim"
    phase = Phase.CLAIM

    @classmethod
    def not_applicable_to(cls, claim: BatchesClaim) -> Reason:
        return without_privacy(claim)

    def __init__(self, claim: BatchesClaim, watch: Watch, failed: list[Check]) -> None:
        self.claim, self.watch = claim, watch
        self._failed = {check.id for check in failed}

    def conclude(self, context: RunContext) -> Outcome | None:
        privacy, multiplier = self.claim.private, self.claim.mechanism.noise_multiplier
        assert multiplier is not None
        terms = multiplier, privacy.queries, privacy.delta
        batches = self.claim.mechanism.batches
        found = batches_epsilon(batches, *terms)
        claimed: Fields = {
            "epsilon": privacy.epsilon,
            "delta": privacy.delta,
            "queries": privacy.queries,
        }
        said = [f"{privacy.queries:,} steps {batches} cost epsilon {_shown(found)}"]
        if batches.how is not BatchDraws.SHUFFLE:
            whole = epochs_epsilon(batches, *terms)
            said.append(f"without amplification, once in an epoch, {whole:.4g}")
            claimed = {**claimed, "without_amplification": whole}
        said += self._of_found(terms)
        message = f"{'; '.join(said)}; the claim says {privacy.epsilon:g} at {privacy.delta:g}"
        if found.low > privacy.epsilon * (1.0 + _DOUBT):
            cause = "the claimed sampler costs more than the claimed epsilon"
            why = Note("cost-above-claim", cause, {"cost": found.low, **claimed})
            return Outcome(Verdict.FAIL, Finding.caused(message, why))
        if found.high > privacy.epsilon * (1.0 + _DOUBT):
            short = f"{message}; no bound that is known here shows that it is enough"
            fields = {"least": found.low, "most": found.high, **claimed}
            return Outcome(
                Verdict.INCONCLUSIVE, Finding.of(Note("cost-not-bounded", short, fields))
            )
        return Outcome(Verdict.PASS, Finding(message))

    def _of_found(self, terms: tuple[float, int, float]) -> list[str]:
        """What the sampler costs that was found in place of the claimed one, where it is known."""
        watch, batches = self.watch, self.claim.mechanism.batches
        sizes = watch.sizes
        rated = sizes is not None and sizes.wagers.likeliest == RATE
        if "batch-size" in self._failed and rated and 0.0 < watch.rate < 1.0:
            found = batches_epsilon(replace(batches, amount=watch.rate), *terms)
            return [f"at the rate that was found, {watch.rate:.4g}, it is {_shown(found)}"]
        wagers = watch.dependence.wagers
        if "independence" in self._failed and wagers.likeliest == subsets.SINCE:
            return ["batches were found to depend on each other, so that the first does not hold"]
        return []


def _shown(found: Bracket) -> str:
    if found.low == 0.0:
        return f"up to {found.high:.4g}"
    low, high = f"{found.low:.4g}", f"{found.high:.4g}"
    return low if low == high else f"{low} to {high}"
