"""Two streams of numbers that begin alike, for two noises or for calls in turn."""

from typing import Any

import numpy as np

from .claims import CONFIDENT, GNMAX, SIGMA, THRESHOLD, THRESHOLD_SIGMA
from .entry import FRESH, Shelf

shelf = Shelf("streams", FRESH, CONFIDENT)


class Screened:
    """Confident-GNMax with a generator for each of its two noises."""

    every = True  # whether votes get noise where the query is refused

    def __init__(self, seed: int) -> None:
        self.screening, self.voting = self.generators(seed)

    def generators(self, seed: int) -> tuple[np.random.Generator, np.random.Generator]:
        return np.random.default_rng(seed), np.random.default_rng(seed)

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        noise = self.screening.normal(0, THRESHOLD_SIGMA, size)
        answered = histogram.max() + noise >= THRESHOLD
        labels = np.full(size, -1)
        drawn = size if self.every else int(answered.sum())
        votes = histogram + self.voting.normal(0, SIGMA, (drawn, histogram.size))
        labels[answered] = votes.argmax(1)[answered if self.every else slice(None)]
        return labels


@shelf.makes("one-seed-for-two-noises", "The screening and the votes have generators of one seed.")
class OneSeedForTwoNoises(Screened):
    pass


@shelf.makes(
    "one-seed-votes-if-answered", "The same, where refused queries draw no noise for their votes."
)
class OneSeedVotesIfAnswered(Screened):
    every = False


@shelf.makes("one-seed-five-ahead", "The same, with five draws of the screening's taken before.")
class OneSeedFiveAhead(Screened):
    def generators(self, seed: int) -> tuple[np.random.Generator, np.random.Generator]:
        screening, voting = super().generators(seed)
        screening.normal(size=5)
        return screening, voting


@shelf.makes(
    "one-draw-overlaps",
    "The last class's noise is the first class's in the next query.",
    claim=GNMAX,
)
class OneDrawOverlaps:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.last = self.rng.normal()

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        step = histogram.size - 1
        draws = np.concatenate([[self.last], self.rng.normal(size=size * step)])
        self.last = draws[-1]
        rows = np.arange(size)[:, None] * step + np.arange(histogram.size)
        return (histogram + SIGMA * draws[rows]).argmax(1)


@shelf.makes(
    "two-of-one-seed-in-turn",
    "Calls are answered by two generators in turn, of one seed.",
    claim=GNMAX,
)
class TwoOfOneSeedInTurn:
    def __init__(self, seed: int) -> None:
        self.generators = [np.random.default_rng(seed) for _ in range(2)]

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        self.generators.reverse()
        noise = self.generators[0].normal(0, SIGMA, (size, histogram.size))
        return (histogram + noise).argmax(1)


correct = Shelf("none", (), CONFIDENT)


@correct.makes("spawned-for-two-noises", "Two generators, spawned of one seed sequence.")
class SpawnedForTwoNoises(Screened):
    def generators(self, seed: int) -> tuple[np.random.Generator, np.random.Generator]:
        screening, voting = np.random.SeedSequence(seed).spawn(2)
        return np.random.default_rng(screening), np.random.default_rng(voting)


@correct.makes("two-generators-for-each-call", "Each call makes two generators, of new entropy.")
class TwoGeneratorsForEachCall(Screened):
    def generators(self, seed: int) -> tuple[np.random.Generator, np.random.Generator]:
        self.source = np.random.SeedSequence(seed)
        return np.random.default_rng(self.source), np.random.default_rng(self.source)

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        one, other = self.source.spawn(2)
        self.screening, self.voting = np.random.default_rng(one), np.random.default_rng(other)
        return super().sample(histogram, size)
