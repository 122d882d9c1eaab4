"""How many gradients of records a CPU second, in several ways."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..field.environments import ENVIRONMENTS, NotInstalled
from ..long_runs import ROOT
from .derivatives import CHUNK, batch_gradients, norms, per_example
from .models import Perceptron

_RECORDS, _BEST_OF = 8_000, 5


@dataclass(frozen=True)
class Speed:
    """A way, what it gives, and records a CPU second at its best; NaN where it is not installed.

    CPU time, since the cores of the machine may be shared.
    """

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
        Speed("jax-privacy 2.0.0, `clipped_grad`", "sums of clipped gradients", _jax_privacy()),
    ]


def _jax_privacy() -> float:
    """In an environment of its own, as `benchmarks.field` makes them."""
    environment = ENVIRONMENTS["jax-privacy-2.0.0"]
    try:
        environment.make()
    except NotInstalled:
        return float("nan")
    script = ROOT / "benchmarks" / "field" / "calls" / "jax_privacy_speed.py"
    words = [str(environment.python), str(script)]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def _rate(work: Callable[[], object]) -> float:
    work()  # compiles
    best = np.inf
    for _ in range(_BEST_OF):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return _RECORDS / best
