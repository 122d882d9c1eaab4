"""Exact laws of the label where the votes themselves are random: teachers that are drawn anew.

The votes of k teachers that vote alike and independently, each by P, are multinomial: independent
Poisson counts, given their sum. So the chance that the noisy maximum lies at x in class c is the
coefficient of z^k in a product over classes of generating functions, one factor a class: density in
c, cdfs elsewhere (the model of Chadha et al. 2024, arXiv 2402.09403, section 5.1). The product is
taken at roots of unity.
"""

from collections.abc import Iterator

import numpy as np
from scipy.stats import poisson

from ...reference import Gaussian, Noise, quadrature
from ...reference.arrays import Matrix, Vector

_TAIL = 42.0  # scales, beyond which any family's tail is below 1e-18
_TAIL_GAUSSIAN = 9.0
_STEP = 0.25  # scales of Gaussian noise, at most: of many classes the integrand is steeper
_NODES = 8  # in a panel, for densities that have kinks where a whole vote is
_AT_ONCE = 32


def laws_with_one_vote_fixed(noise: Noise, votes: Vector, voters: int) -> Matrix:
    """Laws (c, c) of the label: row d where one voter votes d, and the others each by `votes`.

    noise: of each count; votes: probabilities (c,) of one voter's vote; voters: in all. Absolute
    error below 1e-11. A voter with law P' in place of the fixed one has the label law P' @ rows;
    one like all others, votes @ rows. Raises ValueError for probabilities that do not sum to 1, and
    for fewer voters than one.
    """
    votes = np.asarray(votes, dtype=np.float64)
    if votes.ndim != 1 or votes.size < 2 or not votes.min() >= 0 or abs(votes.sum() - 1.0) > 1e-9:
        raise ValueError(f"votes {votes.tolist()}: expected probabilities of two or more classes")
    if voters < 1:
        raise ValueError(f"voters {voters}: expected at least one")
    others = voters - 1
    counts = np.arange(others + 1)
    weights = np.asarray(poisson.pmf(counts, votes[:, None] * max(others, 1)))
    length = 1 << int(2 * others + 64).bit_length()
    laws = np.zeros((votes.size, votes.size))
    for x, width in _nodes(noise, voters, votes.size):
        offsets = (x[:, None] - np.arange(voters + 1)) / noise.scale
        below = np.exp(noise.log_cdf(offsets))
        here = np.exp(noise.log_density(offsets)) / noise.scale
        laws += _coefficients(weights, below, here, length) @ width
    return np.asarray(laws / poisson.pmf(others, max(others, 1)))


def _coefficients(weights: Matrix, below: Matrix, here: Matrix, length: int) -> Matrix:
    """Of z^k, (c, c, nodes): by whose vote is fixed, and by the label.

    weights: Poisson (c, k + 1); below, here: cdf and density (nodes, k + 2) at each count of votes.
    """
    classes, size = weights.shape
    free, plus = slice(0, size), slice(1, size + 1)
    cdf, cdf_plus, density, density_plus = (
        np.fft.rfft(weights[:, None] * table[:, part], length)
        for table in (below, here)
        for part in (free, plus)
    )
    index = np.arange(cdf.shape[-1])
    pick = np.exp(2j * np.pi * index * (size - 1) / length) / length
    pick[1:-1] *= 2.0  # the other half of the roots has the conjugates
    found = np.empty((classes, classes, below.shape[0]))
    for fixed in range(classes):
        factors, winners = cdf.copy(), density.copy()
        factors[fixed], winners[fixed] = cdf_plus[fixed], density_plus[fixed]
        found[fixed] = ((winners * _products_of_the_others(factors)) @ pick).real
    return found


def _products_of_the_others(factors: np.ndarray) -> np.ndarray:
    """Of each factor (c, ...), the product of all others, without a division."""
    before, after = np.ones_like(factors), np.ones_like(factors)
    for i in range(1, len(factors)):
        before[i] = before[i - 1] * factors[i - 1]
        after[-1 - i] = after[-i] * factors[-i]
    return np.asarray(before * after)


def _nodes(noise: Noise, voters: int, classes: int) -> Iterator[tuple[Vector, Vector]]:
    """Nodes and weights of a quadrature over all noisy maxima, some at a time."""
    if isinstance(noise, Gaussian):
        step = min(_STEP, quadrature.gaussian_step(classes)) * noise.scale
        tail = _TAIL_GAUSSIAN * noise.scale
        x = np.arange(-tail, voters + tail + step, step)
        width = np.full(x.size, step)
    else:
        tail = _TAIL * noise.scale
        outside = np.arange(0.0, tail + 0.5 * noise.scale, 0.5 * noise.scale)
        parts = max(1, round(2.0 / noise.scale))
        inside = np.linspace(0.0, voters, voters * parts + 1)
        edges = np.concatenate([-outside[:0:-1], inside, voters + outside[1:]])
        node, weight = np.polynomial.legendre.leggauss(_NODES)
        half = 0.5 * np.diff(edges)[:, None]
        x = (edges[:-1, None] + half + half * node).ravel()
        width = (half * weight).ravel()
    for start in range(0, x.size, _AT_ONCE):
        yield x[start : start + _AT_ONCE], width[start : start + _AT_ONCE]
