"""Training on lines with DP-SGD."""

from dataclasses import dataclass
from functools import partial

import jax
import numpy as np
from jax import Array

from dpassay.attacks.gradients.defences.dp_sgd import DPSGD
from dpassay.attacks.memorisation.trained_lines import (
    CharacterNetwork,
    Codes,
    Model,
    Training,
    mean_gradient,
)
from dpassay.attacks.memorisation.trained_lines import trained as learned


@dataclass(frozen=True)
class PrivateTraining(Training):
    """A training whose gradients are clipped and get noise; None for gradients as they are.

    DP-SGD divides by the width of a batch.
    """

    multiplier: float | None = None
    clip_norm: float = 1.0

    def gradient(self, model: Model, batch: Codes, here: Codes, seed: int) -> Codes:
        """The sum (p,) of the clipped gradients of the lines that are `here`, with noise."""
        if self.multiplier is None:
            return mean_gradient(model, batch, here, seed)
        guard = DPSGD(multiplier=self.multiplier, clip_norm=self.clip_norm, size=len(batch))
        each = np.asarray(_each(model.network, model.parameters, batch))
        shares = here * guard.shares(np.linalg.norm(each, axis=1)[None])
        return np.asarray(guard.defended(shares @ each, None, seed)[0])


@partial(jax.jit, static_argnums=0)
def _each(network: CharacterNetwork, parameters: Array, batch: Array) -> Array:
    def one(line: Array) -> Array:
        found: Array = jax.grad(lambda at: network.losses(at, line[None])[0])(parameters)
        return found

    found: Array = jax.vmap(one)(batch)
    return found


def trained(codes: Codes, training: PrivateTraining) -> Model:
    """The model after a training on lines (n, length)."""
    return learned(codes, training, training.gradient)
