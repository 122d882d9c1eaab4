"""`budget-enforcement`: a deployment stops before its budget is spent, and forgets nothing."""

from collections.abc import Callable

from ...reference import REFUSAL, BudgetExhausted
from ...reference.accounting.analyses import answered_share
from ..claim import ANY_QUERIES, Claim
from ..targets import NotOffered, Target, checked_labels, checked_spent
from .base import Finding
from .privacy_claim import DistinguishingTest, PrivacyClaimCheck

_BATCHES = 20  # between looks at what is spent
_MARGIN = 1.02  # beyond the first number of queries that refutes in floating point
_PROOFS = 20  # tries to make a proof of it
_MOST = 10**7  # labels asked
_PATIENCE = 3  # times the labels that so many answers should take, where some are refused
_AGAIN = 3  # times in a row it must say that its budget is spent: it may renew it


class BudgetEnforcement:
    """Asks the costliest histogram until the deployment stops, or can be proved to go too far.

    Too far is where a test on the answers given so far has more than the claimed delta at the
    claimed epsilon, by a bound in ball arithmetic. Refused queries are not counted: how many there
    are is chance, and their cost may be too. Its own `spent` must not fall, nor exceed the claim,
    nor fall when it is restarted.
    """

    id = "budget-enforcement"

    def __init__(self, claim: Claim, reopen: Callable[[], Target] | None = None) -> None:
        assert claim.privacy is not None
        self.claim, self.privacy, self.reopen = claim, claim.privacy, reopen
        self.asked = self.answered = 0
        self.violation: str | None = None
        self.said = ""

    def run(self, target: Target) -> str | None:
        """Asks until the end; the reason where the deployment has no budget to look at."""
        spent = self._spent(target)
        if spent is None and self.reopen is None:
            return "the target has no spent(delta), and [gate] names no budget_target"
        proof = self._too_many()
        if proof is None:
            return f"the claim cannot be proved exceeded by {_MOST:,} answers"
        most = self._patience(proof)
        if most > _MOST:
            return f"{proof.times:,} answers, too many for the claim, take over {_MOST:,} queries"
        spent = self._ask(target, proof, most, spent)
        if self.violation is None and self.answered >= proof.times:
            self.violation = (
                f"it answered {self.answered:,} queries of {proof.here.tolist()}, which cost more "
                f"than ({self.privacy.epsilon:g}, {self.privacy.delta:g}): certified, against "
                f"{proof.there.tolist()}"
            )
        if self.violation is None and self.asked >= most:
            return f"it refused all but {self.answered:,} of {self.asked:,} queries, and went on"
        if self.violation is None and self.reopen is not None and spent is not None:
            again = self.reopen()
            try:
                self._follow(spent, self._spent(again), "fell when it was restarted,")
            finally:
                again.close()
        self.said = "" if spent is None else f", with epsilon {spent:.4g} spent by its own account"
        return None

    def _ask(
        self, target: Target, proof: DistinguishingTest, most: int, spent: float | None
    ) -> float | None:
        """Counts answers until the proof's, `most` labels, or the end; what is spent then."""
        step, exhausted = max(1, proof.times // _BATCHES), 0
        while self.violation is None and exhausted < _AGAIN:
            size = min(step, most - self.asked)
            if self.answered >= proof.times or size <= 0:
                break
            try:
                reply = target.ask(proof.here, size)
            except BudgetExhausted:
                exhausted += 1
                continue
            exhausted = 0
            labels = checked_labels(reply, proof.here, size, self.claim.mechanism.refuses)
            self.asked += size
            self.answered += int((labels != REFUSAL).sum())
            spent = self._follow(spent, self._spent(target), "fell")
        return spent

    def _patience(self, proof: DistinguishingTest) -> int:
        """Labels to ask for: enough for the proof's answers, were they as rare as claimed."""
        share = answered_share(proof.here, self.claim.mechanism.mechanism())
        if not self.claim.mechanism.refuses:
            return proof.times
        return int(min(_PATIENCE * (proof.times + _BATCHES) / max(share, 1e-9), 2.0 * _MOST))

    def _too_many(self) -> DistinguishingTest | None:
        """About the test with the least answers that refutes the claim for certain."""
        low, high = 0, 1
        while not self._at(high).suspect():
            low, high = high, 2 * high
            if high > _MOST:
                return None
        while high - low > max(1, high // 100):
            middle = (low + high) // 2
            low, high = (low, middle) if self._at(middle).suspect() else (middle, high)
        for _ in range(_PROOFS):
            high = int(high * _MARGIN) + 1
            check = self._at(high)
            check.run()
            if check.refuted and check.best is not None:
                return check.best
        return None

    def _at(self, queries: int) -> PrivacyClaimCheck:
        return PrivacyClaimCheck(self._claimed(queries))

    def _claimed(self, queries: int) -> Claim:
        """The claim for so many answers, by the argmax alone where it may refuse."""
        privacy = self.privacy.model_copy(update={"queries": queries, "scope": ANY_QUERIES})
        plain = {"name": "report-noisy-max", "threshold": None, "threshold_noise": None}
        mechanism = self.claim.mechanism.model_copy(update=plain)
        return self.claim.model_copy(update={"privacy": privacy, "mechanism": mechanism})

    def _spent(self, target: Target) -> float | None:
        try:
            return checked_spent(target.spent(self.privacy.delta), self.privacy.delta)
        except NotOffered:
            return None

    def _follow(self, before: float | None, after: float | None, how: str) -> float | None:
        if before is not None and after is not None and after < before * (1.0 - 1e-9):
            self.violation = f"spent {how} from {before:.6g} to {after:.6g}"
        elif after is not None and after > self.privacy.epsilon * (1.0 + 1e-9):
            self.violation = (
                f"it answered {self.answered:,} queries, although its own account then says "
                f"epsilon {after:.6g}, more than the claimed {self.privacy.epsilon:g}"
            )
        return after

    def finding(self) -> Finding:
        """What was found, once `run` has gone through."""
        if self.violation is not None:
            return Finding(self.violation, "the budget is not enforced, or not kept")
        return Finding(f"it stopped after {self.answered:,} answers{self.said}")
