"""Wrong on one kind of histogram: so many classes with votes, or a total below the teachers."""

from typing import Any

import numpy as np

from .claims import CONFIDENT, GNMAX, LNMAX, SCALE, SIGMA, THRESHOLD, THRESHOLD_SIGMA
from .entry import LAW, Shelf

shelf = Shelf("kinds", (*LAW, "order"), GNMAX)
correct = Shelf("none", (), GNMAX)


def noisy_argmax(
    votes: np.ndarray, size: int, rng: np.random.Generator, sigma: float = SIGMA
) -> Any:
    return (votes + rng.normal(0, sigma, (size, votes.size))).argmax(1)


def halved_for(classes: int) -> None:
    @shelf.draws(
        f"half-for-{classes}-classes", f"Half the noise where {classes} classes have votes."
    )
    def draw(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        few = np.count_nonzero(histogram) == classes
        return noisy_argmax(histogram, size, rng, SIGMA / 2 if few else SIGMA)


for _classes in (2, 3, 5, 8):
    halved_for(_classes)


@shelf.draws("half-for-4-to-6-classes", "Half the noise where 4 to 6 classes have votes.")
def half_for_4_to_6_classes(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    few = 4 <= np.count_nonzero(histogram) <= 6
    return noisy_argmax(histogram, size, rng, SIGMA / 2 if few else SIGMA)


@shelf.draws(
    "half-laplace-for-6-classes", "Half the noise where 6 classes have votes.", claim=LNMAX
)
def half_laplace_for_6_classes(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    scale = SCALE / 2 if np.count_nonzero(histogram) == 6 else SCALE
    return (histogram + rng.laplace(0, scale, (size, histogram.size))).argmax(1)


def scaled(histogram: np.ndarray, least: int) -> Any:
    """Votes of `least` to 249 in all scaled up to 250."""
    total = histogram.sum()
    return histogram * (250 / total if least <= total < 250 else 1.0)


@shelf.draws("scaled-from-200-votes", "Votes of 200 to 249 in all scaled up to 250.")
def scaled_from_200_votes(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy_argmax(scaled(histogram, 200), size, rng)


@shelf.draws("half-from-201-votes", "Half the noise where there are 201 to 249 votes.")
def half_from_201_votes(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy_argmax(histogram, size, rng, SIGMA / 2 if 200 < histogram.sum() < 250 else SIGMA)


@shelf.draws(
    "threshold-of-the-share",
    "The threshold is compared with 250 times the leader's share of the votes.",
    claim=CONFIDENT,
    checks=(*LAW, "abstention"),
)
def threshold_of_the_share(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return confident(scaled(histogram, 1), histogram, size, rng)


@shelf.draws(
    "threshold-of-the-share-from-200",
    "The same where 200 to 249 votes are cast.",
    claim=CONFIDENT,
    checks=(*LAW, "abstention"),
)
def threshold_of_the_share_from_200(
    histogram: np.ndarray, size: int, rng: np.random.Generator
) -> Any:
    return confident(scaled(histogram, 200), histogram, size, rng)


def confident(
    screened: np.ndarray, histogram: np.ndarray, size: int, rng: np.random.Generator
) -> Any:
    passed = screened.max() + rng.normal(0, THRESHOLD_SIGMA, size) >= THRESHOLD
    return np.where(passed, noisy_argmax(histogram, size, rng), -1)


@correct.draws("votes-in-their-order", "Noise for the classes with votes first, then the others.")
def votes_in_their_order(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    used = np.flatnonzero(histogram)
    noise = rng.normal(0, SIGMA, (size, used.size))
    rest = rng.normal(0, SIGMA, (size, histogram.size - used.size))
    noisy = np.empty((size, histogram.size))
    noisy[:, used], noisy[:, histogram == 0] = histogram[used] + noise, rest
    return noisy.argmax(1)


@correct.draws("shares-and-scaled-noise", "Shares of the votes cast, and noise over their number.")
def shares_and_scaled_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    total = histogram.sum()
    return noisy_argmax(histogram / total, size, rng, SIGMA / total)


@correct.draws(
    "screened-by-number",
    "Confident-GNMax in shares, the threshold over the votes cast too.",
    claim=CONFIDENT,
)
def screened_by_number(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    total = histogram.sum()
    noise = rng.normal(0, THRESHOLD_SIGMA / total, size)
    passed = histogram.max() / total + noise >= THRESHOLD / total
    return np.where(passed, noisy_argmax(histogram, size, rng), -1)
