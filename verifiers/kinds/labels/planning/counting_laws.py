"""Laws of aggregators that count other classes than the claimed ones."""

import numpy as np

from .....reference import Noise, log_probabilities, probabilities
from .....reference.arrays import Matrix
from ..mechanism import LabelsMechanism
from .laws import Law, finish

FEW_TEACHERS = 30
"""Most teachers for which a cut is looked for where as many classes are counted as votes."""


def counted_by_votes(claim: LabelsMechanism, *, cut: bool) -> Law:
    """Law when as many classes are counted as there are votes, and the winner is taken modulo.

    Every class beyond the claimed ones gets noise and no votes; where there are fewer votes than
    classes the last ones never win (PATE-mlp, `add_global_noise`). cut: whether noisy counts are
    cut to whole numbers too.
    """

    def law(histograms: Matrix) -> Matrix:
        noise = claim.noise.unrounded
        return np.array([_counted(noise, histogram, cut) for histogram in histograms])

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
        wins = probabilities(np.append(racing, np.zeros(beyond)), noise.rounded("cut"))
        np.add.at(found, np.arange(wins.size) % classes, wins)
    else:
        votes, times = racing, np.ones(racing.size)
        if beyond:
            votes, times = np.append(racing, 0.0), np.append(times, beyond)
        wins = np.exp(np.asarray(log_probabilities(votes, noise, times)))
        found[: racing.size] = wins[: racing.size]
        np.add.at(found, np.arange(classes, counted) % classes, wins[-1])
    return found
