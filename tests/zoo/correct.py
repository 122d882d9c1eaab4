"""Correct relatives: the claimed law, reached in ways that a careless test takes for faults."""

import random
from typing import Any

import numpy as np
import scipy.stats
from randomgen import ChaCha
from scipy.special import ndtri

from dpassay.reference import Gaussian, log_probabilities

from .claims import CACHING, FEW_CLASSES, GNMAX, MANY_CLASSES, SIGMA
from .entry import Shelf

shelf = Shelf("none", (), GNMAX)


@shelf.draws("plain", "Fresh Gaussian noise and argmax.")
def plain(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)


@shelf.draws("plain-many-classes", "The same with fourteen classes.", claim=MANY_CLASSES)
def plain_many_classes(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)


@shelf.draws("float32-noise", "Noise and counts in single precision, whose ties are rare.")
def float32_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.standard_normal((size, histogram.size), dtype=np.float32) * np.float32(SIGMA)
    return (histogram.astype(np.float32) + noise).argmax(1)


@shelf.draws("box-muller", "Gaussians from pairs of uniforms.")
def box_muller(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    radius = np.sqrt(-2 * np.log1p(-rng.random((size, histogram.size))))
    noise = radius * np.cos(2 * np.pi * rng.random((size, histogram.size)))
    return (histogram + SIGMA * noise).argmax(1)


@shelf.draws("inverse-cdf-noise", "Gaussians by the inverse of their cdf.")
def inverse_cdf_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    uniform = 1 - rng.random((size, histogram.size))
    return (histogram + SIGMA * ndtri(uniform)).argmax(1)


@shelf.makes("scipy-noise", "Gaussians by scipy.stats.")
def scipy_noise(seed: int) -> Any:
    rng = np.random.default_rng(seed)

    def sample(histogram: np.ndarray, size: int) -> Any:
        shape = (size, histogram.size)
        return (histogram + scipy.stats.norm.rvs(0, SIGMA, shape, random_state=rng)).argmax(1)

    return sample


@shelf.makes("chacha", "A cryptographic generator.")
def chacha(seed: int) -> Any:
    rng = np.random.Generator(ChaCha(seed, rounds=20))
    return lambda histogram, size: plain(histogram, size, rng)


@shelf.makes("global-numpy-random", "Numpy's global generator.")
def global_numpy_random(seed: int) -> Any:
    np.random.seed(seed)  # noqa: NPY002 - the point of this one

    def sample(histogram: np.ndarray, size: int) -> Any:
        noise = np.random.normal(0, SIGMA, (size, histogram.size))  # noqa: NPY002
        return (histogram + noise).argmax(1)

    return sample


@shelf.makes("global-random-module", "The standard library's generator.", claim=FEW_CLASSES)
def global_random_module(seed: int) -> Any:
    random.seed(seed)

    def sample(histogram: np.ndarray, size: int) -> Any:
        votes = histogram.tolist()
        noisy = ([v + random.gauss(0, SIGMA) for v in votes] for _ in range(size))
        return [max(range(len(votes)), key=row.__getitem__) for row in noisy]

    return sample


@shelf.makes("generator-for-each-call", "Each call spawns a generator of its own, of its own seed.")
def generator_for_each_call(seed: int) -> Any:
    source = np.random.SeedSequence(seed)

    def sample(histogram: np.ndarray, size: int) -> Any:
        return plain(histogram, size, np.random.default_rng(source.spawn(1)[0]))

    return sample


@shelf.makes("workers-in-turn", "Two workers answer in turn, each with a seed of its own.")
class WorkersInTurn:
    def __init__(self, seed: int) -> None:
        seeds = np.random.SeedSequence(seed).spawn(2)
        self.workers, self.calls = [np.random.default_rng(s) for s in seeds], 0

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        self.calls += 1
        return plain(histogram, size, self.workers[self.calls % 2])


@shelf.makes("reseeded-in-between", "A new seed from the system every 1,000 answers or so.")
class ReseededInBetween:
    def __init__(self, seed: int) -> None:
        self.source, self.left = np.random.SeedSequence(seed), 0

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        if self.left <= 0:
            self.rng, self.left = np.random.default_rng(self.source.spawn(1)[0]), 1000
        self.left -= size
        return plain(histogram, size, self.rng)


@shelf.makes("noise-drawn-ahead", "Noise is drawn ahead, 5,000 vectors at a time, each used once.")
class NoiseDrawnAhead:
    def __init__(self, seed: int) -> None:
        self.rng, self.ahead = np.random.default_rng(seed), np.empty((0, 64))

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        while len(self.ahead) < size:
            self.ahead = np.concatenate([self.ahead, self.rng.normal(0, SIGMA, (5000, 64))])
        noise, self.ahead = self.ahead[:size, : histogram.size], self.ahead[size:]
        return (histogram + noise).argmax(1)


@shelf.draws("shuffled-in-a-call", "Threads return the labels of a call in any order.")
def shuffled_in_a_call(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return rng.permutation(plain(histogram, size, rng))


@shelf.draws("counts-then-shuffled", "The labels' counts are drawn first, their order afterwards.")
def counts_then_shuffled(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    law = np.exp(log_probabilities(histogram.astype(float), Gaussian(SIGMA)))
    counts = rng.multinomial(size, law / law.sum())
    return rng.permutation(np.repeat(np.arange(histogram.size), counts))


@shelf.draws("rounded-ties-at-random", "Noise rounded to integers; ties are settled at random.")
def rounded_ties_at_random(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noisy = histogram + rng.normal(0, SIGMA, (size, histogram.size)).round()
    return (noisy + rng.random(noisy.shape)).argmax(1)


@shelf.draws("discrete-gaussian", "The discrete Gaussian by a table; ties are settled at random.")
def discrete_gaussian(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    support = np.arange(-400, 401)
    mass = np.exp(-0.5 * (support / SIGMA) ** 2).cumsum()
    drawn = np.searchsorted(mass / mass[-1], rng.random((size, histogram.size)), side="right")
    noisy = histogram + support[drawn.clip(max=800)]
    return (noisy + rng.random(noisy.shape)).argmax(1)


@shelf.draws("ten-servers", "Ten servers each add a tenth of the variance.", claim=FEW_CLASSES)
def ten_servers(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA / 10**0.5, (10, size, histogram.size)).sum(0)
    return (histogram + noise).argmax(1)


@shelf.draws("common-offset", "A random offset common to all classes, which changes no winner.")
def common_offset(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA, (size, histogram.size)) + rng.normal(0, 1000, (size, 1))
    return (histogram + noise).argmax(1)


@shelf.draws("noise-subtracted", "The noise is subtracted: it is symmetric.")
def noise_subtracted(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram - rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)


@shelf.draws("inverse-cdf-of-labels", "Labels from their exact probabilities, without any noise.")
def inverse_cdf_of_labels(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    law = np.exp(log_probabilities(histogram.astype(float), Gaussian(SIGMA))).cumsum()
    return np.searchsorted(law / law[-1], rng.random(size), side="right")


@shelf.draws("in-chunks", "Answers are computed eleven at a time.", claim=FEW_CLASSES)
def in_chunks(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    parts = [plain(histogram, min(11, size - at), rng) for at in range(0, size, 11)]
    return np.concatenate(parts)


@shelf.makes("single-calls-of-their-own", "Calls for one label take a path of their own.")
class SingleCallsOfTheirOwn:
    def __init__(self, seed: int) -> None:
        self.rng, self.spare = np.random.default_rng(seed), random.Random(seed)

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        if size > 1:
            return plain(histogram, size, self.rng)
        noisy = [votes + self.spare.gauss(0, SIGMA) for votes in histogram.tolist()]
        return [max(range(len(noisy)), key=noisy.__getitem__)]


@shelf.makes("generator-for-each-histogram", "Each histogram has a generator, of its own seed.")
class GeneratorForEachHistogram:
    def __init__(self, seed: int) -> None:
        self.source = np.random.SeedSequence(seed)
        self.generators: dict[Any, np.random.Generator] = {}

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        key = histogram.tobytes()
        if key not in self.generators:
            self.generators[key] = np.random.default_rng(self.source.spawn(1)[0])
        return plain(histogram, size, self.generators[key])


@shelf.makes("workers-at-random", "One of eight workers answers, each with a seed of its own.")
class WorkersAtRandom:
    def __init__(self, seed: int) -> None:
        source = np.random.SeedSequence(seed)
        self.pick, *self.workers = [np.random.default_rng(s) for s in source.spawn(9)]

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        return plain(histogram, size, self.workers[self.pick.integers(8)])


@shelf.draws("lists", "Labels come as a list.")
def lists(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return plain(histogram, size, rng).tolist()


@shelf.draws("bytes", "Labels come as unsigned bytes.")
def unsigned_bytes(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return plain(histogram, size, rng).astype(np.uint8)


@shelf.draws("one-total", "Serves the claimed number of teachers alone.")
def one_total(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    if histogram.sum() != 250:
        raise ValueError(f"{histogram.sum()} votes: expected 250")
    return plain(histogram, size, rng)


@shelf.makes(
    "caches-and-says-so",
    "A repeated histogram repeats its label, as claimed.",
    claim=CACHING,
)
class CachesAndSaysSo:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.answers: dict[Any, Any] = {}

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        key = histogram.tobytes()
        if key not in self.answers:
            self.answers[key] = int(plain(histogram, 1, self.rng)[0])
        return np.full(size, self.answers[key])
