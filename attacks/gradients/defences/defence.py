"""The defence M of Definition 3.1 (Li et al. 2024): from a batch's gradients to what is released.

A defence has three hooks, in the order in which a game calls them; each does nothing here.

1. `fitted`: what it learns from public gradients, anew each round.
2. `shares`: how much each record of a batch counts, given the norms of the records' gradients.
3. `defended`: what is released in place of the weighted sums.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Gradients = NDArray[np.float32]
"""Gradients (b, p) of b batches for a model with p parameters."""


@dataclass(frozen=True)
class Defence:
    """No defence, and the base of all: the mean of the records' gradients is released.

    name: as tables and errors have it.
    """

    name: str = "none"

    def fitted(self, gradients: Gradients, sensitive: NDArray[np.int64], seed: int) -> "Defence":
        """The defence of one round, after it has seen public gradients.

        gradients (s, p): means over s batches of public records; sensitive (s,): their a.
        """
        del gradients, sensitive, seed
        return self

    def shares(self, norms: NDArray[np.float32]) -> NDArray[np.float32]:
        """How much each record's gradient counts in the sum of its batch.

        norms (b, k): L2 norms of the gradients of k records in each of b batches; so are shares.
        """
        return np.full(norms.shape, 1.0 / norms.shape[-1], dtype=np.float32)

    def defended(
        self, gradients: Gradients, sensitive: NDArray[np.int64] | None, seed: int
    ) -> Gradients:
        """What is released (b, p) for the sums (b, p) of b batches.

        sensitive (b,): the batches' a, which their learner knows; None where batches are mixed.
        """
        del sensitive, seed
        return gradients
