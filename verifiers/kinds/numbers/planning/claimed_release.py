"""The claimed release of a noisy gradient, as a defence that an adversary knows."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .....attacks.gradients.defences.defence import Defence, Gradients
from .....reference.numbers import NoisyGradient


@dataclass(frozen=True)
class ClaimedRelease(Defence):
    """Clipping, division and noise as claimed."""

    name: str = "the claim"
    mechanism: NoisyGradient = field(kw_only=True)

    def shares(self, norms: NDArray[np.float32]) -> NDArray[np.float32]:
        """What clipping leaves of each gradient, over the public number."""
        bound = np.float32(self.mechanism.clip_norm)
        left = bound / np.maximum(norms, bound)
        return np.asarray(left / self.mechanism.divide_by, dtype=np.float32)

    def defended(
        self, gradients: Gradients, sensitive: NDArray[np.int64] | None, seed: int
    ) -> Gradients:
        """Adds the noise, with its rounding."""
        del sensitive
        rng = np.random.default_rng(seed)
        released = self.mechanism.noise.sample(gradients, 1, rng)[0]
        return np.asarray(released, dtype=np.float32)
