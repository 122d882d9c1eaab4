"""Trains the embedded ensemble anew; needs scikit-learn (extra `test`)."""

import numpy as np
from numpy.typing import NDArray

from .ensemble import CLASSES, TEACHERS

_TESTED = 360
_SEED = 2017


def train_digit_histograms() -> NDArray[np.int64]:
    """Trains the teachers and tallies their votes, as `digit_histograms`; needs scikit-learn."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = digits.data.astype(np.int64)
    order = np.random.RandomState(_SEED).permutation(len(images))  # a stream frozen by numpy
    tested, trained = order[:_TESTED], order[_TESTED:]
    votes = np.zeros((_TESTED, CLASSES), dtype=np.int64)
    for teacher in range(TEACHERS):
        own = trained[teacher::TEACHERS]
        distance = np.square(images[tested][:, None] - images[own][None]).sum(-1)
        votes[np.arange(_TESTED), digits.target[own][distance.argmin(1)]] += 1
    return votes


if __name__ == "__main__":
    print(",".join(f"class_{label}" for label in range(CLASSES)))
    for row in train_digit_histograms():
        print(",".join(str(count) for count in row))
