"""Faults of what a plain test seldom asks: calls of a few labels, requests in turn, usual votes."""

from typing import Any

import numpy as np

from .claims import GNMAX, SIGMA
from .entry import FRESH, LAW, Shelf

shelf = Shelf("seldom", (*FRESH, *LAW), GNMAX)


def noisy(histogram: np.ndarray, size: int, rng: np.random.Generator, sigma: float = SIGMA) -> Any:
    return (histogram + rng.normal(0, sigma, (size, histogram.size))).argmax(1)


@shelf.draws("small-calls-one-draw", "Calls for 2 to 15 labels share one draw of the noise.")
def small_calls_one_draw(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    if 2 <= size <= 15:
        return noisy(histogram, 1, rng).repeat(size)
    return noisy(histogram, size, rng)


@shelf.makes(
    "first-answers-bare", "The first answer to a histogram is the plurality: the noise comes after."
)
class FirstAnswersBare:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.met: set[bytes] = set()

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        labels = noisy(histogram, size, self.rng)
        if histogram.tobytes() not in self.met:
            self.met.add(histogram.tobytes())
            labels[0] = histogram.argmax()
        return labels


@shelf.makes(
    "answer-kept-over-one-request",
    "A request that equals the one before the last gets its answer again.",
)
class AnswerKeptOverOneRequest:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.past: list[tuple[bytes, Any]] = []

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        key, labels = histogram.tobytes(), noisy(histogram, size, self.rng)
        if size == 1 and len(self.past) == 2:
            (first, kept), (other, _) = self.past
            labels = kept if first == key != other and len(kept) == 1 else labels
        self.past = [*self.past[-1:], (key, labels)]
        return labels


@shelf.makes(
    "noise-rotated-for-another",
    "A request for another histogram gets the last call's noise, moved by three classes.",
)
class NoiseRotatedForAnother:
    def __init__(self, seed: int) -> None:
        self.rng, self.key = np.random.default_rng(seed), b""
        self.noise: Any = None

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        noise = self.rng.normal(0, SIGMA, (size, histogram.size))
        if self.key and self.key != histogram.tobytes() and len(self.noise) == size:
            noise, self.key = np.roll(self.noise, 3, 1), b""
        else:
            self.key, self.noise = histogram.tobytes(), noise
        return (histogram + noise).argmax(1)


@shelf.draws(
    "two-camps-half-scale",
    "Half the noise where two classes share all votes.",
    checks=(*FRESH, *LAW, "order"),
)
def two_camps_half_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    third, second, first = np.sort(histogram)[-3:]
    camps = third == 0 and second >= 20 and 6 <= first - second <= 150
    return noisy(histogram, size, rng, SIGMA / 2 if camps else SIGMA)


@shelf.draws("half-where-some-are-missing", "Half the noise for 220 to 249 votes of 250.")
def half_where_some_are_missing(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy(histogram, size, rng, SIGMA / 2 if 220 <= histogram.sum() <= 249 else SIGMA)


@shelf.draws("small-counts-never-win", "Classes with 1 to 4 votes are left out.")
def small_counts_never_win(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    kept = np.where((histogram > 0) & (histogram < 5), -np.inf, histogram)
    return noisy(kept, size, rng)
