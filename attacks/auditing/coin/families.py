"""Predictions of the coin by the rank of an output, that were there before any draw.

Each is a matrix (m, cells) of log-odds. What is wrong with a deployment is most often the scale of
its noise, or a value that moves further than it may: those have few predictions, and so a large
share each.
"""

from functools import lru_cache

import numpy as np

from ....reference.arrays import Matrix, Vector

_HEIGHTS = np.array([0.06, 0.15, 0.35, 0.75, 1.5, 2.5, 4.0])
_SCALES = (1.25, 1.5, 2.0, 3.0)
_SHIFTS = (0.3, 0.75, 1.5, 3.0)
_WIDTHS = (0.02, 0.05, 0.12)
_SLOPES = (0.3, 0.75, 1.5)


def _ranks(cells: int) -> Vector:
    return (np.arange(cells) + 0.5) / cells


@lru_cache(maxsize=8)
def noise(cells: int) -> Matrix:
    """Gaussian and Laplace noise, in one world of another scale, or moved, either way round."""
    from scipy.stats import laplace, norm

    x, found = np.linspace(-40.0, 40.0, 40_001), []
    for law in (norm, laplace):
        for other in [*(law(0.0, r) for r in _SCALES), *(law(d, 1.0) for d in _SHIFTS)]:
            pooled = 0.5 * (law.cdf(x) + other.cdf(x))
            at = np.interp(_ranks(cells), pooled, x)
            found.append(other.logpdf(at) - law.logpdf(at))
    return np.array([sign * odds for odds in found for sign in (1.0, -1.0)])


@lru_cache(maxsize=8)
def slopes(cells: int) -> Matrix:
    """A peak in the middle that moves, beneath tails that do not: several widths and heights."""
    found = []
    for width in _WIDTHS:
        apart = (_ranks(cells) - 0.5) / width
        shape = apart * np.exp(0.5 - 0.5 * apart**2)
        found += [height * shape for height in _SLOPES]
    return np.array([sign * odds for odds in found for sign in (1.0, -1.0)])


def shapes(cells: int, epsilon: float) -> Matrix:
    """Steps, tails at one end, and bumps, of either sign, at several heights beyond epsilon."""
    heights = epsilon + _HEIGHTS
    return (heights[:, None, None] * _shapes(cells)).reshape(-1, cells)


@lru_cache(maxsize=8)
def _shapes(cells: int) -> Matrix:
    """Shapes (m, cells) of height 1."""
    x = _ranks(cells)
    found = [np.ones(cells)]
    for cut in np.linspace(0.0, 1.0, 9)[1:-1]:
        found += [np.where(x < cut, 1.0, 0.0), np.where(x < cut, 0.0, 1.0)]
        found += [np.where(x < cut, 1.0, -1.0)]
    for end in (1 / 32, 1 / 16):
        found += [np.where(x < end, 1.0, 0.0), np.where(x > 1.0 - end, 1.0, 0.0)]
    found += [2.0 * x - 1.0, np.tanh(6.0 * (x - 0.5))]
    for centre in (0.25, 0.5, 0.75):
        for width in (0.06, 0.15):
            found.append(np.exp(-0.5 * ((x - centre) / width) ** 2))
    found.append(1.0 - 2.0 * np.exp(-0.5 * ((x - 0.5) / 0.2) ** 2))
    return np.array([sign * shape for shape in found for sign in (1.0, -1.0)])
