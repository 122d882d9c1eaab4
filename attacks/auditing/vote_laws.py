"""Exact laws of the label where the votes themselves are random: teachers that are drawn anew.

The votes of k teachers that vote alike and independently, each by P, are multinomial: independent
Poisson counts, given their sum. So the chance that the noisy maximum lies at x in class c is the
coefficient of z^k in a product over classes of generating functions, one factor a class: density in
c, cdfs elsewhere (the model of Chadha et al. 2024, arXiv 2402.09403, section 5.1). The product is
taken at roots of unity, on a circle whose radius makes k the likeliest sum: there the coefficient
is no small difference of large numbers, so that labels which hardly ever come keep their digits.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...reference import Gaussian, Noise, probabilities, quadrature
from ...reference.arrays import Matrix, Vector

_TAIL = 42.0  # scales, beyond which any family's tail is below 1e-18
_TAIL_GAUSSIAN = 9.0
_STEP = 0.25  # scales of Gaussian noise, at most: of many classes the integrand is steeper
_NODES = 8  # in a panel, for densities that have kinks where a whole vote is
_AT_ONCE = 32
_NEVER = -1e6  # the log of what does not happen, which may be added to others
_NEWTON_STEPS = 12
_LARGEST_TILT = 50.0


def laws_with_one_vote_fixed(noise: Noise, votes: Vector, voters: int) -> Matrix:
    """Laws (c, c) of the label: row d where one voter votes d, and the others each by `votes`.

    noise: of each count; votes: probabilities (c,) of one voter's vote; voters: in all. Absolute
    error below 1e-11. A voter with law P' in place of the fixed one has the label law P' @ rows;
    one like all others, votes @ rows. Raises ValueError for probabilities that do not sum to 1, and
    for fewer voters than one.
    """
    if voters < 1:
        raise ValueError(f"voters {voters}: expected at least one")
    return laws_with_shifts(noise, votes, voters - 1, np.eye(np.size(votes), dtype=np.int64))


def laws_with_shifts(noise: Noise, votes: Vector, draws: int, shifts: NDArray[np.int64]) -> Matrix:
    """Laws (s, c) of the label: row i where the votes are Mult(draws, votes) + shifts[i].

    noise: of each count; votes: probabilities (c,) of one voter's vote; draws: how many voters vote
    by them; shifts: whole numbers (s, c) that are added to the counts, -1 where a vote is taken
    away; a count may thereby be below 0. Absolute error below 1e-11; under Gaussian noise the
    relative error of labels likelier than 1e-30 is below 1e-9 (measured). Raises ValueError for
    probabilities that do not sum to 1, draws below 0 and shifts of another shape.
    """
    from scipy.stats import poisson

    votes = np.asarray(votes, dtype=np.float64)
    if votes.ndim != 1 or votes.size < 2 or not votes.min() >= 0 or abs(votes.sum() - 1.0) > 1e-9:
        raise ValueError(f"votes {votes.tolist()}: expected probabilities of two or more classes")
    if draws < 0:
        raise ValueError(f"draws {draws}: expected at least 0")
    shifts = np.asarray(shifts, dtype=np.int64)
    if shifts.ndim != 2 or shifts.shape[1] != votes.size:
        raise ValueError(f"shifts of shape {shifts.shape}: expected (s, {votes.size})")
    if votes.max() == 1.0:  # no vote is random
        return np.asarray(probabilities(draws * votes + shifts, noise))
    mean = max(draws, 1)
    log_weights = np.asarray(poisson.logpmf(np.arange(draws + 1), votes[:, None] * mean))
    laws = np.zeros(shifts.shape)
    lowest, highest = int(shifts.min()), draws + int(shifts.max())
    for x, width in _nodes(noise, lowest, highest, votes.size):
        laws += _coefficients(noise, log_weights, x, shifts) @ width
    return np.maximum(laws / poisson.pmf(draws, mean), 0.0)  # a rounding error may end below


def _coefficients(
    noise: Noise, log_weights: Matrix, x: Vector, shifts: NDArray[np.int64]
) -> Matrix:
    """Coefficients of z^k (s, c, nodes), for each row of shifts and each label.

    log_weights: of the Poisson counts (c, k + 1); x: places (nodes,) of the noisy maximum.
    """
    classes, size = log_weights.shape
    counts = np.arange(size)
    values, which = np.unique(shifts, return_inverse=True)
    offsets = (x[:, None] - counts - values[:, None, None]) / noise.scale
    log_density = np.maximum(noise.log_density(offsets), _NEVER) - np.log(noise.scale)
    below, here = (
        np.maximum(log_weights[:, None] + table[:, None], _NEVER)
        for table in (noise.log_cdf(offsets), log_density)
    )
    tilt = _tilt(below[0], size - 1)
    pick_size, pick = _picked(size - 1)
    log_cdf, cdf = _spectra(below + tilt[:, None] * counts, pick_size)
    log_winner, winner = _spectra(here + tilt[:, None] * counts, pick_size)
    found = np.empty((len(shifts), classes, x.size))
    labels = np.arange(classes)
    for row, by_value in enumerate(which.reshape(shifts.shape)):
        factors, logs = cdf[by_value, labels], log_cdf[by_value, labels]
        scale = log_winner[by_value, labels] + logs.sum(0) - logs - tilt * (size - 1)
        product = winner[by_value, labels] * _products_of_the_others(factors)
        found[row] = np.exp(scale) * (product @ pick).real
    return found


def _tilt(logs: Matrix, draws: int) -> Vector:
    """Logs (nodes,) of the radii at which the mean sum of the counts is `draws`, nearly.

    logs: of the weight (c, nodes, k + 1) of each count. Every radius is right; the nearer this
    one, the fewer digits are lost (the saddle point of Daniels 1954).
    """
    counts = np.arange(logs.shape[-1])
    tilt = np.zeros(logs.shape[1])
    for _ in range(_NEWTON_STEPS):
        tilted = logs + tilt[:, None] * counts
        weights = np.exp(tilted - tilted.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        means = weights @ counts
        variance = (weights @ counts**2 - means**2).sum(0)
        lacking = draws - means.sum(0)
        if (np.abs(lacking) <= 0.25 * np.sqrt(variance)).all():
            break
        tilt = tilt + np.clip(lacking / np.maximum(variance, 1e-3), -2.0, 2.0)
        tilt = np.clip(tilt, 0.0, _LARGEST_TILT)  # cdfs favour small counts, never large ones
    return tilt


def _spectra(logs: Matrix, length: int) -> tuple[Matrix, NDArray[np.complex128]]:
    """Logs of the sums over the last axis, and Fourier transforms of the terms over their sums."""
    peaks = logs.max(-1, keepdims=True)
    terms = np.exp(logs - peaks)
    sums = terms.sum(-1, keepdims=True)
    return (peaks + np.log(sums))[..., 0], np.fft.rfft(terms / sums, length)


def _picked(degree: int) -> tuple[int, NDArray[np.complex128]]:
    """A length of transforms, and what a transform is multiplied by for one coefficient."""
    length = 1 << int(2 * degree + 64).bit_length()
    index = np.arange(length // 2 + 1)
    pick = np.exp(2j * np.pi * (index * degree % length) / length) / length
    pick[1:-1] *= 2.0  # the other half of the roots has the conjugates
    return length, pick


def _products_of_the_others(factors: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """For each factor (c, ...), the product of all others, without a division."""
    products = np.empty_like(factors)
    products[0] = 1.0
    for i in range(1, len(factors)):
        np.multiply(products[i - 1], factors[i - 1], out=products[i])
    after = factors[-1].copy()
    for i in range(len(factors) - 2, -1, -1):
        products[i] *= after
        after *= factors[i]
    return products


def _nodes(
    noise: Noise, lowest: int, highest: int, classes: int
) -> Iterator[tuple[Vector, Vector]]:
    """Nodes and weights of a quadrature over all noisy maxima, some at a time.

    lowest, highest: counts of votes that come.
    """
    if isinstance(noise, Gaussian):
        step = min(_STEP, quadrature.gaussian_step(classes)) * noise.scale
        tail = _TAIL_GAUSSIAN * noise.scale
        x = np.arange(lowest - tail, highest + tail + step, step)
        width = np.full(x.size, step)
    else:
        tail = _TAIL * noise.scale
        outside = np.arange(0.0, tail + 0.5 * noise.scale, 0.5 * noise.scale)
        parts = max(1, round(2.0 / noise.scale))
        inside = np.linspace(lowest, highest, (highest - lowest) * parts + 1)
        edges = np.concatenate([lowest - outside[:0:-1], inside, highest + outside[1:]])
        node, weight = np.polynomial.legendre.leggauss(_NODES)
        half = 0.5 * np.diff(edges)[:, None]
        x = (edges[:-1, None] + half + half * node).ravel()
        width = (half * weight).ravel()
    for start in range(0, x.size, _AT_ONCE):
        yield x[start : start + _AT_ONCE], width[start : start + _AT_ONCE]
