"""A cheap stand-in for the log-likelihood around some votes: proposals are made from it."""

import numpy as np
from numpy.typing import NDArray

from ..reference import Noise, log_derivatives, log_probabilities
from ..reference.arrays import Matrix
from .answers import Answers, Likelihood

Rows = NDArray[np.intp]
Votes = NDArray[np.int64]

_STEP = 0.25  # of the noise's scale, over which log Q is compared with its slope
_MOST = 50.0  # of a log Q that the surrogate gets wrong, so that its exponential stays finite


class Surrogate:
    """log Q of each class, linear in the votes, and curved in the class's distance to the leader.

    likelihood: of b histograms; centre: votes (b, c) around which it is good; anchor: (b,) the
    class that leads there. What it gets wrong costs acceptance, never correctness.
    """

    def __init__(self, likelihood: Likelihood, centre: Matrix, anchor: Rows) -> None:
        self.centre, self.anchor = centre, anchor
        self.each = np.arange(len(anchor))
        self.parts = [_Expansion(a, centre, anchor) for a in likelihood.answers]

    def distance(self, change: Matrix | Votes) -> Matrix:
        """Changes (..., b, c) of the classes less that of the leader."""
        return np.asarray(change - change[..., self.each, self.anchor][..., None])

    def tilts(self, change: Matrix | Votes) -> list[Matrix]:
        """What changes of votes (..., b, c) add to the linear part of each batch's log Q."""
        return [part.tilt(change) for part in self.parts]

    def value(self, votes: Votes) -> Matrix:
        """About the log-likelihood (s, b) of votes (s, b, c), up to a constant of each row."""
        away = votes - self.centre
        return self.valued(self.tilts(away), np.square(self.distance(away)), votes)

    def valued(self, tilts: list[Matrix], squares: Matrix, votes: Votes) -> Matrix:
        """`value`, given the linear parts and the squared distances of these votes."""
        parts = zip(self.parts, tilts, strict=True)
        return np.asarray(sum(part.value(tilt, squares, votes) for part, tilt in parts))


class _Expansion:
    """At the centre, of one batch: log Q (b, c), its slopes (b, c, c), half its curvatures."""

    def __init__(self, answers: Answers, centre: Matrix, anchor: Rows) -> None:
        self.answers = answers
        self.log_q, slopes = log_derivatives(centre, answers.mechanism.noise)
        self.slopes = np.swapaxes(slopes, 1, 2).copy()
        self.bends = _bends(centre, anchor, self.log_q, slopes, answers.mechanism.noise)
        self.labels, self.answered = answers.labels, answers.labels.sum(-1)

    def tilt(self, change: Matrix | Votes) -> Matrix:
        return np.asarray(np.moveaxis(np.moveaxis(change, -2, -3) @ self.slopes, -3, -2))

    def value(self, tilt: Matrix, squares: Matrix, votes: Votes) -> Matrix:
        logs = squares * self.bends
        logs += tilt
        logs += self.log_q
        total = (logs * self.labels).sum(-1)
        mass = np.exp(np.minimum(logs, _MOST, out=logs), out=logs).sum(-1)
        total -= self.answered * np.log(np.maximum(mass, 1e-300))
        if self.answers.refuses:
            total += self.answers.screening_value(votes.max(-1))
        return np.asarray(total)


def _bends(centre: Matrix, anchor: Rows, log_q: Matrix, slopes: Matrix, noise: Noise) -> Matrix:
    """Half the curvatures (b, c) of each class's log Q by its own votes; 0 for the anchor's."""
    rows, classes = centre.shape
    step, every = _STEP * noise.scale, np.arange(classes)
    moved = centre[:, None, :] + step * np.eye(classes)
    there = log_probabilities(moved, noise)[:, every, every]
    bends = (there - log_q - step * slopes[:, every, every]) / step**2
    bends[np.arange(rows), anchor] = 0.0
    return np.asarray(np.minimum(bends, 0.0))  # log Q is concave, but for rounding
