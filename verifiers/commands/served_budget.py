"""The budget of the served reference: in memory, with reservations for answers being drawn.

`reference.accounting.ledger` has one for deployments: on disk, and for several processes. Here one
process interleaves requests, and a restart forgets what was spent.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ...reference import BudgetExhausted
from ...reference.accounting.release_costs import CountedCost
from ..kinds.labels.claim import LabelsClaim


class ServedBudget:
    """Charges answers and refusals by the data-independent analysis.

    With [privacy] in the claim, a call that could exceed its epsilon is refused.
    """

    def __init__(self, claim: LabelsClaim) -> None:
        self._cost, self._privacy = CountedCost(claim.mechanism.mechanism()), claim.privacy
        self._answered = self._refused = self._promised = 0

    @contextmanager
    def reserved(self, size: int) -> Iterator[None]:
        """A block for which budget for `size` answers is reserved.

        Raises BudgetExhausted unless they fit; the decision does not depend on any label.
        """
        self._reserve(size)
        self._promised += size
        try:
            yield
        finally:
            self._promised -= size

    def _reserve(self, size: int) -> None:
        if self._privacy is None:
            return
        answered = self._answered + self._promised + size
        after = self._cost.epsilon(answered, self._refused, self._privacy.delta)
        if after > self._privacy.epsilon:
            raise BudgetExhausted(f"epsilon {after:.4g} would exceed {self._privacy.epsilon:g}")

    def charge(self, answered: int, refused: int) -> None:
        """Charges labels that are about to be released."""
        self._answered += answered
        self._refused += refused

    def spent(self, delta: float) -> float:
        """Epsilon spent so far, at `delta`."""
        return self._cost.epsilon(self._answered, self._refused, delta)
