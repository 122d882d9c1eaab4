"""How many gradients of records a second, in several ways."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpassay.attacks.gradients.derivatives import CHUNK, batch_gradients, norms, per_example
from dpassay.attacks.gradients.models import Perceptron

_RECORDS, _BEST_OF = 8_000, 5


@dataclass(frozen=True)
class Speed:
    """A way, what it gives, and records a second at its best."""

    way: str
    gives: str
    rate: float


def speeds() -> list[Speed]:
    """On the network of the study: 38 inputs, two hidden layers of 64, two classes."""
    random = np.random.default_rng(0)
    network = Perceptron(38, 2)
    records = random.normal(size=(_RECORDS, 38)).astype(np.float32)
    labels = random.integers(0, 2, _RECORDS)
    parameters = network.initial(0)
    rows = np.arange(_RECORDS).reshape(-1, 16)
    args = network, parameters, records, labels

    def one(at: Any, record: Any, label: Any) -> Any:
        return network.losses(at, record[None], label[None])[0]

    whole = jax.jit(jax.vmap(jax.grad(one), (None, 0, 0)))
    given = jnp.asarray(parameters), jnp.asarray(records), jnp.asarray(labels)

    def in_chunks(size: int) -> None:
        for start in range(0, _RECORDS, size):
            some = slice(start, start + size)
            whole(given[0], given[1][some], given[2][some]).block_until_ready()

    return [
        Speed(f"vmap, {CHUNK:,} at once", "gradients left in JAX", _rate(lambda: in_chunks(CHUNK))),
        Speed("vmap, 4,000 at once", "gradients left in JAX", _rate(lambda: in_chunks(4_000))),
        Speed(
            "`per_example`", "gradients in one array of numpy", _rate(lambda: per_example(*args))
        ),
        Speed("`norms`, ghost clipping", "norms alone", _rate(lambda: norms(*args))),
        Speed("`batch_gradients` of 16", "sums", _rate(lambda: batch_gradients(*args, rows))),
    ]


def _rate(work: Callable[[], object]) -> float:
    work()  # compiles
    best = np.inf
    for _ in range(_BEST_OF):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return _RECORDS / best
