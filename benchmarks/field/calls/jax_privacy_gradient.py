"""jax-privacy: `clipped_grad` and `gaussian_privatizer`; gradients of its loss are the records."""

import math
import secrets

import jax

jax.config.update("jax_enable_x64", True)  # a record of 10^308 is not finite in single precision

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax_privacy import clipped_grad, noise_addition  # noqa: E402
from served import serve  # noqa: E402

AT_ONCE = 32
"""Noisy sums of one compiled call."""


def loss(parameters, *records):
    """Its gradient by the parameters is the record, summed over the batch that it is given."""
    parts = zip(parameters, records, strict=True)
    return sum(jnp.sum(parameter[None] * record) for parameter, record in parts)


summed = clipped_grad(loss, l2_clip_norm=1.0, batch_argnums=(1, 2))
privatizer = noise_addition.gaussian_privatizer(
    stddev=1.1 * summed.sensitivity(), prng_key=jax.random.key(secrets.randbits(32))
)


@jax.jit
def releases(state, tensors):
    """The next noisy sums, tensor after tensor, and the state after them."""
    parameters = tuple(jnp.zeros(tensor.shape[1:]) for tensor in tensors)
    exact = summed(parameters, *tensors)

    def one(state, _):
        found, state = privatizer.update(exact, state)
        return state, jnp.concatenate([jnp.ravel(tensor) for tensor in found])

    return jax.lax.scan(one, state, None, length=AT_ONCE)


state = privatizer.init((jnp.zeros((4, 3)), jnp.zeros(3)))


def release(values, size):
    """Noisy sums of gradients (n, *shape) in each tensor."""
    global state
    tensors = tuple(np.array(tensor, dtype=float) for tensor in values)
    found = []
    for _ in range(math.ceil(size / AT_ONCE)):
        state, rows = releases(state, tensors)
        found += np.asarray(rows).tolist()
    return found[:size]


serve(release)
