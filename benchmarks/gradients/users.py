"""People with many records each, made up: no data set at hand says whose handwriting is whose."""

from math import isqrt

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import affine_transform

from dpassay.reference.parallel.workers import stream

from .data import Floats, Records, Whole


def heterogeneous_users(
    users: int, each: int, features: int = 20, spread: float = 0.5, seed: int = 0
) -> Records:
    """Records of users who differ: normal features about a user's own mean, a label of two.

    spread: standard deviation of the means, where that of records is 1; 0 makes all users alike.
    A label is 1 with the probability expit(w x + u) for one w and a user's own u, normal with
    deviation `spread` too. The sensitive class is whether the user's first mean is above 0.
    """
    random = stream([seed, 40], 0)
    means = spread * random.standard_normal((users, features))
    own = np.repeat(np.arange(users), each)
    values = means[own] + random.standard_normal((len(own), features))
    weights = random.standard_normal(features) / np.sqrt(features)
    leanings = (spread * random.standard_normal(users))[own]
    chances = 1.0 / (1.0 + np.exp(-(values @ weights + leanings)))
    labels = (random.random(len(own)) < chances).astype(np.int64)
    high = (means[own, 0] > 0.0).astype(np.int64)
    return Records(values.astype(np.float32), labels, high, ("low", "high"), own)


def made_up_writers(
    images: Floats, labels: Whole, users: int, spread: float = 0.3, seed: int = 0
) -> Records:
    """Square images (n, d) dealt to so many writers, each with a slant, a size and a pressure.

    The writers are made up, the digits are not. spread: deviation of a writer's slant, of the
    logarithms of size (a third of it) and of pressure, an exponent of the ink, 0 to 1. The
    sensitive class is whether the writer slants to the right.
    """
    random = stream([seed, 41], 0)
    slants, sizes, pressures = spread * random.standard_normal((3, users))
    own = random.permutation(len(images)) % users
    side = isqrt(images.shape[1])
    written = np.empty(images.shape, dtype=np.float32)
    for i, image in enumerate(images):
        u = own[i]
        matrix = np.exp(sizes[u] / 3.0) * np.array([[1.0, 0.0], [slants[u], 1.0]])
        written[i] = _bent(image.reshape(side, side), matrix).reshape(-1)
    ink = written.clip(0.0, 1.0) ** np.exp(pressures[own])[:, None]
    right = (slants[own] > 0.0).astype(np.int64)
    return Records(ink.astype(np.float32), labels, right, ("left", "right"), own)


def _bent(image: Floats, matrix: NDArray[np.float64]) -> Floats:
    """The image about its middle."""
    middle = np.array(image.shape) / 2.0 - 0.5
    bent: Floats = affine_transform(image, matrix, middle - matrix @ middle, order=1)
    return bent
