"""Class probabilities Q(H) of noisy argmax in float64, with their analytic Jacobian.

Q_k(H) = integral of f(x - H_k) prod_{i != k} F(x - H_i) dx (Theorem 1 of Wang et al. 2022 for
Gaussian noise; the proof holds for any density f with cdf F). Numpy and JAX arrays are taken and
returned in kind; under JAX everything jits, vmaps and differentiates, in 64-bit mode only.
"""

import numpy as np

from .arrays import Array, Matrix, is_jax, namespace
from .noise import Noise, Rounded
from .panels import moments
from .quadrature import jacobian_from_hazards
from .rounded import log_probabilities_rounded


def log_probabilities(histogram: Array, noise: Noise, multiplicity: Matrix | None = None) -> Array:
    """Natural log of Q(H), relative error of Q below 1e-12 down to 1e-300 and beyond.

    histogram: votes per class, shape (c,) or (..., c), any finite reals (Q is defined on them).
    noise: the noise added to every class, scale in votes.
    multiplicity: how many classes each entry (c,) stands for, all with its votes (numpy alone); the
    probability is that of one of them. One each when None.
    Returns the shape of `histogram`. Raises ValueError for fewer than two classes or values that
    are not finite, and for rounded noise with JAX or multiplicity. Source: Wang et al. 2022 (arXiv
    2209.10732), Theorem 1; for Gumbel noise Q is the softmax (the exponential mechanism); for
    rounded noise see `rounded.py`.
    """
    if is_jax(histogram):
        from .differentiable import log_probabilities_jax

        _refuse(multiplicity)
        _refuse_rounded(noise)
        return log_probabilities_jax(histogram, noise)
    if isinstance(noise, Rounded):
        _refuse(multiplicity)
        votes, shape = _checked(histogram)
        return log_probabilities_rounded(votes, noise).reshape(shape)
    z, shape = _standardise(histogram, noise)
    return moments(z, noise, hazards=False, multiplicity=multiplicity)[0].reshape(shape)


def probabilities(histogram: Array, noise: Noise) -> Array:
    """Q(H); arguments and errors as in `log_probabilities`."""
    logs = log_probabilities(histogram, noise)
    return namespace(logs).exp(logs)


def log_jacobian(histogram: Array, noise: Noise) -> Array:
    """Derivatives of log Q_k by H_j, per vote, shape (..., c, c); arguments as `log_probabilities`.

    For j != k it is minus the mean of the hazard f/F of class j under the integrand of class k;
    between two classes both far behind the leader only its absolute error is small;
    the rows sum to zero (Theorem 2 of Wang et al. 2022: shifting all votes changes nothing).
    """
    _refuse_rounded(noise)
    if is_jax(histogram):
        from .differentiable import log_jacobian_jax

        return log_jacobian_jax(histogram, noise)
    return log_derivatives(histogram, noise)[1]


def log_derivatives(
    histogram: Array, noise: Noise, multiplicity: Matrix | None = None
) -> tuple[Array, Array]:
    """`log_probabilities` and `log_jacobian` in one pass, at the cost of either.

    multiplicity: as in `log_probabilities`; the slopes are then by the votes of all classes of an
    entry, changed together.
    """
    if is_jax(histogram):
        _refuse(multiplicity)
        return log_probabilities(histogram, noise), log_jacobian(histogram, noise)
    _refuse_rounded(noise)
    z, shape = _standardise(histogram, noise)
    log_q, means = moments(z, noise, hazards=True, multiplicity=multiplicity)
    if means is not None and multiplicity is not None:
        means = means * multiplicity
    slopes = jacobian_from_hazards(means) / noise.scale
    return log_q.reshape(shape), slopes.reshape(*shape, shape[-1])


def jacobian(histogram: Array, noise: Noise) -> Array:
    """Derivatives of Q_k by H_j, per vote, shape (..., c, c); arguments as `log_probabilities`.

    Symmetric, because Q is the gradient of E max(H + S) (Williams-Daly-Zachary).
    """
    logs, slopes = log_derivatives(histogram, noise)
    return namespace(logs).exp(logs)[..., :, None] * slopes


def _refuse(multiplicity: Matrix | None) -> None:
    if multiplicity is not None:
        raise ValueError(
            "multiplicity with a JAX histogram or a rounding: expected a histogram of numpy and "
            "noise without rounding"
        )


def _refuse_rounded(noise: Noise) -> None:
    if isinstance(noise, Rounded):
        raise ValueError(f"noise {noise}: derivatives and JAX take noise without a rounding")


def _standardise(histogram: Array, noise: Noise) -> tuple[Matrix, tuple[int, ...]]:
    rows, shape = _checked(histogram)
    return (rows - rows.max(-1, keepdims=True)) / noise.scale, shape


def _checked(histogram: Array) -> tuple[Matrix, tuple[int, ...]]:
    """The histograms as rows (b, c), and their shape."""
    votes = np.asarray(histogram, dtype=np.float64)
    if votes.ndim == 0 or votes.shape[-1] < 2:
        raise ValueError(f"histogram of shape {votes.shape}: expected at least two classes")
    if not np.isfinite(votes).all():
        bad = votes[~np.isfinite(votes)].flat[0]
        raise ValueError(f"histogram holds {bad}: expected finite votes")
    return votes.reshape(-1, votes.shape[-1]), votes.shape
