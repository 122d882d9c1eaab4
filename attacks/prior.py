"""The stated prior over histograms: Dirichlet-multinomial, its concentration learned.

Given a concentration a a class, H is Dirichlet-multinomial(N; a, ..., a): small a means that
teachers agree. The concentration is uniform over a log grid and shared by all histograms that are
attacked together, so that many of them fit it (hierarchical Bayes) and one is averaged over it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Matrix = NDArray[np.float64]
Votes = NDArray[np.int64]

CONCENTRATIONS = np.geomspace(0.01, 30.0, 25)
"""Concentrations a class: 0.01 is near unanimity, 30 is near a tie of all classes."""


def log_weight(votes: Votes, concentration: Matrix) -> Matrix:
    """The factor of one class in the log-pmf, elementwise: votes from 0."""
    return np.asarray(gammaln(votes + concentration) - gammaln(votes + 1.0))


def draw_concentration(votes: Votes, rng: np.random.Generator) -> Matrix:
    """Concentrations (s,) given histograms (s, b, c), from their exact law on the grid."""
    _, rows, classes = votes.shape
    total = votes[0, 0].sum()
    a = CONCENTRATIONS
    log_p = (gammaln(votes[..., None] + a) - gammaln(a)).sum((1, 2))
    log_p += rows * (gammaln(classes * a) - gammaln(total + classes * a))
    gumbel = rng.gumbel(size=log_p.shape)  # the largest of log p plus Gumbel noise is a draw
    return np.asarray(a[(log_p + gumbel).argmax(-1)])
