"""Generators that are seeded alike: for each histogram, each total, each call, or of few seeds."""

from typing import Any

import numpy as np

from .claims import GNMAX, SIGMA
from .entry import FRESH, Shelf

shelf = Shelf("seeds", FRESH, GNMAX)


def noisy(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)


def one_seed_for_each(key: Any) -> Any:
    """A generator for each value of `key(histogram)`, all of one seed."""

    class OneSeed:
        def __init__(self, seed: int) -> None:
            self.seed = seed
            self.generators: dict[Any, np.random.Generator] = {}

        def sample(self, histogram: np.ndarray, size: int) -> Any:
            rng = self.generators.setdefault(key(histogram), np.random.default_rng(self.seed))
            return noisy(histogram, size, rng)

    return OneSeed


shelf.makes(
    "one-seed-for-each-total", "Each total of votes has a generator of its own, all of one seed."
)(one_seed_for_each(lambda histogram: int(histogram.sum())))

shelf.makes(
    "one-seed-for-each-of-250-votes",
    "Each histogram of 250 votes has a generator, all of one seed; others share one.",
)(one_seed_for_each(lambda histogram: histogram.tobytes() if histogram.sum() == 250 else b""))


def few_seeds(count: int) -> Any:
    """Each call draws one of so many seeds."""

    def sample(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        return noisy(histogram, size, np.random.default_rng(rng.integers(count)))

    return sample


for bits in (13, 16):
    shelf.draws(f"{bits}-bit-seeds", f"Each call draws a seed of {bits} bits.")(
        few_seeds(1 << bits)
    )


@shelf.makes("seed-from-milliseconds", "The seed is the time in milliseconds; calls take 0.4 ms.")
class SeedFromMilliseconds:
    def __init__(self, seed: int) -> None:
        self.rng, self.now = np.random.default_rng(seed), 1000.0 * seed

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        self.now += self.rng.exponential(0.4)
        return noisy(histogram, size, np.random.default_rng(int(self.now)))


@shelf.draws("block-of-10000-tiled", "A call has at most 10,000 draws; beyond, they are repeated.")
def block_of_10000_tiled(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    block = rng.normal(0, SIGMA, (min(size, 10_000), histogram.size))
    return (histogram + np.resize(block, (size, histogram.size))).argmax(1)
