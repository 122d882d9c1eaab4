"""The sum over quadrature nodes that all families and both array libraries share."""

import numpy as np

from .arrays import Array, namespace
from .noise import Noise

Moments = tuple[Array, Array | None]
"""Log-probabilities (b, c) and the mean hazards (b, c, c), or None where not asked for."""


def jacobian_from_hazards(means: Array) -> Array:
    """The log-Jacobian (..., c, c) at scale 1 from the mean hazards (..., c, c)."""
    xp = namespace(means)
    identity = xp.eye(means.shape[-1])
    others = means * (1.0 - identity)
    return identity * others.sum(-1, keepdims=True) - others


def kernel(
    noise: Noise,
    z: Array,
    x: Array,
    log_weight: Array,
    *,
    hazards: bool,
    multiplicity: Array | None = None,
) -> Moments:
    """Sums the integrands of all classes of `z` (b, c) over the nodes `x` (b, n).

    multiplicity: how many classes each entry of `z` stands for (b, c), one each when None.
    """
    xp = namespace(z)
    u = x[:, None, :] - z[:, :, None]
    log_cdf = noise.log_cdf(u)
    if multiplicity is None:
        common = log_cdf.sum(1) + log_weight
    else:
        common = (multiplicity[:, None, :] @ log_cdf)[:, 0] + log_weight
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


def softmax_moments(z: Array, multiplicity: Array | None = None) -> Moments:
    """`Moments` of Gumbel noise in closed form: Q is the softmax, and so are the mean hazards."""
    xp = namespace(z)
    shifted = z - z.max(-1, keepdims=True)
    parts = xp.exp(shifted) if multiplicity is None else multiplicity * xp.exp(shifted)
    log_q = shifted - xp.log(parts.sum(-1, keepdims=True))
    return log_q, xp.broadcast_to(xp.exp(log_q)[:, None, :], (*z.shape, z.shape[-1]))
