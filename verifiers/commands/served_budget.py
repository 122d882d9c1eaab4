"""The budget of the served reference: kept in memory, with room for answers still being drawn.

`reference.accounting.ledger` has one for deployments: on disk, for several processes, and charged
at once. Here one process answers many requests in turns, and restarting it forgets everything.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ...reference import BudgetExhausted
from ...reference.accounting.release_costs import CountedCost
from ..kinds.labels.claim import LabelsClaim


class ServedBudget:
    """Charges what was answered and refused, by the data-independent analysis.

    With [privacy] in the claim, a call that could exceed its epsilon at its delta is not answered.
    """

    def __init__(self, claim: LabelsClaim) -> None:
        self._cost, self._privacy = CountedCost(claim.mechanism.mechanism()), claim.privacy
        self._answered = self._refused = self._promised = 0

    @contextmanager
    def reserved(self, size: int) -> Iterator[None]:
        """Room for `size` answers while they are drawn, which others cannot have meanwhile.

        Raises BudgetExhausted unless they fit; what is decided tells no outcome.
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
        """Takes down what is about to be released."""
        self._answered += answered
        self._refused += refused

    def spent(self, delta: float) -> float:
        """Epsilon so far."""
        return self._cost.epsilon(self._answered, self._refused, delta)
