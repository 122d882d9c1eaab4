"""Class probabilities Q(H) of noisy argmax in float64, with their analytic Jacobian.

Q_k(H) = integral of f(x - H_k) prod_{i != k} F(x - H_i) dx (Theorem 1 of Wang et al. 2022 for
Gaussian noise; the proof holds for any density f with cdf F). Numpy and JAX arrays are taken and
returned in kind; under JAX everything jits, vmaps and differentiates, in 64-bit mode only.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from . import quadrature
from .arrays import Array, is_jax, namespace
from .noise import Exponential, Gaussian, Gumbel, Laplace, Noise

Matrix = NDArray[np.float64]
Moments = tuple[Array, Array | None]
"""Log-probabilities (b, c) and the mean hazards (b, c, c), or None where not asked for."""

_CHUNK = 1 << 17  # kernel elements at a time: what fits into a core's cache


def log_probabilities(histogram: Array, noise: Noise) -> Array:
    """Natural log of Q(H), relative error of Q below 1e-12 down to 1e-300 and beyond.

    histogram: votes per class, shape (c,) or (..., c), any finite reals (Q is defined on them).
    noise: the noise added to every class, scale in votes.
    Returns the shape of `histogram`. Raises ValueError for fewer than two classes or values that
    are not finite. Source: Wang et al. 2022 (arXiv 2209.10732), Theorem 1; for Gumbel noise Q is
    the softmax (the exponential mechanism).
    """
    if is_jax(histogram):
        from .differentiable import log_probabilities_jax

        return log_probabilities_jax(histogram, noise)
    z, shape = _standardise(histogram, noise)
    return _moments(z, noise, hazards=False)[0].reshape(shape)


def probabilities(histogram: Array, noise: Noise) -> Array:
    """Q(H); arguments and errors as in `log_probabilities`."""
    logs = log_probabilities(histogram, noise)
    return namespace(logs).exp(logs)


def log_jacobian(histogram: Array, noise: Noise) -> Array:
    """Derivatives of log Q_k by H_j, per vote, shape (..., c, c); arguments as `log_probabilities`.

    For j != k it is minus the mean of the hazard f/F of class j under the integrand of class k;
    the rows sum to zero (Theorem 2 of Wang et al. 2022: shifting all votes changes nothing).
    """
    if is_jax(histogram):
        from .differentiable import log_jacobian_jax

        return log_jacobian_jax(histogram, noise)
    z, shape = _standardise(histogram, noise)
    means = _moments(z, noise, hazards=True)[1]
    return (jacobian_from_hazards(means) / noise.scale).reshape(*shape, shape[-1])


def jacobian(histogram: Array, noise: Noise) -> Array:
    """Derivatives of Q_k by H_j, per vote, shape (..., c, c); arguments as `log_probabilities`.

    Symmetric, because Q is the gradient of E max(H + S) (Williams-Daly-Zachary).
    """
    logs = log_probabilities(histogram, noise)
    return namespace(logs).exp(logs)[..., :, None] * log_jacobian(histogram, noise)


def jacobian_from_hazards(means: Array) -> Array:
    """The log-Jacobian (..., c, c) at scale 1 from the mean hazards (..., c, c)."""
    xp = namespace(means)
    identity = xp.eye(means.shape[-1])
    others = means * (1.0 - identity)
    return identity * others.sum(-1, keepdims=True) - others


def kernel(noise: Noise, z: Array, x: Array, log_weight: Array, hazards: bool) -> Moments:
    """Sums the integrands of all classes of `z` (b, c) over the nodes `x` (b, n)."""
    xp = namespace(z)
    u = x[:, None, :] - z[:, :, None]
    log_cdf = noise.log_cdf(u)
    common = log_cdf.sum(1) + log_weight
    terms = noise.log_density(u)  # updated in place by numpy, which halves the time
    terms -= log_cdf
    terms += common[:, None, :]
    peak = terms.max(-1, keepdims=True)
    terms -= peak
    terms = xp.exp(terms, out=terms) if xp is np else xp.exp(terms)
    total = terms.sum(-1, keepdims=True)
    log_q = xp.minimum((peak + xp.log(total))[..., 0], 0.0)  # rounding may end a hair above
    if not hazards:
        return log_q, None
    return log_q, (terms / total) @ xp.swapaxes(noise.hazard(u), -1, -2)


def softmax_moments(z: Array) -> Moments:
    """`Moments` of Gumbel noise in closed form: Q is the softmax, and so are the mean hazards."""
    xp = namespace(z)
    shifted = z - z.max(-1, keepdims=True)
    log_q = shifted - xp.log(xp.exp(shifted).sum(-1, keepdims=True))
    return log_q, xp.broadcast_to(xp.exp(log_q)[:, None, :], (*z.shape, z.shape[-1]))


def _standardise(histogram: Array, noise: Noise) -> tuple[Matrix, tuple[int, ...]]:
    votes = np.asarray(histogram, dtype=np.float64)
    if votes.ndim == 0 or votes.shape[-1] < 2:
        raise ValueError(f"histogram of shape {votes.shape}: expected at least two classes")
    if not np.isfinite(votes).all():
        bad = votes[~np.isfinite(votes)].flat[0]
        raise ValueError(f"histogram holds {bad}: expected finite votes")
    rows = votes.reshape(-1, votes.shape[-1])
    return (rows - rows.max(-1, keepdims=True)) / noise.scale, votes.shape


def _moments(z: Matrix, noise: Noise, hazards: bool) -> Moments:
    if isinstance(noise, Gumbel):
        return softmax_moments(z)
    rows, classes = z.shape
    log_q = np.empty((rows, classes))
    means = np.empty((rows, classes, classes)) if hazards else None
    for index, x, log_weight in _panels(z, noise):
        log_q[index], part = kernel(noise, z[index], x, log_weight, hazards)
        if means is not None:
            means[index] = part
    if isinstance(noise, Gaussian):
        for index, own, x, log_weight in _far_panels(z):
            entries, part = kernel(noise, z[index], x, log_weight, hazards)
            log_q[index, own] = entries[np.arange(index.size), own]
            if means is not None and part is not None:
                means[index, own] = part[np.arange(index.size), own]
    return log_q, means


def _panels(z: Matrix, noise: Noise) -> Iterator[tuple[NDArray[np.intp], Matrix, Array]]:
    """Rows of `z`, the nodes that serve all their (near) classes, and the log-weights."""
    classes = z.shape[1]
    lowest = np.maximum(z.min(-1), -quadrature.NEAR)
    order = np.argsort(-lowest)  # rows of like range share a chunk, and so a node count
    if isinstance(noise, Gaussian):
        start = 0
        while start < order.size:
            size = max(
                1, _CHUNK // (classes * quadrature.gaussian_count(lowest[order[start]], classes))
            )
            index = order[start : start + size]
            count = quadrature.gaussian_count(float(lowest[index].min()), classes)
            yield index, *quadrature.gaussian_grid(lowest[index], classes, count)
            start += size
    elif isinstance(noise, Exponential):
        x, log_weight = quadrature.exponential_rule(classes)
        for index in _chunks(order, classes * x.size):
            shape = (index.size, x.size)
            yield index, np.broadcast_to(x, shape), np.broadcast_to(log_weight, shape)
    elif isinstance(noise, Laplace):
        per_row = classes * (quadrature.PIECE_NODES * 16 + classes)
        for index in _chunks(order, per_row):
            yield index, *_laplace_panel(z[index])
    else:
        raise ValueError(f"noise {noise}: no rule for this family")


def _chunks(order: NDArray[np.intp], per_row: int) -> Iterator[NDArray[np.intp]]:
    size = max(1, _CHUNK // per_row)
    for start in range(0, order.size, size):
        yield order[start : start + size]


def _laplace_panel(z: Matrix) -> tuple[Array, Array]:
    upper = np.zeros(z.shape[0])
    top = quadrature.laplace_potential(z, upper)
    ends = [upper]
    for _ in range(quadrature.laplace_pieces(z.shape[1])):
        ends.append(quadrature.laplace_step(z, top, ends[-1]))
        if (ends[-1] == ends[-2]).all():
            break
    bounds = np.stack(ends, -1)
    return quadrature.laplace_nodes(bounds[:, :-1], bounds[:, 1:], z.shape[1])


def _far_panels(z: Matrix) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Matrix, float]]:
    """Rows and classes further than `NEAR` behind the leader, each with a window of its own."""
    classes = z.shape[1]
    all_rows, all_own = np.nonzero(z < -quadrature.NEAR)
    size = max(1, _CHUNK // (classes * 32))
    for start in range(0, all_rows.size, size):
        rows, own = all_rows[start : start + size], all_own[start : start + size]
        mean = z[rows, own]
        low, high = mean.copy(), np.full(rows.size, quadrature.gaussian_crest(classes))
        for _ in range(math.frexp((high - low).max())[1] + 1):
            x = 0.5 * (low + high)
            hazards = Gaussian.hazard(x[:, None] - z[rows])
            hazards[np.arange(rows.size), own] = 0.0
            rising = hazards.sum(-1) > x - mean
            low, high = np.where(rising, x, low), np.where(rising, high, x)
        yield rows, own, *quadrature.gaussian_window(0.5 * (low + high), classes)
