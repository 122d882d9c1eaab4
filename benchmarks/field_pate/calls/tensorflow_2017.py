"""tensorflow/privacy, research/pate_2017: `noisy_max`, and the moments of `analysis.py`."""

import numpy as np
from charged import by_moments
from imported import WithAccountant, imported, stand_in, votes_of

stand_in("six", "tensorflow", "tensorflow.compat", "tensorflow.compat.v1", "maybe_download")
stand_in("six.moves", xrange=range)

aggregation = imported("tensorflow/privacy", "research/pate_2017/aggregation.py")
analysis = imported("tensorflow/privacy", "research/pate_2017/analysis.py")

AT_ONCE = 1000  # samples; logits are (teachers, samples, classes)


def labels(histogram, size):
    logits = np.eye(len(histogram), dtype=np.int8)[votes_of(histogram)][:, None]
    sizes = [min(AT_ONCE, size - done) for done in range(0, size, AT_ONCE)]
    every = [np.broadcast_to(logits, (len(logits), n, len(histogram))) for n in sizes]
    return np.concatenate([aggregation.noisy_max(some, 20) for some in every])


at_scale = WithAccountant(labels, by_moments(analysis, 1 / 20))
at_default = WithAccountant(labels, by_moments(analysis, 0.1))
