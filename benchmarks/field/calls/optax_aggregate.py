"""optax: `contrib.differentially_private_aggregate` of per-record gradients of two tensors.

The update is a mean over the batch; it is multiplied by its size, so that the sum is judged.
With the word `finite` on the command line, records that are not finite are refused beforehand.
"""

import math
import secrets
import sys

import jax

jax.config.update("jax_enable_x64", True)  # a record of 10^308 is not finite in single precision

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from optax.contrib import differentially_private_aggregate  # noqa: E402
from served import serve  # noqa: E402

aggregate = differentially_private_aggregate(
    l2_norm_clip=1.0, noise_multiplier=1.1, key=jax.random.key(secrets.randbits(32))
)
AT_ONCE = 32
"""Updates of one compiled call."""

SHAPES = ((4, 3), (3,))
"""Shapes of a record's tensors, which a list of no records does not tell."""


@jax.jit
def updates(state, gradients):
    """The next updates, tensor after tensor, and the state after them."""

    def one(state, _):
        found, state = aggregate.update(gradients, state)
        return state, jnp.concatenate([jnp.ravel(tensor) for tensor in found])

    return jax.lax.scan(one, state, None, length=AT_ONCE)


state = aggregate.init(None)


def release(values, size):
    """Noisy sums of gradients (n, *shape) in each tensor."""
    global state
    tensors = [
        np.array(tensor, dtype=float).reshape(-1, *shape)
        for tensor, shape in zip(values, SHAPES, strict=True)
    ]
    if "finite" in sys.argv and not all(np.isfinite(tensor).all() for tensor in tensors):
        raise ValueError("a record is not finite")
    found = []
    for _ in range(math.ceil(size / AT_ONCE)):
        state, rows = updates(state, tensors)
        found += (np.asarray(rows) * len(tensors[0])).tolist()
    return found[:size]


serve(release)
