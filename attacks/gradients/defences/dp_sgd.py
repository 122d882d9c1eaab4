"""DP-SGD: records' gradients are clipped, and noise is added to their sum (Abadi et al. 2016).

The clipping and the noise are optax's (`optax.contrib.differentially_private_aggregate`). What it
costs is exact: optax has no accountant.
"""

import math
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ....reference.accounting.adjacency import Adjacency
from ....reference.numbers import NoisyGradient, parse_number_noise
from ....reference.numbers.costs import epsilon_bracket
from .defence import Defence, Gradients

_VALUES = 4_000_000  # of noise drawn at once


@dataclass(frozen=True)
class DPSGD(Defence):
    """Each record's gradient clipped to `clip_norm`, their sum with Gaussian noise, divided by k.

    multiplier: the noise's standard deviation on the sum over the clip norm, sigma; size: k, the
    records of every batch, of those released as of those in training: a public number. Raises
    ValueError for a multiplier below 0, and for a clip norm or size that is not above it.
    """

    name: str = "dp-sgd"
    multiplier: float = 1.0
    clip_norm: float = 1.0
    size: int = 16

    def __post_init__(self) -> None:
        for key, least in (("multiplier", True), ("clip_norm", False), ("size", False)):
            value = getattr(self, key)
            if not (value > 0.0 or (least and value == 0.0)):
                allowed = "0 or more" if least else "a number above 0"
                raise ValueError(f"{key} {value:g}: expected {allowed}")

    def shares(self, norms: NDArray[np.float32]) -> NDArray[np.float32]:
        """What optax's clipping leaves of each gradient, over k.

        Raises ValueError for batches of another size, whose noise would be of another scale.
        """
        if norms.shape[-1] != self.size:
            raise ValueError(
                f"{self.name} of batches of {self.size} records: not of {norms.shape[-1]}"
            )
        bound = np.float32(self.clip_norm)
        return np.asarray(bound / np.maximum(norms, bound) / self.size, dtype=np.float32)

    def defended(
        self, gradients: Gradients, sensitive: NDArray[np.int64] | None, seed: int
    ) -> Gradients:
        """Adds optax's noise, each batch with a key of its own."""
        del sensitive
        keys = jax.random.split(jax.random.key(seed), len(gradients))
        found = np.empty_like(gradients)
        step = max(_VALUES // gradients.shape[1], 1)
        for start in range(0, len(gradients), step):
            some = slice(start, start + step)
            noise = _noise(self.clip_norm, self.multiplier, gradients.shape[1], keys[some])
            found[some] = gradients[some] + np.asarray(noise) / np.float32(self.size)
        return found

    def epsilon(self, delta: float, releases: int, adjacency: Adjacency) -> float:
        """What so many releases of batches cost exactly, without subsampling.

        To flip an attribute is to replace a record, `Adjacency.REPLACE_ONE`: twice as far as one
        record more or less, `Adjacency.ADD_REMOVE`, and more than twice the epsilon. Infinite
        without noise.
        """
        if not self.multiplier:
            return math.inf
        noise = parse_number_noise(f"gaussian:{self.multiplier}")
        return epsilon_bracket(NoisyGradient(noise, ((1,),), 1.0, adjacency), delta, releases).high


@partial(jax.jit, static_argnums=2)
def _noise(clip_norm: float, multiplier: float, width: int, keys: Array) -> Array:
    """What optax adds to the sum of a batch (b, width): its aggregate of one gradient of 0."""
    from optax.contrib import differentially_private_aggregate

    nothing = jnp.zeros((1, width), dtype=jnp.float32)

    def one(key: Array) -> Array:
        aggregate = differentially_private_aggregate(clip_norm, multiplier, key)
        added: Array = aggregate.update(nothing, aggregate.init(nothing))[0]
        return added

    found: Array = jax.vmap(one)(keys)
    return found
