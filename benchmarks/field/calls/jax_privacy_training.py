"""jax-privacy: `clipped_grad`, `gaussian_privatizer` and its batches train on digits with canaries.

See `canary_digits`. Batches that are not Poisson are cut from one order, the same in each epoch.
"""

import jax
import jax.numpy as jnp
import numpy as np
from canary_digits import answer
from jax_privacy import batch_selection, clipped_grad, noise_addition

RATE, NORM = 1.0, 1.0
ROOM = 300
"""Records more than are expected, of a batch as it is compiled: eight deviations and more."""


def loss(weights, features, labels):
    """The mean of the batch that it is given, which is one record."""
    said = features @ weights
    return jnp.mean(jnp.logaddexp(0.0, said) - labels * said)


summed = clipped_grad(loss, l2_clip_norm=NORM, batch_argnums=(1, 2))


def drawn(sampling, batches, steps, number, seed):
    """The numbers of the records of each step."""
    poisson = batch_selection.CyclicPoissonSampling(sampling_prob=1.0 / batches, iterations=steps)
    in_turn = batch_selection.CyclicPoissonSampling(
        sampling_prob=1.0,
        iterations=steps,
        cycle_length=batches,
        partition_type=batch_selection.PartitionType.EQUAL_SPLIT,
    )
    chosen = poisson if sampling == "poisson" else in_turn
    return chosen.batch_iterator(number, np.random.default_rng(seed))


def train(features, labels, *, sampling, batches, multiplier, steps, seed):
    """The weights after so many steps; batches: of an epoch."""
    number, width = features.shape
    size = number // batches
    features, labels = jnp.asarray(features), jnp.asarray(labels)
    stddev = multiplier * summed.sensitivity()
    privatizer = noise_addition.gaussian_privatizer(stddev=stddev, prng_key=jax.random.key(seed))

    weights = jnp.zeros(width)
    state = privatizer.init(weights)
    for some in drawn(sampling, batches, steps, number, seed):
        padded = np.full(size + (ROOM if sampling == "poisson" else 0), -1)
        padded[: len(some)] = some
        exact = gradients(weights, features, labels, padded)
        noisy, state = privatizer.update(exact, state)
        weights = weights - RATE * noisy / size
    return np.asarray(weights)


@jax.jit
def gradients(weights, features, labels, padded):
    """The sum of clipped gradients of the records with these numbers; -1 is none."""
    return summed(weights, features[padded], labels[padded], is_padding_example=padded < 0)


answer(train)
