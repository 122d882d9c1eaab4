"""Noise that is left out in some calls only: for one label, or where a leader is far ahead."""

from typing import Any

import numpy as np

from .claims import GNMAX, SIGMA
from .entry import FRESH, LAW, Shelf

shelf = Shelf("shortcuts", (*LAW, *FRESH), GNMAX)


def noisy(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)


def lead(histogram: np.ndarray) -> Any:
    second, first = np.sort(histogram)[-2:]
    return first - second


def bare_beyond(votes: int, single: bool = False) -> Any:
    """No noise where the leader is further ahead, in all calls or in those for one label."""

    def sample(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        if lead(histogram) > votes and (size == 1 or not single):
            return np.full(size, histogram.argmax())
        return noisy(histogram, size, rng)

    return sample


for votes in (20, 80):
    shelf.draws(
        f"single-bare-beyond-{votes}",
        f"A call for one label adds no noise where the lead exceeds {votes} votes.",
    )(bare_beyond(votes, single=True))

for votes in (160, 200):
    shelf.draws(
        f"bare-beyond-{votes}",
        f"No noise where the leader is more than {votes} votes ahead: {votes // 40} sigma.",
    )(bare_beyond(votes))


@shelf.makes(
    "single-pool-of-1000",
    "Calls for one label take their noise from a pool of 1,000 vectors, in turn.",
    checks=FRESH,
)
class SinglePool:
    def __init__(self, seed: int) -> None:
        self.rng, self.at = np.random.default_rng(seed), 0
        self.pool = self.rng.normal(0, SIGMA, (1000, 64))

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        if size > 1:
            return noisy(histogram, size, self.rng)
        noise = self.pool[self.at % 1000, : histogram.size]
        self.at += 1
        return np.array([(histogram + noise).argmax()])


def favours(votes: int) -> Any:
    """Class 0 has so many votes more than were cast for it."""

    def sample(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        return noisy(histogram + votes * (np.arange(histogram.size) == 0), size, rng)

    return sample


shelf.draws("class-0-four-votes-more", "Four votes, a tenth of sigma, are added to class 0.")(
    favours(4)
)
shelf.draws("class-0-six-votes-fewer", "Six votes are taken from class 0.")(favours(-6))


@shelf.draws("last-class-wins-near-ties", "The last class wins where it is within 8 votes.")
def last_class_wins_near_ties(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    scores = histogram + rng.normal(0, SIGMA, (size, histogram.size))
    return np.where(scores.max(1) - scores[:, -1] < 8, histogram.size - 1, scores.argmax(1))
