"""Laws of aggregators that cut noisy counts to whole numbers, or count other classes."""

import numpy as np

from .....reference import Noise, log_probabilities
from .....reference.arrays import Matrix
from ..mechanism import LabelsMechanism
from .laws import Law, finish

MOST_WHOLE = 25.0
"""Largest scale at which a cut is looked for: beyond, 30,000 labels of a histogram tell little."""

_BELOW, _ABOVE = 16.0, 20.0  # scales about the leader, for tails as long as of Laplace noise


def cut_to_whole(claim: LabelsMechanism, *, noise_alone: bool) -> Law:
    """Law when noise is cut to whole numbers, towards zero; of equal counts the first wins.

    noise_alone: before it is added to the votes, else with them, as where it is added into an array
    of integers (Private-kNN, `aggregation_knn`).
    """

    def law(histograms: Matrix) -> Matrix:
        return np.array([_first_of_whole(claim.noise, h, noise_alone) for h in histograms])

    return finish(claim, law)


def _first_of_whole(noise: Noise, histogram: Matrix, noise_alone: bool) -> Matrix:
    """Probabilities (c,) that a class's whole count is the largest, and the first of these."""
    lead = float(histogram.max())
    low, high = lead - _BELOW * noise.scale, lead + _ABOVE * noise.scale
    whole = np.arange(np.floor(low) - 1.0, np.ceil(high) + 1.0)
    drawn = whole - histogram[:, None]
    positive = drawn >= 0.0 if noise_alone else np.broadcast_to(whole >= 0.0, drawn.shape)
    # what is cut to m or less lies below m + 1 where m is positive, and below m where it is not
    cdf = np.exp(noise.log_cdf((drawn + positive) / noise.scale))
    upto, below = cdf[:, 1:], cdf[:, :-1]
    earlier = np.cumprod(np.vstack([np.ones_like(below[:1]), below[:-1]]), 0)
    later = np.cumprod(np.vstack([np.ones_like(upto[:1]), upto[:0:-1]]), 0)[::-1]
    wins = ((upto - below) * earlier * later).sum(-1)
    return np.asarray(wins / wins.sum())


def counted_by_teachers(claim: LabelsMechanism) -> Law:
    """Law when as many classes are counted as there are teachers, and the winner taken modulo.

    Every class beyond the claimed ones gets noise and no votes (PATE-mlp, `add_global_noise`).
    """
    classes, beyond = claim.classes, max(0, claim.teachers - claim.classes)
    residues = np.bincount(np.arange(classes, classes + beyond) % classes, minlength=classes)

    def law(histograms: Matrix) -> Matrix:
        if not beyond:
            return np.asarray(np.exp(log_probabilities(histograms, claim.noise)))
        more = np.concatenate([histograms, np.zeros((len(histograms), 1))], -1)
        times = np.append(np.ones(classes), float(beyond))
        wins = np.exp(np.asarray(log_probabilities(more, claim.noise, times)))
        return np.asarray(wins[:, :classes] + wins[:, classes:] * residues)

    return finish(claim, law)
