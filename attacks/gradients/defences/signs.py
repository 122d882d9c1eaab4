"""SignSGD: of each coordinate its sign alone (Bernstein et al. 2018, arXiv 1802.04434)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .defence import Defence, Gradients


@dataclass(frozen=True)
class Signs(Defence):
    """-1, 0 or 1 in the place of each coordinate; a coordinate of 0 stays 0."""

    name: str = "sign-sgd"

    def defended(
        self, gradients: Gradients, sensitive: NDArray[np.int64] | None, seed: int
    ) -> Gradients:
        del sensitive, seed
        return np.sign(gradients)
