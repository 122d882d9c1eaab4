"""The JAX form of `probabilities`: static shapes, and derivatives by the analytic Jacobian."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from . import quadrature
from .arrays import Array
from .noise import Exponential, Gaussian, Gumbel, Laplace, Noise
from .quadrature import Moments, jacobian_from_hazards, kernel, softmax_moments


def log_probabilities_jax(histogram: Array, noise: Noise) -> Array:
    """See `dpassay.reference.log_probabilities`; `histogram` is a JAX array or tracer."""
    z = _standardise(histogram, noise)
    return _log_q(z, type(noise)).reshape(histogram.shape)


def log_jacobian_jax(histogram: Array, noise: Noise) -> Array:
    """See `dpassay.reference.log_jacobian`; `histogram` is a JAX array or tracer."""
    means = _moments(_standardise(histogram, noise), type(noise))[1]
    shape = (*histogram.shape, histogram.shape[-1])
    return (jacobian_from_hazards(means) / noise.scale).reshape(shape)


def _standardise(histogram: Array, noise: Noise) -> Array:
    if jnp.result_type(float) != jnp.float64:
        raise ValueError(
            "JAX is in 32-bit mode: call jax.config.update('jax_enable_x64', True) first"
        )
    if histogram.ndim == 0 or histogram.shape[-1] < 2:
        raise ValueError(f"histogram of shape {histogram.shape}: expected at least two classes")
    votes = histogram.astype(jnp.float64).reshape(-1, histogram.shape[-1])
    # Q does not change with the shift (Theorem 2), so no derivative need pass through the maximum.
    return (votes - jax.lax.stop_gradient(votes.max(-1, keepdims=True))) / noise.scale


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _log_q(z: Array, family: type[Noise]) -> Array:
    return _moments(z, family)[0]


@_log_q.defjvp
def _log_q_jvp(family: type[Noise], primals: Any, tangents: Any) -> Any:
    (z,), (dz,) = primals, tangents
    log_q, means = _moments(z, family)
    return log_q, jnp.einsum("bkj,bj->bk", jacobian_from_hazards(means), dz)


@partial(jax.jit, static_argnums=1)
def _moments(z: Array, family: type[Noise]) -> Moments:
    """Log-probabilities (b, c) and mean hazards (b, c, c), differentiable once more.

    The nodes are constants relative to the leader: the frame moves with it, so that the derivative
    sees neither the support of one-sided noise nor the leader's kink move.
    """
    z = z - z.max(-1, keepdims=True)
    fixed = jax.lax.stop_gradient(z)
    if family is Gumbel:
        return softmax_moments(z)
    noise = family(1.0)
    if family is Gaussian:
        return _gaussian_moments(noise, z, fixed)
    if family is Exponential:
        x, log_weight = (jnp.asarray(a) for a in quadrature.exponential_rule(z.shape[1]))
        shape = (z.shape[0], x.size)
        nodes = jnp.broadcast_to(x, shape), jnp.broadcast_to(log_weight, shape)
    elif family is Laplace:
        nodes = _laplace_panel(fixed)
    else:
        raise ValueError(f"noise family {family.__name__}: no rule for this family")
    return kernel(noise, z, *nodes, hazards=True)


def _gaussian_moments(noise: Noise, z: Array, fixed: Array) -> Moments:
    """Moments on the common grid, and where a class is far behind, on windows of its own."""
    classes = z.shape[1]
    lowest = jnp.maximum(fixed.min(-1), -quadrature.NEAR)
    count = quadrature.gaussian_count(-quadrature.NEAR, classes)
    near_q, near_means = kernel(
        noise, z, *quadrature.gaussian_grid(lowest, classes, count), hazards=True
    )
    far = fixed < -quadrature.NEAR

    def with_far(z: Array) -> Moments:
        each = jax.lax.map(lambda own: _own_window(noise, z, own), jnp.arange(classes))
        log_q, means = (jnp.moveaxis(part, 0, 1) for part in each)
        far_means: Array = near_means
        return jnp.where(far, log_q, near_q), jnp.where(far[..., None], means, far_means)

    def without(_: Array) -> Moments:
        return near_q, near_means

    moments: Moments = jax.lax.cond(far.any(), with_far, without, z)
    return moments


def _own_window(noise: Noise, z: Array, own: Array) -> tuple[Array, Array]:
    """Log-probability (b,) and mean hazards (b, c) of class `own`, on nodes around its peak."""
    classes = z.shape[1]
    fixed = jax.lax.stop_gradient(z)
    mean = fixed[:, own]

    def halve(_: int, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        x = 0.5 * (low + high)
        hazards = Gaussian.hazard(x[:, None] - fixed)
        rising = hazards.sum(-1) - hazards[:, own] > x - mean
        return jnp.where(rising, x, low), jnp.where(rising, high, x)

    bounds = (mean, jnp.full_like(mean, quadrature.gaussian_crest(classes)))
    low, high = jax.lax.fori_loop(0, 60, halve, bounds)
    nodes = quadrature.gaussian_window(jax.lax.stop_gradient(0.5 * (low + high)), classes)
    log_q, means = kernel(noise, z, *nodes, hazards=True)
    assert means is not None
    return log_q[:, own], means[:, own]


def _laplace_panel(z: Array) -> tuple[Array, Array]:
    potential = quadrature.LaplacePotential(z)

    def descend(upper: Array, _: None) -> tuple[Array, tuple[Array, Array]]:
        lower = quadrature.laplace_step(potential, upper)
        return lower, (upper, lower)

    last, (upper, lower) = jax.lax.scan(
        descend, jnp.zeros(z.shape[0]), None, length=quadrature.laplace_pieces(z.shape[1])
    )
    x, log_weight = quadrature.laplace_nodes(upper.T, lower.T, z.shape[1])
    finished = quadrature.laplace_step(potential, last) == last
    log_weight = jnp.where(finished[:, None], log_weight, jnp.nan)  # never a silent wrong figure
    return jax.lax.stop_gradient(x), jax.lax.stop_gradient(log_weight)
