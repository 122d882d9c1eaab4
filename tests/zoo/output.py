"""The claimed noise, and another label than the winner's."""

from typing import Any

import numpy as np

from .claims import GNMAX, SIGMA
from .entry import FRESH, LAW, SYMMETRY, Shelf

shelf = Shelf("output", (*LAW, *SYMMETRY), GNMAX)


def noisy(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return histogram + rng.normal(0, SIGMA, (size, histogram.size))


@shelf.draws(
    "argmin",
    "The smallest noisy count wins.",
    source="opendp/opendp#2912: make_report_noisy_max_gumbel returns the noisy min",
)
def argmin(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy(histogram, size, rng).argmin(1)


@shelf.draws("second-largest", "An index off by one after sorting: the runner-up is released.")
def second_largest(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy(histogram, size, rng).argsort(1)[:, -2]


@shelf.draws("next-label", "Labels counted from 1 in one place and from 0 in another.")
def next_label(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (noisy(histogram, size, rng).argmax(1) + 1) % histogram.size


@shelf.draws("plurality-leaks", "With probability 0.05, the plurality without noise.")
def plurality_leaks(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    labels = noisy(histogram, size, rng).argmax(1)
    return np.where(rng.random(size) < 0.05, histogram.argmax(), labels)


@shelf.draws("uniform-leaks", "With probability 0.03, a class drawn uniformly.")
def uniform_leaks(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    labels = noisy(histogram, size, rng).argmax(1)
    return np.where(rng.random(size) < 0.03, rng.integers(histogram.size, size=size), labels)


@shelf.draws("top-two-swapped", "With probability 0.1, the runner-up is released for the winner.")
def top_two_swapped(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    ranked = noisy(histogram, size, rng).argsort(1)
    return np.where(rng.random(size) < 0.1, ranked[:, -2], ranked[:, -1])


@shelf.draws("best-of-two", "Each count gets the larger of two draws.")
def best_of_two(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return np.maximum(noisy(histogram, size, rng), noisy(histogram, size, rng)).argmax(1)


@shelf.draws("mode-of-three", "Three answers are drawn, and the first that repeats is released.")
def mode_of_three(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    first, second, third = (noisy(histogram, size, rng).argmax(1) for _ in range(3))
    return np.where(second == third, second, first)


@shelf.draws("redrawn-without-votes", "A winner without votes is drawn once more.")
def redrawn_without_votes(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    first, again = (noisy(histogram, size, rng).argmax(1) for _ in range(2))
    return np.where(histogram[first] > 0, first, again)


@shelf.draws("sorted-in-a-call", "The labels of a call come in order.", checks=FRESH)
def sorted_in_a_call(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return np.sort(noisy(histogram, size, rng).argmax(1))


@shelf.draws("never-twice-running", "An answer equal to the previous one is drawn once more.")
def never_twice_running(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    labels, again = (noisy(histogram, size, rng).argmax(1) for _ in range(2))
    same = np.flatnonzero(labels[1:] == labels[:-1]) + 1
    labels[same] = again[same]
    return labels


@shelf.draws(
    "without-duplicates",
    "The distinct labels of a call, repeated to the size asked for.",
    checks=(*FRESH, *LAW),
)
def without_duplicates(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return np.resize(np.unique(noisy(histogram, size, rng).argmax(1)), size)


@shelf.draws(
    "noisy-maximum-itself",
    "The largest noisy count is released in place of its class.",
    checks=("input-contract",),
    verdict="error",
)
def noisy_maximum_itself(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy(histogram, size, rng).max(1).round()


@shelf.draws(
    "refuses-without-a-threshold",
    "Winners without a majority are withheld, although no threshold is claimed.",
    checks=("input-contract",),
    verdict="error",
)
def refuses_without_a_threshold(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    counts = noisy(histogram, size, rng)
    return np.where(counts.max(1) > histogram.sum() / 2, counts.argmax(1), -1)
