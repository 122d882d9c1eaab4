"""The encoder: two private images, public ones, random weights, random signs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.float32]
Whole = NDArray[np.int64]

LARGEST_WEIGHT = 0.65
"""Huang et al. 2020, section 5.1: no image has more than this weight."""

PRIVATE = 2
"""Private images in every encoding; the others are public."""


@dataclass(frozen=True)
class Encodings:
    """What is released, and what was mixed, which the attack must not read (`pairs`).

    images: (n, d), every sign random; weights: (n, 2) of the private images and classes: (n, 2)
    theirs, which the mixed label shows; pairs: (n, 2), which private images.
    """

    images: Images
    weights: Images
    classes: Whole
    pairs: Whole


def normalised(images: NDArray[np.floating]) -> Images:
    """Images (n, d), each with mean 0 and standard deviation 1, as they enter the encoder.

    Raises ValueError for an image whose pixels are all alike.
    """
    centred = images - images.mean(1, keepdims=True)
    flat = np.flatnonzero(centred.std(1) == 0.0)
    if flat.size:
        raise ValueError(f"image {flat[0]}: its pixels are all alike")
    return np.asarray(centred / centred.std(1, keepdims=True), dtype=np.float32)


def encode(
    private: Images, classes: Whole, public: Images | None, number: int, random: np.random.Generator
) -> Encodings:
    """`number` InstaHide encodings of private images (m, d) with classes (m,).

    public: images (p, d), of which two are mixed into each encoding (k = 4, "cross-dataset"); with
    None only two private ones are mixed (k = 2). Weights are uniform on the simplex up to 0.65.
    Raises ValueError for fewer than two images of either.
    """
    for name, some in (("private", private), ("public", public)):
        if some is not None and len(some) < PRIVATE:
            raise ValueError(f"{len(some)} {name} images: expected {PRIVATE} or more")
    weights = _weights(number, PRIVATE if public is None else 2 * PRIVATE, random)
    pairs = _two_of(len(private), number, random)
    mixed = _mixed(private, pairs, weights[:, :PRIVATE])
    if public is not None:
        mixed += _mixed(public, _two_of(len(public), number, random), weights[:, PRIVATE:])
    mixed *= random.choice(np.array([-1.0, 1.0], dtype=np.float32), mixed.shape)
    return Encodings(mixed, weights[:, :PRIVATE], classes[pairs], pairs)


def _weights(number: int, images: int, random: np.random.Generator) -> Images:
    kept = np.empty((0, images))
    while len(kept) < number:
        drawn = random.dirichlet(np.ones(images), 4 * number)
        kept = np.concatenate([kept, drawn[drawn.max(1) <= LARGEST_WEIGHT]])
    return kept[:number].astype(np.float32)


def _two_of(images: int, number: int, random: np.random.Generator) -> Whole:
    """Two different images (number, 2) for each encoding."""
    first = random.integers(0, images, number)
    second = (first + random.integers(1, images, number)) % images
    return np.stack([first, second], -1)


def _mixed(images: Images, pairs: Whole, weights: Images) -> Images:
    return np.asarray(weights[:, :1] * images[pairs[:, 0]] + weights[:, 1:] * images[pairs[:, 1]])
