"""Algorithm 2 of Wang et al. 2022, as published: the baseline that better attacks are held to.

Gradient descent on ||Q(H) - q||_2, with Q by the trapezoidal rule over H_k +- 6 sigma in steps of
one vote, and steps of fixed length. The released code differs from the paper; what it does instead
can be chosen point by point (`Variant`).
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..reference.arrays import Array, Flags, Matrix

_WINDOW = 6.0  # standard deviations
_LONG, _SHORT = 10.0, 1.0  # lengths of a step in votes


@dataclass(frozen=True)
class Variant:
    """Where the paper and the released code differ.

    start_uniform: from N/c votes per class, not from 0; normalise: compare Q and q divided by their
    Euclidean norms; threshold: the objective below which the descent stops; most_steps: steps at
    most; stop_at_negative: stop at the first negative count, and keep it; keep_last: keep the short
    step that raised the objective; shift: add the constant that makes the votes sum to N.
    """

    start_uniform: bool
    normalise: bool
    threshold: float
    most_steps: int
    stop_at_negative: bool
    keep_last: bool
    shift: bool


PAPER = Variant(
    start_uniform=False,
    normalise=False,
    threshold=0.01,
    most_steps=10_000,
    stop_at_negative=False,
    keep_last=False,
    shift=True,
)
"""Wang et al. 2022 (arXiv 2209.10732), Algorithm 2 and section 4.1.

The paper does not say when steps of ten votes become too long, nor what happens when the threshold
is out of reach: here a long step that does not lower the objective ends the long ones, and a short
one that does not ends the descent, as in the released code. The cap of steps is never met. "Stopped
once estimated histograms started presenting negative values" (for the canonical budgets) cannot go
with the start at zero, as the gradient sums to zero: the first step would be the last.
"""

RELEASED = Variant(
    start_uniform=True,
    normalise=True,
    threshold=0.0,
    most_steps=100,
    stop_at_negative=True,
    keep_last=True,
    shift=False,
)
"""The code released with the paper (github.com/cleverhans-lab/monte-carlo-adv, commit 7935683)."""


def gradient_descent(
    counts: Matrix, sigma: float, teachers: int, variant: Variant = PAPER
) -> tuple[Matrix, Flags]:
    """Votes (b, c) from how often each label came (b, c), and whether the objective got below T.

    sigma: scale of the Gaussian noise in votes. Runs in the precision that JAX is set to. Votes
    may be negative. Raises ValueError for a histogram without a single label.
    """
    totals = counts.sum(-1, keepdims=True)
    if not (totals > 0).all():
        raise ValueError("gradient-descent needs at least one label of each histogram")
    frequencies = jnp.asarray(counts / totals)
    votes, value = _descend(frequencies, float(sigma), float(teachers), variant)
    return np.asarray(votes, dtype=np.float64), np.asarray(value < variant.threshold)


def objective(votes: Array, frequencies: Array, sigma: float, normalise: bool) -> Array:
    """||Q(H) - q||_2 for votes and frequencies (c,), by the paper's trapezoidal rule."""
    nodes = jnp.arange(-_WINDOW * sigma, _WINDOW * sigma, 1.0)
    offsets = votes[:, None, None] + nodes - votes[:, None]
    own = jnp.eye(votes.size, dtype=bool)[:, :, None]
    rivals = jnp.where(own, 1.0, jax.scipy.stats.norm.cdf(offsets / sigma)).prod(1)
    q = jnp.trapezoid(rivals * jax.scipy.stats.norm.pdf(nodes / sigma) / sigma)
    if normalise:
        q, frequencies = q / jnp.linalg.norm(q), frequencies / jnp.linalg.norm(frequencies)
    return jnp.linalg.norm(q - frequencies)


class _State(NamedTuple):
    votes: Array
    value: Array
    slope: Array
    long: Array
    steps: Array
    done: Array


@partial(jax.jit, static_argnums=(1, 2, 3))
def _descend(frequencies: Array, sigma: float, teachers: float, variant: Variant) -> Any:
    """Votes (b, c) and objectives (b,), one histogram after the other: each to its own stop."""
    return jax.lax.map(partial(_descend_one, sigma, teachers, variant), frequencies)


def _descend_one(sigma: float, teachers: float, variant: Variant, frequencies: Array) -> Any:
    def loss(votes: Array) -> Array:
        return objective(votes, frequencies, sigma, variant.normalise)

    def step(state: _State) -> _State:
        length = jnp.where(state.long, _LONG, _SHORT)
        steepness = jnp.maximum(jnp.linalg.norm(state.slope), 1e-30)  # 0 where Q is saturated
        votes = state.votes - length * state.slope / steepness
        value, slope = jax.value_and_grad(loss)(votes)
        taken = value <= state.value
        failed = ~taken & ~state.long
        steps = state.steps + taken
        negative = variant.stop_at_negative & (votes < 0).any()
        over = (value < variant.threshold) | negative | (steps >= variant.most_steps)
        kept = taken | (failed & variant.keep_last)
        return _State(
            jnp.where(kept, votes, state.votes),
            jnp.where(kept, value, state.value),
            jnp.where(kept, slope, state.slope),
            state.long & taken,
            steps,
            failed | (taken & over),
        )

    start = jnp.full(frequencies.size, teachers / frequencies.size * variant.start_uniform)
    value, slope = jax.value_and_grad(loss)(start)
    state = _State(start, value, slope, jnp.array(True), jnp.array(0), value < variant.threshold)
    state = jax.lax.while_loop(lambda state: ~state.done, step, state)
    shift = variant.shift * (teachers - state.votes.sum()) / frequencies.size
    return state.votes + shift, state.value
