"""Where to evaluate the integral of Theorem 1 (Wang et al. 2022, arXiv 2209.10732), by family.

Every rule takes standardised histograms `z`: votes minus the largest count, in units of the
noise scale, shape (b, c), so that the leader sits at 0. It returns nodes and the logs of their
weights, on which one kernel (`probabilities`) sums the integrands of all classes.

Gaussian: the trapezoidal rule, whose error has a proven bound that is relative in every tail.
Let g be the integrand of a class, a product of one density and c - 1 cdfs. For real a,
|phi(x + ia)| = e^(a^2/2) phi(x) and |Phi(x + ia)| <= e^(a^2/2) Phi(x), so the Fourier transform
of g obeys |g^(w)| <= e^(-wa + c a^2/2) Q; a = w/c and Poisson summation give a relative error of
at most 2 exp(-2 pi^2 / (c h^2)) for step h, whatever the votes. The integrand is also strongly
log-concave with constant 1 and curvature at most c, so all but 2 sqrt(c) Phi(-r) of it lies
within r of its peak.

Exponential: with v = exp(-x) the integrand is a polynomial of degree c - 1 on [0, 1], on which
Gauss-Legendre with c/2 nodes is exact.

Laplace: above the leader as for exponential noise; below it the integrand is analytic between
votes, and Gauss-Legendre runs on pieces on which it changes by a bounded factor (`laplace_rule`).
"""

import math
from functools import lru_cache

import numpy as np

from .arrays import Array, Matrix, namespace
from .noise import Laplace, Noise

Nodes = Matrix


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


RELATIVE_ERROR = 1e-16
NEAR = 64.0
"""Classes up to this far behind the leader share one Gaussian grid; Q < 1e-444 beyond."""

_GRAIN = 2.0**-16  # steps and origins are multiples of it, so that nodes carry no rounding


@lru_cache
def gaussian_step(classes: int) -> float:
    """Trapezoidal step (units of sigma) with relative error below `RELATIVE_ERROR`."""
    step = math.sqrt(2.0 * math.pi**2 / (classes * math.log(2.0 / RELATIVE_ERROR)))
    return math.floor(step / _GRAIN) * _GRAIN


@lru_cache
def gaussian_reach(classes: int) -> float:
    """Distance from the peak of an integrand beyond which it may be cut off."""
    from scipy.special import ndtri

    return -float(ndtri(RELATIVE_ERROR / (2.0 * math.sqrt(classes))))


@lru_cache
def gaussian_crest(classes: int) -> float:
    """Upper bound of the peak's place, where (c - 1) phi/Phi has fallen to x."""
    low, high = 0.0, math.sqrt(2.0 * math.log(classes)) + 2.0
    for _ in range(60):
        x = 0.5 * (low + high)
        cdf = 0.5 * math.erfc(-x * math.sqrt(0.5))
        density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
        low, high = (x, high) if (classes - 1) * density > x * cdf else (low, x)
    return high


def gaussian_grid(lowest: Array, classes: int, count: int) -> tuple[Array, float]:
    """Nodes (b, count) that serve every class down to `lowest` (b,), and their log-weight.

    The peak of a class at z lies above z/2 (the leader's hazard exceeds -x) and below the crest.
    """
    xp = namespace(lowest)
    step = gaussian_step(classes)
    start = xp.floor((0.5 * lowest - gaussian_reach(classes)) / _GRAIN) * _GRAIN
    return start[:, None] + step * xp.arange(count), math.log(step)


def gaussian_count(lowest: float, classes: int) -> int:
    """How many nodes `gaussian_grid` needs for classes down to `lowest`."""
    width = 2.0 * gaussian_reach(classes) + gaussian_crest(classes) - 0.5 * lowest
    return math.ceil(width / gaussian_step(classes)) + 2


def gaussian_window(peak: Array, classes: int) -> tuple[Array, float]:
    """Nodes (b, n) around the peaks (b,) of single integrands, and their log-weight."""
    xp = namespace(peak)
    step = gaussian_step(classes)
    half = math.ceil((gaussian_reach(classes) + 1.0) / step)
    return peak[:, None] + step * xp.arange(-half, half + 1), math.log(step)


