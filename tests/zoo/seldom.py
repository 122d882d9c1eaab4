"""Faults of what a plain test seldom asks: calls of a few labels, requests in turn, usual votes."""

import numpy as np

from .claims import GNMAX, SIGMA
from .entry import FRESH, LAW, Shelf

shelf = Shelf("seldom", (*FRESH, *LAW), GNMAX)


def noisy(histogram, size, rng, sigma=SIGMA):
    return (histogram + rng.normal(0, sigma, (size, histogram.size))).argmax(1)


@shelf.draws("small-calls-one-draw", "Calls for 2 to 15 labels share one draw of the noise.")
def small_calls_one_draw(histogram, size, rng):
    if 2 <= size <= 15:
        return noisy(histogram, 1, rng).repeat(size)
    return noisy(histogram, size, rng)


@shelf.makes(
    "first-answers-bare", "The first answer to a histogram is the plurality: the noise comes after."
)
class FirstAnswersBare:
    def __init__(self, seed):
        self.rng, self.met = np.random.default_rng(seed), set()

    def sample(self, histogram, size):
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
    def __init__(self, seed):
        self.rng, self.past = np.random.default_rng(seed), []

    def sample(self, histogram, size):
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
    def __init__(self, seed):
        self.rng, self.key, self.noise = np.random.default_rng(seed), b"", None

    def sample(self, histogram, size):
        noise = self.rng.normal(0, SIGMA, (size, histogram.size))
        if self.key and self.key != histogram.tobytes() and len(self.noise) == size:
            noise, self.key = np.roll(self.noise, 3, 1), b""
        else:
            self.key, self.noise = histogram.tobytes(), noise
        return (histogram + noise).argmax(1)


@shelf.draws("two-camps-half-scale", "Half the noise where two classes share all votes.")
def two_camps_half_scale(histogram, size, rng):
    third, second, first = np.sort(histogram)[-3:]
    camps = third == 0 and second >= 20 and 6 <= first - second <= 150
    return noisy(histogram, size, rng, SIGMA / 2 if camps else SIGMA)


@shelf.draws("half-where-some-are-missing", "Half the noise for 220 to 249 votes of 250.")
def half_where_some_are_missing(histogram, size, rng):
    return noisy(histogram, size, rng, SIGMA / 2 if 220 <= histogram.sum() <= 249 else SIGMA)


@shelf.draws("small-counts-never-win", "Classes with 1 to 4 votes are left out.")
def small_counts_never_win(histogram, size, rng):
    kept = np.where((histogram > 0) & (histogram < 5), -np.inf, histogram)
    return noisy(kept, size, rng)
