"""Laws of aggregators that cut noisy counts to whole numbers, or count other classes."""

import numpy as np

from .....reference import Noise, log_probabilities
from .....reference.arrays import Matrix
from ..mechanism import LabelsMechanism
from .laws import Law, finish

MOST_WHOLE = 25.0
"""Largest scale at which a cut is looked for: beyond, 30,000 labels of a histogram tell little."""

FEW_TEACHERS = 30
"""Most teachers for which a cut is looked for where as many classes are counted as votes."""

_NEVER = 600.0  # scales below 0, where no draw lies
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
    cdf = np.exp(noise.log_cdf(np.maximum((drawn + positive) / noise.scale, -_NEVER)))
    upto, below = cdf[:, 1:], cdf[:, :-1]
    earlier = np.cumprod(np.vstack([np.ones_like(below[:1]), below[:-1]]), 0)
    later = np.cumprod(np.vstack([np.ones_like(upto[:1]), upto[:0:-1]]), 0)[::-1]
    wins = ((upto - below) * earlier * later).sum(-1)
    return np.asarray(wins / wins.sum())


def counted_by_votes(claim: LabelsMechanism, *, cut: bool) -> Law:
    """Law when as many classes are counted as there are votes, and the winner is taken modulo.

    Every class beyond the claimed ones gets noise and no votes; where there are fewer votes than
    classes the last ones never win (PATE-mlp, `add_global_noise`). cut: whether noisy counts are
    cut to whole numbers too.
    """

    def law(histograms: Matrix) -> Matrix:
        return np.array([_counted(claim.noise, histogram, cut) for histogram in histograms])

    return finish(claim, law)


def _counted(noise: Noise, histogram: Matrix, cut: bool) -> Matrix:
    """Probabilities (c,) where as many classes race as there are votes."""
    classes = histogram.size
    counted = max(int(histogram.sum()), int(np.flatnonzero(histogram).max(initial=0)) + 1)
    racing, beyond = histogram[:counted], max(0, counted - classes)
    found = np.zeros(classes)
    if racing.size == 1:
        found[0] = 1.0
    elif cut:
        wins = _first_of_whole(noise, np.append(racing, np.zeros(beyond)), False)
        np.add.at(found, np.arange(wins.size) % classes, wins)
    else:
        votes, times = racing, np.ones(racing.size)
        if beyond:
            votes, times = np.append(racing, 0.0), np.append(times, beyond)
        wins = np.exp(np.asarray(log_probabilities(votes, noise, times)))
        found[: racing.size] = wins[: racing.size]
        np.add.at(found, np.arange(classes, counted) % classes, wins[-1])
    return found
