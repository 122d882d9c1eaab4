"""The reference aggregator as `dpassay serve` answers for it, with its budget in memory.

`reference.accounting.ledger` has a budget for deployments: on disk, and for several processes. Here
one process interleaves requests, and a restart forgets what was spent.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....reference import REFUSAL, BudgetExhausted, Histogram, as_histogram
from ....reference.accounting.analyses import CountedCost, release_costs
from .claim import LabelsClaim


class ServedLabels:
    """Charges answers and refusals by the data-independent analysis.

    With [privacy] in the claim, a call that could exceed its epsilon is refused. Raises ValueError
    for a claim of which the reference does not take the inputs.
    """

    takes, reply, body_bytes = "histogram", "labels", 1_000_000

    def __init__(self, claim: LabelsClaim) -> None:
        if claim.inputs is not None:
            raise ValueError(
                "inputs: the reference takes histograms: serve a claim without [inputs]"
            )
        self.mechanism, self.width = claim.mechanism.mechanism(), claim.mechanism.classes
        self._near = claim.mechanism.neighbourhood
        self._teachers, self._privacy = claim.mechanism.teachers, claim.privacy
        self._cost = CountedCost(self.mechanism, self._near, teachers=self._teachers)
        self._answered = self._refused = self._promised = 0

    def input(self, given: Any) -> Histogram:
        if not isinstance(given, list) or not all(type(votes) is int for votes in given):
            raise ValueError("histogram: expected a list of whole numbers")
        if len(given) != self.width:
            plural = "" if len(given) == 1 else "es"
            raise ValueError(f"histogram of {len(given)} class{plural}: expected {self.width}")
        return as_histogram(given)

    @contextmanager
    def reserved(self, size: int) -> Iterator[None]:
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

    def drawn(self, values: Histogram, size: int) -> list[Any]:
        labels: list[int] = self.mechanism.sample(values, size).tolist()
        return labels

    def charge(self, releases: list[Any]) -> None:
        refused = releases.count(REFUSAL)
        self._refused += refused
        self._answered += len(releases) - refused

    def rdp(
        self, values: Histogram, orders: NDArray[np.float64], answered: bool | None = None
    ) -> list[float]:
        """Of the test and an answer, or of the test where there was no answer."""
        near, teachers = self._near, self._teachers
        test, answer = release_costs(self.mechanism, orders, near, teachers=teachers)
        found: list[float] = (test if answered is False else test + answer).tolist()
        return found

    def spent(self, delta: float) -> float:
        return self._cost.epsilon(self._answered, self._refused, delta)
