"""Noise that is not fresh: reused, cached, replayed, pooled or correlated between answers.

Many of these leave the law of a single label as claimed.
"""

import hashlib
from itertools import pairwise
from typing import Any

import numpy as np

from .claims import GNMAX, SIGMA
from .entry import FRESH, LAW, SYMMETRY, Shelf

shelf = Shelf("reuse", (*FRESH, *LAW, *SYMMETRY), GNMAX)


def normal(rng: np.random.Generator, size: int, classes: int) -> Any:
    return rng.normal(0, SIGMA, (size, classes))


@shelf.makes(
    "one-seed-each-call",
    "Every call starts the generator from one seed, so that answers repeat from call to call.",
    source="DataResponsibly/DataSynthesizer#46: a default seed",
)
def one_seed_each_call(seed: int) -> Any:
    def sample(histogram: np.ndarray, size: int) -> Any:
        rng = np.random.default_rng(seed)
        return (histogram + normal(rng, size, histogram.size)).argmax(1)

    return sample


@shelf.makes(
    "seed-from-histogram", "The seed is a hash of the votes: a histogram's answers repeat."
)
def seed_from_histogram(seed: int) -> Any:
    def sample(histogram: np.ndarray, size: int) -> Any:
        digest = hashlib.sha256(bytes([seed % 256]) + histogram.tobytes()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        return (histogram + normal(rng, size, histogram.size)).argmax(1)

    return sample


@shelf.makes("seed-from-clock", "The seed is the time in seconds; a second sees four calls.")
class SeedFromClock:
    def __init__(self, seed: int) -> None:
        self.calls = 4 * seed

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        self.calls += 1
        rng = np.random.default_rng(self.calls // 4)
        return (histogram + normal(rng, size, histogram.size)).argmax(1)


@shelf.draws("eight-bit-seeds", "Every call draws one of 256 seeds.")
def eight_bit_seeds(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    fresh = np.random.default_rng(rng.integers(256))
    return (histogram + normal(fresh, size, histogram.size)).argmax(1)


@shelf.makes(
    "one-seed-for-every-histogram",
    "Each histogram has a generator of its own, all of one seed: neighbours get the same noise.",
)
class OneSeedForEveryHistogram:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.generators: dict[Any, np.random.Generator] = {}

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        rng = self.generators.setdefault(histogram.tobytes(), np.random.default_rng(self.seed))
        return (histogram + normal(rng, size, histogram.size)).argmax(1)


@shelf.makes(
    "forked-workers",
    "Two workers, forked from one process, answer in turn with the same noise.",
    source="opendp/opendp#2934: noise reused across forked processes",
)
class ForkedWorkers:
    def __init__(self, seed: int) -> None:
        self.workers = [np.random.default_rng(seed), np.random.default_rng(seed)]
        self.calls = 0

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        self.calls += 1
        rng = self.workers[self.calls % 2]
        return (histogram + normal(rng, size, histogram.size)).argmax(1)


@shelf.makes("noise-drawn-at-import", "The noise is drawn once, when the module is loaded.")
def noise_drawn_at_import(seed: int) -> Any:
    noise = np.random.default_rng(seed).normal(0, SIGMA, 1000)
    return lambda histogram, size: np.full(size, (histogram + noise[: histogram.size]).argmax())


@shelf.makes("frozen-per-histogram", "A histogram's first answer is cached, which is not claimed.")
class FrozenPerHistogram:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.answers: dict[Any, Any] = {}

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        fresh = int((histogram + normal(self.rng, 1, histogram.size)).argmax())
        return np.full(size, self.answers.setdefault(histogram.tobytes(), fresh))


@shelf.draws("one-noise-a-call", "All answers of a call share one draw of the noise.")
def one_noise_a_call(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return np.full(size, (histogram + normal(rng, 1, histogram.size)).argmax())


def pooled(vectors: int) -> Any:
    """So many vectors of noise, drawn at the start and used in turn for ever."""

    class Pooled:
        def __init__(self, seed: int) -> None:
            self.pool, self.at = np.random.default_rng(seed).normal(0, SIGMA, (vectors, 64)), 0

        def sample(self, histogram: np.ndarray, size: int) -> Any:
            turn = (self.at + np.arange(size)) % vectors
            self.at += size
            return (histogram + self.pool[turn, : histogram.size]).argmax(1)

    return Pooled


for count in (64, 1000, 10_000):
    shelf.makes(f"pool-of-{count}", f"{count:,} vectors of noise, used in turn again and again.")(
        pooled(count)
    )


@shelf.makes("batch-kept", "The noise of a call is kept, and the next call begins with it again.")
class BatchKept:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.kept: dict[Any, Any] = {}

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        kept = self.kept.get(histogram.size, np.empty((0, histogram.size)))
        more = normal(self.rng, max(0, size - len(kept)), histogram.size)
        self.kept[histogram.size] = kept = np.concatenate([kept, more])
        return (histogram + kept[:size]).argmax(1)


@shelf.draws("block-of-100-tiled", "A call has at most 100 draws; beyond, they are repeated.")
def block_of_100_tiled(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    block = normal(rng, min(size, 100), histogram.size)
    return (histogram + np.resize(block, (size, histogram.size))).argmax(1)


@shelf.draws("each-noise-twice", "Two successive answers share one draw.")
def each_noise_twice(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = normal(rng, (size + 1) // 2, histogram.size).repeat(2, 0)[:size]
    return (histogram + noise).argmax(1)


@shelf.draws("antithetic", "Every second answer has its predecessor's noise with the sign changed.")
def antithetic(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = normal(rng, (size + 1) // 2, histogram.size).repeat(2, 0)[:size]
    noise[1::2] *= -1
    return (histogram + noise).argmax(1)


@shelf.makes("every-512th-repeats", "Every 512th answer of the deployment repeats the previous.")
class Every512thRepeats:
    def __init__(self, seed: int) -> None:
        self.rng, self.asked, self.last = np.random.default_rng(seed), 0, 0

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        labels = (histogram + normal(self.rng, size, histogram.size)).argmax(1)
        turns = self.asked + np.arange(size)
        again = np.flatnonzero((turns % 512 == 511) & (turns > self.asked))
        labels[again] = labels[again - 1]
        self.asked += size
        return labels


@shelf.draws("half-repeat", "With probability one half, an answer repeats the previous one.")
def half_repeat(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    labels = (histogram + normal(rng, size, histogram.size)).argmax(1)
    source = np.where(rng.random(size) < 0.5, 0, np.arange(size))
    return labels[np.maximum.accumulate(source)]


@shelf.draws("autocorrelated", "Noise follows an AR(1) process with coefficient 0.8 in a call.")
def autocorrelated(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    fresh, noise = normal(rng, size, histogram.size), np.empty((size, histogram.size))
    noise[:1] = fresh[:1]
    for before, now in pairwise(range(size)):
        noise[now] = 0.8 * noise[before] + 0.6 * fresh[now]
    return (histogram + noise).argmax(1)


@shelf.draws(
    "noise-accumulates",
    "Noise is added to counts that carry the noise of the call's earlier answers.",
    source="opendp/smartnoise-sdk#81: noise on top of previously noisy data",
)
def noise_accumulates(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + normal(rng, size, histogram.size).cumsum(0)).argmax(1)


@shelf.makes("every-other-call", "Every other call adds no noise.")
class EveryOtherCall:
    def __init__(self, seed: int) -> None:
        self.rng, self.calls = np.random.default_rng(seed), seed

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        self.calls += 1
        noise = normal(self.rng, size, histogram.size) * (self.calls % 2)
        return (histogram + noise).argmax(1)
