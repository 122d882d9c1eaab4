"""Gradient pruning: only the largest coordinates are released (Li et al. 2024, 6.1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .defence import Defence, Gradients


@dataclass(frozen=True)
class Pruning(Defence):
    """Sets all but the largest coordinates, in absolute value, to 0, in each batch.

    rate: share of the p coordinates that are set to 0; at least one is kept. Raises ValueError for
    a rate outside [0, 1).
    """

    name: str = "pruning"
    rate: float = 0.99

    def __post_init__(self) -> None:
        if not 0.0 <= self.rate < 1.0:
            raise ValueError(f"pruning rate {self.rate:g}: expected from 0, and less than 1")

    def defended(
        self, gradients: Gradients, sensitive: NDArray[np.int64] | None, seed: int
    ) -> Gradients:
        """Of equal ones at the edge, those that come first are kept."""
        del sensitive, seed
        width = gradients.shape[1]
        kept = width - min(round(self.rate * width), width - 1)
        order = np.argsort(-np.abs(gradients), axis=1, kind="stable")[:, :kept]
        found = np.zeros_like(gradients)
        np.put_along_axis(found, order, np.take_along_axis(gradients, order, axis=1), axis=1)
        return found
