"""How often labels under noise are right."""

import numpy as np
from numpy.typing import NDArray

from dpassay.reference import Noise, NoisyArgmax
from dpassay.reference.ensembles.votes import Votes


def noisy_accuracy(votes: Votes, truths: NDArray[np.int64], noise: Noise) -> float:
    """The expected share of right labels when each query is answered by noisy argmax.

    Exact, from the laws of the labels, where Papernot et al. 2017, Figure 2, draw once.
    """
    counts = votes.histograms
    kinds, which = np.unique(counts, axis=0, return_inverse=True)
    laws = np.exp(NoisyArgmax(noise).log_probabilities(kinds))
    return float(laws[which.ravel(), truths].mean())
