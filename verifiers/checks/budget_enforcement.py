"""`budget-enforcement`: a deployment stops before its budget is spent, and forgets nothing."""

from collections.abc import Callable

from ...reference import BudgetExhausted
from ..claim import Claim
from ..targets import NotOffered, Target, checked_labels, checked_spent
from .base import Finding
from .privacy_claim import DistinguishingTest, PrivacyClaimCheck

_BATCHES = 20  # between looks at what is spent
_MARGIN = 1.02  # beyond the first number of queries that refutes in floating point


class BudgetEnforcement:
    """Asks the costliest histogram until the deployment stops, or can be proved to go too far.

    Too far is where a test on the answers given so far has more than the claimed delta at the
    claimed epsilon, by a bound in ball arithmetic. Its own `spent` must not fall, nor exceed the
    claim, nor fall when it is restarted.
    """

    id = "budget-enforcement"

    def __init__(self, claim: Claim, reopen: Callable[[], Target] | None = None) -> None:
        assert claim.privacy is not None
        self.claim, self.privacy, self.reopen = claim, claim.privacy, reopen
        self.answered = 0
        self.violation: str | None = None
        self.said = ""

    def run(self, target: Target) -> str | None:
        """Asks until the end; the reason where the deployment has no budget to look at."""
        spent = self._spent(target)
        if spent is None and self.reopen is None:
            return "the target has no spent(delta), and [gate] names no budget_target"
        proof = self._too_many()
        step = max(1, proof.times // _BATCHES)
        stopped = False
        while self.violation is None and not stopped and self.answered < proof.times:
            size = min(step, proof.times - self.answered)
            try:
                reply = target.ask(proof.here, size)
            except BudgetExhausted:
                stopped = True
                break
            checked_labels(reply, proof.here, size, self.claim.mechanism.refuses)
            self.answered += size
            spent = self._follow(spent, self._spent(target), "fell")
        if self.violation is None and not stopped:
            self.violation = (
                f"it answered {self.answered:,} queries of {proof.here.tolist()}, which cost more "
                f"than ({self.privacy.epsilon:g}, {self.privacy.delta:g}): certified, against "
                f"{proof.there.tolist()}"
            )
        if self.violation is None and self.reopen is not None and spent is not None:
            again = self.reopen()
            try:
                self._follow(spent, self._spent(again), "fell when it was restarted,")
            finally:
                again.close()
        self.said = "" if spent is None else f", with epsilon {spent:.4g} spent by its own account"
        return None

    def _too_many(self) -> DistinguishingTest:
        """About the test with the least queries that refutes the claim for certain."""
        low, high = 0, 1
        while not self._at(high).suspect():
            low, high = high, 2 * high
        while high - low > max(1, high // 100):
            middle = (low + high) // 2
            low, high = (low, middle) if self._at(middle).suspect() else (middle, high)
        while True:
            high = int(high * _MARGIN) + 1
            check = self._at(high)
            check.run()
            if check.refuted and check.best is not None:
                return check.best

    def _at(self, queries: int) -> PrivacyClaimCheck:
        return PrivacyClaimCheck(self._claimed(queries))

    def _claimed(self, queries: int) -> Claim:
        privacy = self.privacy.model_copy(update={"queries": queries, "scope": "any-queries"})
        return self.claim.model_copy(update={"privacy": privacy})

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
        return Finding(f"it stopped after {self.answered:,} queries{self.said}")
