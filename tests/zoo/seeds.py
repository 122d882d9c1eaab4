"""Generators that are seeded alike: for each histogram, each total, each call, or of few seeds."""

import numpy as np

from .claims import GNMAX, SIGMA
from .entry import FRESH, Shelf

shelf = Shelf("seeds", FRESH, GNMAX)


def noisy(histogram, size, rng):
    return (histogram + rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)


def one_seed_for_each(key):
    """A generator for each value of `key(histogram)`, all of one seed."""

    class OneSeed:
        def __init__(self, seed):
            self.seed, self.generators = seed, {}

        def sample(self, histogram, size):
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


def few_seeds(count):
    """Each call draws one of so many seeds."""

    def sample(histogram, size, rng):
        return noisy(histogram, size, np.random.default_rng(rng.integers(count)))

    return sample


for bits in (13, 16):
    shelf.draws(f"{bits}-bit-seeds", f"Each call draws a seed of {bits} bits.")(
        few_seeds(1 << bits)
    )


@shelf.makes("seed-from-milliseconds", "The seed is the time in milliseconds; calls take 0.4 ms.")
class SeedFromMilliseconds:
    def __init__(self, seed):
        self.rng, self.now = np.random.default_rng(seed), 1000.0 * seed

    def sample(self, histogram, size):
        self.now += self.rng.exponential(0.4)
        return noisy(histogram, size, np.random.default_rng(int(self.now)))


@shelf.draws("block-of-10000-tiled", "A call has at most 10,000 draws; beyond, they are repeated.")
def block_of_10000_tiled(histogram, size, rng):
    block = rng.normal(0, SIGMA, (min(size, 10_000), histogram.size))
    return (histogram + np.resize(block, (size, histogram.size))).argmax(1)
