"""Confident-GNMax with a faulty screening."""

from typing import Any

import numpy as np
from scipy.special import ndtr

from .claims import CONFIDENT, SIGMA, THRESHOLD, THRESHOLD_SIGMA
from .entry import LAW, Shelf

shelf = Shelf("screening", (*LAW, "abstention"), CONFIDENT)


def answers(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)


def screened(
    histogram: np.ndarray,
    size: int,
    rng: np.random.Generator,
    threshold: float = THRESHOLD,
    sigma: float = THRESHOLD_SIGMA,
) -> Any:
    """Whether each query is answered."""
    return histogram.max() + rng.normal(0, sigma, size) >= threshold


@shelf.draws("answers-all", "The screening is left out.")
def answers_all(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return answers(histogram, size, rng)


@shelf.draws("screens-without-noise", "The largest count itself is compared with the threshold.")
def screens_without_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return np.where(histogram.max() >= THRESHOLD, answers(histogram, size, rng), -1)


@shelf.draws("screens-with-half-the-noise", "Half the claimed noise in the screening.")
def screens_with_half_the_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    ok = screened(histogram, size, rng, sigma=THRESHOLD_SIGMA / 2)
    return np.where(ok, answers(histogram, size, rng), -1)


@shelf.draws("threshold-tenth-higher", "The threshold is ten per cent higher than claimed.")
def threshold_tenth_higher(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    ok = screened(histogram, size, rng, threshold=1.1 * THRESHOLD)
    return np.where(ok, answers(histogram, size, rng), -1)


@shelf.draws("scales-swapped", "The votes get the screening's noise, and the other way round.")
def scales_swapped(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    ok = screened(histogram, size, rng, sigma=SIGMA)
    noise = rng.normal(0, THRESHOLD_SIGMA, (size, histogram.size))
    return np.where(ok, (histogram + noise).argmax(1), -1)


@shelf.draws(
    "screens-with-votes-noise", "The leader's noise, scaled up, also serves the screening."
)
def screens_with_votes_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA, (size, histogram.size))
    shared = noise[:, histogram.argmax()] * THRESHOLD_SIGMA / SIGMA
    labels = (histogram + noise).argmax(1)
    return np.where(histogram.max() + shared >= THRESHOLD, labels, -1)


@shelf.draws("screens-the-winner", "The released class's noisy count is compared: no noise apart.")
def screens_the_winner(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    counts = histogram + rng.normal(0, SIGMA, (size, histogram.size))
    return np.where(counts.max(1) >= THRESHOLD, counts.argmax(1), -1)


@shelf.draws("screens-noisy-maximum", "Every class gets screening noise, and the largest counts.")
def screens_noisy_maximum(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    counts = histogram + rng.normal(0, THRESHOLD_SIGMA, (size, histogram.size))
    return np.where(counts.max(1) >= THRESHOLD, answers(histogram, size, rng), -1)


@shelf.draws("refuses-at-the-average-rate", "Refuses at random as often as 125 votes would be.")
def refuses_at_the_average_rate(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    rate = ndtr((THRESHOLD - 125) / THRESHOLD_SIGMA)
    return np.where(rng.random(size) < rate, -1, answers(histogram, size, rng))


@shelf.draws("plurality-when-answering", "What passes the screening is released without noise.")
def plurality_when_answering(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return np.where(screened(histogram, size, rng), histogram.argmax(), -1)


@shelf.draws("plurality-for-refusal", "Where the screening fails, the plurality is released.")
def plurality_for_refusal(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    ok = screened(histogram, size, rng)
    return np.where(ok, answers(histogram, size, rng), histogram.argmax())


@shelf.draws(
    "one-screening-a-call",
    "One draw decides for all queries of a call.",
    checks=(*LAW, "abstention", "fresh-noise"),
)
def one_screening_a_call(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return np.where(screened(histogram, 1, rng), answers(histogram, size, rng), -1)
