"""Gradients of many records and batches at once, the norms that clipping needs, and scores.

`records` (n, d) and `labels` (n,) are those of a pool; `noise` (n, w) or (b, k, w) where the loss
draws some (`Network.noises`), else None.
"""

from functools import partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from .models import Network, Parameters, Perceptron

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]

CHUNK = 1_000
"""Records a call: 4,000 at once take six times as long for each, as they outgrow the caches."""

_VALUES = 4_000_000  # of a chunk of batches' gradients


def per_example(
    network: Network,
    parameters: Parameters,
    records: Floats,
    labels: Labels,
    noise: Floats | None = None,
) -> Floats:
    """The gradient of each record's loss, (n, p)."""
    found = np.empty((len(records), network.size), dtype=np.float32)
    for start in range(0, len(records), CHUNK):
        some = slice(start, start + CHUNK)
        drawn = None if noise is None else noise[some]
        found[some] = _each(network, parameters, records[some], labels[some], drawn)
    return found


def batch_gradients(
    network: Network,
    parameters: Parameters,
    records: Floats,
    labels: Labels,
    batches: NDArray[np.int64],
    *,
    shares: Floats | None = None,
    noise: Floats | None = None,
) -> Floats:
    """Sums (b, p) of the gradients of the records in each batch, times their shares.

    batches (b, k): which records; shares (b, k): by default 1 / k, which gives the mean.
    """
    b, k = batches.shape
    weights = np.full((b, k), 1.0 / k, dtype=np.float32) if shares is None else shares
    found = np.empty((b, network.size), dtype=np.float32)
    step = max(_VALUES // network.size, 1)
    for start in range(0, b, step):
        some = slice(start, start + step)
        rows = batches[some]
        drawn = None if noise is None else noise[some]
        inputs = records[rows], labels[rows], weights[some], drawn
        found[some] = _sums(network, parameters, inputs)
    return found


def norms(
    network: Network,
    parameters: Parameters,
    records: Floats,
    labels: Labels,
    noise: Floats | None = None,
) -> Floats:
    """The L2 norm of each record's gradient, (n,).

    Of a perceptron without the gradients themselves: that of a layer is an outer product, whose
    norm is the product of the norms (ghost clipping; Goodfellow 2015, arXiv 1510.01799).
    """
    if not isinstance(network, Perceptron):
        each = per_example(network, parameters, records, labels, noise)
        found: Floats = np.linalg.norm(each, axis=1)
        return found
    return np.asarray(_ghost(network, parameters, records, labels, noise))


def scores(network: Network, parameters: Parameters, records: Floats) -> Floats:
    """The model's scores (n, classes), without noise: what it is good for."""
    return np.asarray(_scores(network, parameters, records))


@partial(jax.jit, static_argnums=0)
def _scores(network: Network, parameters: Array, records: Array) -> Array:
    return network.logits(parameters, records)


@partial(jax.jit, static_argnums=0)
def _each(
    network: Network, parameters: Array, records: Array, labels: Array, noise: Array | None
) -> Array:
    def one(record: Array, label: Array, drawn: Array | None) -> Array:
        def loss(at: Array) -> Array:
            alone = None if drawn is None else drawn[None]
            return network.losses(at, record[None], label[None], alone)[0]

        gradient: Array = jax.grad(loss)(parameters)
        return gradient

    found: Array = jax.vmap(one)(records, labels, noise)
    return found


@partial(jax.jit, static_argnums=0)
def _sums(network: Network, parameters: Array, inputs: tuple[Any, ...]) -> Array:
    def one(some: Array, named: Array, weights: Array, drawn: Array | None) -> Array:
        def loss(at: Array) -> Array:
            return weights @ network.losses(at, some, named, drawn)

        gradient: Array = jax.grad(loss)(parameters)
        return gradient

    found: Array = jax.vmap(one)(*inputs)
    return found


@partial(jax.jit, static_argnums=0)
def _ghost(
    network: Perceptron, parameters: Array, records: Array, labels: Array, noise: Array | None
) -> Array:
    widths = [prod(shape) for shape in network.shapes[1::2]]
    offsets = [jnp.zeros((len(records), width), records.dtype) for width in widths]
    run: Any = partial(network.losses_seen, parameters, records, labels, noise)
    by_outputs, inputs = jax.grad(run, has_aux=True)(offsets)
    squares = sum(
        (given**2).sum(1) * ((taken**2).sum(1) + 1.0)  # 1: the bias
        for given, taken in zip(by_outputs, inputs, strict=True)
    )
    found: Array = jnp.sqrt(squares)
    return found
