"""Which two private images each encoding mixes: those whose mixture has its squares best."""

import numpy as np

from .instahide import Images, Whole
from .mixtures import Mixtures


def assigned(mixtures: Mixtures, images: Images, classes: Whole) -> tuple[Whole, float]:
    """The pairs (n, 2) of images (m, d) that explain squares best, and the mean error left.

    Among those with the classes that the label shows. The squares of a mixture a p + b q are
    a^2 p^2 + b^2 q^2 + 2 a b p q: three products for every pair, shared by all encodings, so that
    all pairs of two classes are compared at once.
    """
    squares = mixtures.squares
    pairs, error = np.empty((len(squares), 2), dtype=np.int64), float((squares**2).sum())
    for first, second in np.unique(mixtures.classes, axis=0):
        rows = np.flatnonzero((mixtures.classes == (first, second)).all(1))
        here, there = np.meshgrid(
            np.flatnonzero(classes == first), np.flatnonzero(classes == second), indexing="ij"
        )
        different = here != there
        here, there = here[different], there[different]
        errors = _errors(squares[rows], mixtures.weights[rows], images[here], images[there])
        best = errors.argmin(1)
        pairs[rows, 0], pairs[rows, 1] = here[best], there[best]
        error += float(errors.min(1).sum())
    return pairs, error / squares.size


def _errors(squares: Images, weights: Images, p: Images, q: Images) -> Images:
    """Squared distances (n, pairs) of squares (n, d) from those of mixtures of p and q (pairs, d).

    But for the norms of the squares themselves, which all pairs have in common.
    """
    parts = (p**2, q**2, p * q)
    a, b = weights[:, :1], weights[:, 1:]
    shares = (a**2, b**2, 2.0 * a * b)
    found = np.zeros((len(squares), len(p)), dtype=np.float32)
    for share, part in zip(shares, parts, strict=True):
        found -= 2.0 * share * (squares @ part.T)
        for other, beside in zip(shares, parts, strict=True):
            found += share * other * (part * beside).sum(1)
    return found
