"""The defences of Li et al. 2024, section 6.1, by name, with the parameters given there."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from .defence import Defence, Gradients
from .dp_sgd import DPSGD

_HIDDEN, _EPOCHS, _BATCH, _RATE = 32, 10, 100, 1e-3
_AT_ONCE = 1_000  # batches whose gradients are moved together


@dataclass(frozen=True)
class GradientSurrogate:
    """A perceptron from gradients, centred and scaled, to the sensitive variable.

    centre, scale (p,): of public gradients; weights: of a hidden layer and of the scores.
    """

    centre: Gradients
    scale: Gradients
    weights: tuple[Any, ...]


@dataclass(frozen=True)
class Perturbation(Defence):
    """Steps up the loss of a surrogate adversary, each coordinate moved by `bound` at most.

    Projected gradient ascent (Madry et al. 2018, arXiv 1706.06083). The moves depend on what they
    are to hide, and the surrogate can be trained anew by anybody, so that who knows of the defence
    reads *more* than from gradients as they are.
    steps, step, bound: 5, 0.002 and 0.005 in Li et al. 2024; surrogate: of a round, made by
    `fitted`. Raises ValueError for numbers that are not above 0.
    """

    name: str = "perturbation"
    steps: int = 5
    step: float = 0.002
    bound: float = 0.005
    surrogate: GradientSurrogate | None = None

    def __post_init__(self) -> None:
        for key in ("steps", "step", "bound"):
            if not getattr(self, key) > 0:
                raise ValueError(f"{key} {getattr(self, key):g}: expected a number above 0")

    def fitted(
        self, gradients: Gradients, sensitive: NDArray[np.int64], seed: int
    ) -> "Perturbation":
        """Trains the surrogate."""
        return replace(self, surrogate=_trained(gradients, sensitive, seed))

    def defended(
        self, gradients: Gradients, sensitive: NDArray[np.int64] | None, seed: int
    ) -> Gradients:
        """See `Defence.defended`. Raises ValueError before `fitted`, and where a is not known."""
        del seed
        if self.surrogate is None or sensitive is None:
            lacking = "a surrogate: fit it first" if sensitive is not None else "the batches' a"
            raise ValueError(f"{self.name} lacks {lacking}")
        found = np.empty_like(gradients)
        for start in range(0, len(gradients), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            found[some] = self._moved(self.surrogate, gradients[some], sensitive[some])
        return found

    def _moved(
        self, surrogate: GradientSurrogate, gradients: Gradients, sensitive: NDArray[np.int64]
    ) -> Gradients:
        moved, hidden = jnp.asarray(gradients), jnp.asarray(sensitive)
        for _ in range(self.steps):
            moved = moved + self.step * jnp.sign(
                _uphill(moved, surrogate.centre, surrogate.scale, surrogate.weights, hidden)
            )
            moved = jnp.clip(moved, gradients - self.bound, gradients + self.bound)
        return np.asarray(moved, dtype=np.float32)


@jax.jit
def _uphill(gradients: Any, centre: Any, scale: Any, weights: Any, sensitive: Any) -> Any:
    """Where the surrogate's loss rises (b, p), each batch's by itself."""

    def loss(at: Any) -> Any:
        return _entropy(weights, (at - centre) / scale, sensitive)

    return jax.grad(loss)(gradients)


def _entropy(weights: Any, inputs: Any, sensitive: Any) -> Any:
    first, shift, last, biases = weights
    scores = jax.nn.relu(inputs @ first + shift) @ last + biases
    logs = jax.nn.log_softmax(scores)
    return -jnp.take_along_axis(logs, sensitive[:, None], 1).sum()


def _trained(gradients: Gradients, sensitive: NDArray[np.int64], seed: int) -> GradientSurrogate:
    random = np.random.default_rng(seed)
    centre, spread = gradients.mean(0), gradients.std(0)
    scale = np.maximum(spread, 1e-3 * spread.max() + 1e-12).astype(np.float32)
    inputs = jnp.asarray((gradients - centre) / scale)
    width, classes = gradients.shape[1], int(sensitive.max()) + 1
    weights = tuple(
        jnp.asarray(part, dtype=jnp.float32)
        for part in (
            random.standard_normal((width, _HIDDEN)) / np.sqrt(width),
            np.zeros(_HIDDEN),
            random.standard_normal((_HIDDEN, classes)) / np.sqrt(_HIDDEN),
            np.zeros(classes),
        )
    )
    state: Any = _adam().init(weights)
    hidden = jnp.asarray(sensitive)
    for _ in range(_EPOCHS):
        order = random.permutation(len(inputs))
        for start in range(0, len(order) - min(_BATCH, len(order)) + 1, _BATCH):
            rows = order[start : start + _BATCH]
            weights, state = _learned(weights, state, inputs[rows], hidden[rows])
    return GradientSurrogate(centre, scale, weights)


@cache
def _adam() -> Any:
    import optax

    return optax.adam(_RATE)


@jax.jit
def _learned(weights: Any, state: Any, inputs: Any, sensitive: Any) -> Any:
    changed, state = _adam().update(jax.grad(_entropy)(weights, inputs, sensitive), state)
    return jax.tree.map(jnp.add, weights, changed), state


@dataclass(frozen=True)
class Signs(Defence):
    """-1, 0 or 1 in the place of each coordinate; a coordinate of 0 stays 0."""

    name: str = "sign-sgd"

    def defended(
        self, gradients: Gradients, sensitive: NDArray[np.int64] | None, seed: int
    ) -> Gradients:
        del sensitive, seed
        return np.sign(gradients)


@dataclass(frozen=True)
class Pruning(Defence):
    """Sets all but the largest coordinates, in absolute value, to 0, in each batch.

    rate: share of the p coordinates that are set to 0; at least one is kept. Raises ValueError for
    a rate outside [0, 1).
    """

    name: str = "pruning"
    rate: float = 0.99

    def __post_init__(self) -> None:
        if not 0.0 <= self.rate < 1.0:
            raise ValueError(f"pruning rate {self.rate:g}: expected from 0, and less than 1")

    def defended(
        self, gradients: Gradients, sensitive: NDArray[np.int64] | None, seed: int
    ) -> Gradients:
        """Of equal ones at the edge, those that come first are kept."""
        del sensitive, seed
        width = gradients.shape[1]
        kept = width - min(round(self.rate * width), width - 1)
        order = np.argsort(-np.abs(gradients), axis=1, kind="stable")[:, :kept]
        found = np.zeros_like(gradients)
        np.put_along_axis(found, order, np.take_along_axis(gradients, order, axis=1), axis=1)
        return found


DEFENCES: dict[str, Defence] = {
    defence.name: defence for defence in (Defence(), Pruning(), Signs(), Perturbation(), DPSGD())
}
"""DP-SGD with clip norm 1, sigma 1 and batches of 16."""
