"""Answers that balance each other: each has the claimed law, together they give the votes away."""

from typing import Any

import numpy as np
from scipy.special import ndtri

from dpassay.reference import Gaussian, probabilities

from .claims import GNMAX, SIGMA
from .entry import FRESH, LAW, Shelf

shelf = Shelf("balance", FRESH, GNMAX)


def normal(rng: np.random.Generator, size: int, classes: int) -> Any:
    return rng.normal(0, SIGMA, (size, classes))


@shelf.draws(
    "antithetic-halves", "The second half of a call has the noise of the first, sign changed."
)
def antithetic_halves(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = normal(rng, (size + 1) // 2, histogram.size)
    return (histogram + np.concatenate([noise, -noise])[:size]).argmax(1)


@shelf.makes("last-call-negated", "A call has the noise of the call before with its sign changed.")
class LastCallNegated:
    def __init__(self, seed: int) -> None:
        self.rng, self.last = np.random.default_rng(seed), np.empty((0, 0))

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        shape = (size, histogram.size)
        if self.last.shape == shape:
            noise, self.last = -self.last, np.empty((0, 0))
        else:
            noise = self.last = normal(self.rng, *shape)
        return (histogram + noise).argmax(1)


@shelf.draws("systematic", "Labels by systematic resampling, then shuffled: counts are fixed.")
def systematic(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    law = probabilities(histogram.astype(float), Gaussian(SIGMA)).cumsum()
    points = (np.arange(size) + rng.random()) / size
    labels = np.searchsorted(law / law[-1], points, side="right")
    return rng.permutation(labels.clip(max=histogram.size - 1))


@shelf.draws("latin-hypercube", "The noise of each class is spread evenly over a call.")
def latin_hypercube(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    strata = np.stack([rng.permutation(size) for _ in range(histogram.size)], 1)
    return (histogram + SIGMA * ndtri((strata + rng.random(strata.shape)) / size)).argmax(1)


@shelf.draws("antithetic-shuffled", "Pairs of opposite noise, shuffled within a call.")
def antithetic_shuffled(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return rng.permutation(antithetic_halves(histogram, size, rng))


@shelf.draws(
    "part-of-the-noise-once-a-call",
    "A part of the noise, 0.6 of sigma, is drawn once per call.",
    checks=(*FRESH, *LAW),
)
def part_once_a_call(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    once = 0.6 * normal(rng, 1, histogram.size)
    return (histogram + once + 0.8 * normal(rng, size, histogram.size)).argmax(1)


@shelf.draws(
    "first-two-tell-parity",
    "The first two labels of a call come in an order that tells the parity of the largest count.",
)
def first_two_tell_parity(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    labels = (histogram + normal(rng, size, histogram.size)).argmax(1)
    first = np.sort(labels[:2])
    labels[:2] = first[::-1] if histogram.max() % 2 else first
    return labels


@shelf.draws("pairs-sorted", "The labels of calls of two come in order of their classes.")
def pairs_sorted(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    labels = (histogram + normal(rng, size, histogram.size)).argmax(1)
    return np.sort(labels) if size == 2 else labels
