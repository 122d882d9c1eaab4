"""A cheap stand-in for the log-likelihood around some votes: proposals are made from it."""

import numpy as np
from numpy.typing import NDArray

from ..reference import Noise, log_derivatives, log_jacobian
from ..reference.arrays import Matrix
from .answers import Likelihood

Rows = NDArray[np.intp]

_STEP = 0.25  # of the noise's scale, over which slopes are compared


class Surrogate:
    """log Q of each class, linear in the votes, and curved in the class's distance to the leader.

    likelihood: of b histograms; centre: votes (b, c) around which it is good; anchor: (b,) the
    class that leads there. What it gets wrong costs acceptance, never correctness.
    """

    def __init__(self, likelihood: Likelihood, centre: Matrix, anchor: Rows) -> None:
        self.answers, self.centre, self.anchor = likelihood.answers, centre, anchor
        self.each = np.arange(len(anchor))
        self.expansions = [self._expand(a.mechanism.noise) for a in self.answers]

    def _expand(self, noise: Noise) -> tuple[Matrix, Matrix, Matrix]:
        """At the centre: log Q (b, c), its slopes transposed (b, c, c), and curvatures (b, c)."""
        log_q, slopes = log_derivatives(self.centre, noise)
        curves = np.zeros_like(self.centre)
        for label in range(self.centre.shape[1]):
            behind = self.anchor != label
            moved = self.centre.copy()
            moved[behind, label] += _STEP * noise.scale
            change = log_jacobian(moved, noise)[:, label, label] - slopes[:, label, label]
            curves[behind, label] = change[behind] / (_STEP * noise.scale)
        return log_q, np.swapaxes(slopes, 1, 2).copy(), curves

    def value(self, votes: NDArray[np.int64]) -> Matrix:
        """About the log-likelihood (s, b) of votes (s, b, c), up to a constant of each row."""
        away = np.swapaxes(votes - self.centre, 0, 1)
        distance = away - away[self.each, :, self.anchor][:, :, None]
        total = np.zeros(votes.shape[:-1])
        for a, (log_q, slopes, curves) in zip(self.answers, self.expansions, strict=True):
            logs = away @ slopes + 0.5 * curves[:, None] * np.square(distance) + log_q[:, None]
            logs -= np.log(np.exp(np.minimum(logs, 50.0)).sum(-1, keepdims=True))
            total += a.labels_value(np.swapaxes(logs, 0, 1))
            total += a.screening_value(votes.max(-1))
        return total
