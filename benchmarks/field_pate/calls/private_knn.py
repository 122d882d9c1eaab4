"""Private_kNN, digit_pytorch/aggregation.py: `aggregation_knn`, with and without screening."""

from contextlib import redirect_stdout
from types import SimpleNamespace

import numpy as np
from imported import imported, stand_in, votes_of

stand_in("six")
stand_in("six.moves", xrange=range)
config = SimpleNamespace(nb_labels=10, confident=False)
stand_in("svhn_config", config=config)
aggregation = imported("jeremy43/Private_kNN", "digit_pytorch/aggregation.py")

AT_ONCE = 1000  # queries


def with_options(scale, screening=None, threshold=None):
    def some_labels(histogram, size):
        config.confident, config.gau_scale = screening is not None, scale
        config.sigma1, config.threshold = screening, threshold
        votes = np.tile(votes_of(histogram), (size, 1))
        with redirect_stdout(None):  # it prints at every call
            found = aggregation.aggregation_knn(votes, scale)
        if screening is None:
            return found[1]
        kept = np.full(size, -1)
        kept[found[0]] = found[1]
        return kept

    def labels(histogram, size):
        sizes = [min(AT_ONCE, size - done) for done in range(0, size, AT_ONCE)]
        return np.concatenate([some_labels(histogram, n) for n in sizes])

    return labels


gnmax = with_options(5)
svhn = with_options(5, 85, 210)
mnist = with_options(25, 75, 180)
