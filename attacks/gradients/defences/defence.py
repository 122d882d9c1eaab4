"""The defence M of Definition 3.1 (Li et al. 2024): from a batch's gradients to what is released.

A defence has four hooks, in the order in which the game calls them; each does nothing here.

1. `network`: another model or loss, before training begins.
2. `fitted`: what it learns from public gradients, anew each round.
3. `shares`: how much each record of a batch counts, given the norms of the records' gradients.
4. `defended`: what is released in place of the weighted sums.

That clipping needs norms alone lets the game compute a batch's sum by one backward pass
(`derivatives.py`), without a gradient for each record of each batch. `release` is the same on the
gradients of records as they stand.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from ..models import Network  # loads JAX

Gradients = NDArray[np.float32]
"""Gradients (b, p) of b batches for a model with p parameters, or (b, k, p) of their records."""


@dataclass(frozen=True)
class Defence:
    """No defence, and the base of all: the mean of the records' gradients is released.

    name: as tables and errors have it.
    """

    name: str = "none"

    @property
    def needs_sensitive(self) -> bool:
        """Whether `defended` must know what is to be hidden; then it guards no training step."""
        return False

    @property
    def needs_norms(self) -> bool:
        """Whether `shares` depends on the norms; elsewhere none are computed."""
        return type(self).shares is not Defence.shares

    def network(self, network: "Network") -> "Network":
        """The model that is trained, in place of `network`."""
        return network

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

    def release(self, per_example: ArrayLike, seed: int, sensitive: int | None = None) -> Gradients:
        """The release (p,) for one batch, from the gradients of its records (k, p)."""
        one = np.asarray(per_example, dtype=np.float32)
        if one.ndim != 2:
            raise ValueError(f"gradients of shape {one.shape}: expected (k, p), one a record")
        hidden = None if sensitive is None else np.array([sensitive], dtype=np.int64)
        released: Gradients = self.release_many(one[None], seed, hidden)[0]
        return released

    def release_many(
        self, per_example: Gradients, seed: int, sensitive: NDArray[np.int64] | None = None
    ) -> Gradients:
        """The releases (b, p) for b batches, from the gradients of their records (b, k, p)."""
        shares = self.shares(np.linalg.norm(per_example, axis=2))
        return self.defended(np.einsum("bk,bkp->bp", shares, per_example), sensitive, seed)