@lru_cache
def _unit_legendre(count: int) -> tuple[Nodes, Nodes]:
    """Half the Gauss-Legendre nodes on (0, 1), lowest first and relatively accurate, and weights.

    Newton's method on the Legendre recurrence written in s = 1 + t with differences
    D_k = R_k - R_(k-1), R_k = (-1)^k P_k(s - 1), which does not cancel near the end s = 0, where
    large ensembles of classes need their nodes (`roots_legendre` loses five digits there).
    """
    from scipy.special import roots_legendre

    s = np.maximum(1.0 + roots_legendre(count)[0][: (count + 1) // 2], 1e-9)
    for _ in range(3):
        value, difference = 1.0 - s, -s
        for k in range(1, count):
            difference = (k * difference - (2 * k + 1) * s * value) / (k + 1)
            value = value + difference
        slope = count * (difference - s * value) / (s * (2.0 - s))
        s = s - value / slope
    return 0.5 * s, 1.0 / (s * (2.0 - s) * slope**2)


@lru_cache
def exponential_rule(classes: int) -> tuple[Nodes, Nodes]:
    """Nodes (n,) and log-weights of the integral over x > 0, exact for `classes` classes."""
    count = classes // 2 + 1
    v, weights = _unit_legendre(count)
    mirrored = count // 2  # an odd rule has its middle node once
    x = np.concatenate([-np.log(v), -np.log1p(-v[:mirrored])])
    return x, np.log(np.concatenate([weights, weights[:mirrored]])) + x


PIECE_NODES = 16
_DROP = 6.0  # log-units that the integrand may change on a piece; at 8, 16 nodes lose three digits
_STEEP = 48.0  # units of b below the leader after which its own integrand is negligible
_FORGET = 41.0  # log-units below the leader's place after which the rest is left out
_FLAT = 45.0  # units of b after which a cdf equals 1 in float64


def laplace_pieces(classes: int) -> int:
    """Pieces for which JAX reserves room; at most 36 beyond the classes were seen to be used."""
    return classes + 64


class LaplacePotential:
    """Sum of the log-cdfs of all classes but the leader: it bounds every integrand's fall.

    z: standardised votes (b, c); multiplicity: classes each entry stands for, one each when None.
    """

    def __init__(self, z: Array, multiplicity: Array | None = None) -> None:
        xp = namespace(z)
        self.z = z
        self.multiplicity = xp.ones_like(z) if multiplicity is None else multiplicity
        self.classes = self.multiplicity[0].sum()
        self.top = self.value(xp.zeros(z.shape[0]))

    def value(self, x: Array) -> Array:
        """At x (b,) <= 0."""
        log_cdf = Laplace.log_cdf(x[:, None] - self.z)
        return (self.multiplicity * log_cdf).sum(-1) - x + math.log(2.0)

    def slope(self, x: Array) -> Array:
        """Its derivative from the left at x (b,) <= 0."""
        return (self.multiplicity * Laplace.hazard(x[:, None] - self.z)).sum(-1) - 1.0

    def kink(self, x: Array) -> Array:
        """The next vote below x (b,), minus infinity if there is none."""
        xp = namespace(x)
        below = (self.z < x[:, None]) & (self.multiplicity > 0)
        return xp.where(below, self.z, -xp.inf).max(-1)


def laplace_step(potential: LaplacePotential, x: Array) -> Array:
    """The lower end (b,) of the piece whose upper end is x (b,) <= 0; x itself when done.

    A piece ends at a vote, or after a change of `_DROP` (the potential is concave, so scaling a
    step that changes too much by the ratio of the two is always enough). Between the leader and
    the runner-up all integrands may be flat, and one piece crosses to where they are not.
    """
    xp = namespace(x)
    here, slope, kink = potential.value(x), potential.slope(x), potential.kink(x)
    low = xp.maximum(x - _DROP / xp.maximum(slope, 1.0), kink)
    fall = here - potential.value(low)
    low = x - (x - low) * xp.minimum(1.0, _DROP / xp.maximum(fall, _DROP))
    flat_until = kink + _FLAT + xp.log(potential.classes)
    low = xp.where((x < -_STEEP) & (x > flat_until) & (slope < 0.5), flat_until, low)
    return xp.where(potential.top - here > _FORGET, x, low)


@lru_cache
def _piece_rule() -> tuple[Nodes, Nodes]:
    from scipy.special import roots_legendre

    points, weights = roots_legendre(PIECE_NODES)
    return 0.5 * (1.0 - points), np.log(0.5 * weights)


def laplace_nodes(upper: Array, lower: Array, classes: int) -> tuple[Array, Array]:
    """Nodes (b, n) and log-weights of the pieces [lower, upper] (b, pieces) and of x > 0."""
    xp = namespace(upper)
    share, log_share = _piece_rule()
    width = upper - lower
    x = upper[..., None] - width[..., None] * share
    log_width = xp.where(width > 0, xp.log(xp.where(width > 0, width, 1.0)), -xp.inf)
    log_weight = log_width[..., None] + log_share
    above, log_above = exponential_rule(classes)
    rows = upper.shape[0]
    return (
        xp.concatenate([x.reshape(rows, -1), xp.broadcast_to(above, (rows, above.size))], -1),
        xp.concatenate(
            [log_weight.reshape(rows, -1), xp.broadcast_to(log_above, (rows, above.size))], -1
        ),
    )
