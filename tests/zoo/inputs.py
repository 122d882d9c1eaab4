"""Wrong on some inputs only."""

from typing import Any

import numpy as np

from .claims import FEW_VOTES, GNMAX, MUCH_NOISE, SIGMA
from .entry import LAW, SYMMETRY, Shelf

shelf = Shelf("inputs", (*LAW, *SYMMETRY), GNMAX)


def noisy_argmax(
    histogram: np.ndarray, size: int, rng: np.random.Generator, sigma: float = SIGMA
) -> Any:
    return (histogram + rng.normal(0, sigma, (size, histogram.size))).argmax(1)


def gap(histogram: np.ndarray) -> Any:
    """Between the two largest counts."""
    second, first = np.sort(histogram)[-2:]
    return first - second


@shelf.draws(
    "high-consensus-shortcut", "Above nine tenths of consensus, no noise.", claim=MUCH_NOISE
)
def high_consensus_shortcut(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    if histogram.max() > 0.9 * histogram.sum():
        return np.full(size, histogram.argmax())
    return noisy_argmax(histogram, size, rng, sigma=100)


@shelf.draws("clear-lead-shortcut", "Where the lead is more than two sigma, no noise.")
def clear_lead_shortcut(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    if gap(histogram) > 2 * SIGMA:
        return np.full(size, histogram.argmax())
    return noisy_argmax(histogram, size, rng)


@shelf.draws("tied-votes-to-first", "Where the raw votes tie, the first of the leaders.")
def tied_votes_to_first(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    if gap(histogram) == 0:
        return np.full(size, histogram.argmax())
    return noisy_argmax(histogram, size, rng)


@shelf.draws("noise-breaks-ties-alone", "Noise only among classes that tie for the most votes.")
def noise_breaks_ties_alone(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    leads = histogram == histogram.max()
    noise = rng.normal(0, SIGMA, (size, histogram.size))
    return np.where(leads, noise, -np.inf).argmax(1)


@shelf.draws("near-tie-coin", "A lead within four votes is settled by a fair coin between the two.")
def near_tie_coin(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    if gap(histogram) > 4:
        return noisy_argmax(histogram, size, rng)
    return rng.choice(np.argsort(-histogram, kind="stable")[:2], size)


@shelf.draws("class-seven-leads", "Where class 7 leads, no noise: a case left over from a test.")
def class_seven_leads(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    if histogram.argmax() == 7:
        return np.full(size, 7)
    return noisy_argmax(histogram, size, rng)


@shelf.draws(
    "noise-falls-with-consensus", "Less noise where teachers agree: sigma (1 - consensus)."
)
def noise_falls_with_consensus(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    agree = histogram.max() / histogram.sum()
    return noisy_argmax(histogram, size, rng, sigma=SIGMA * (1 - agree) + 1e-9)


@shelf.draws("noise-grows-with-consensus", "Sigma times the leader's share of the votes.")
def noise_grows_with_consensus(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy_argmax(histogram, size, rng, sigma=SIGMA * histogram.max() / histogram.sum())


@shelf.draws("multiplicative", "Noise in proportion to each count, so that empty classes get none.")
def multiplicative(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA / 125, (size, histogram.size))
    return (histogram * (1 + noise)).argmax(1)


@shelf.draws("shares-of-250", "Votes as shares of their total, times 250: right for 250 votes.")
def shares_of_250(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy_argmax(250 * histogram / histogram.sum(), size, rng)


@shelf.draws("noise-with-root-of-total", "Sigma grows with the root of the votes cast.")
def noise_with_root_of_total(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy_argmax(histogram, size, rng, sigma=SIGMA * (histogram.sum() / 250) ** 0.5)


@shelf.draws("other-totals-half-scale", "Half the noise wherever the votes are not 250.")
def other_totals_half_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    sigma = SIGMA if histogram.sum() == 250 else SIGMA / 2
    return noisy_argmax(histogram, size, rng, sigma)


@shelf.draws("few-votes-no-noise", "Below 125 votes, no noise.", checks=(*LAW, *SYMMETRY, "order"))
def few_votes_no_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    if histogram.sum() < 125:
        return np.full(size, histogram.argmax())
    return noisy_argmax(histogram, size, rng)


@shelf.draws("counts-wrap-at-256", "Counts kept in a byte wrap around: right up to 255 votes.")
def counts_wrap_at_256(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy_argmax(histogram % 256, size, rng)


@shelf.draws("counts-saturate-at-255", "Counts kept in a byte stay at 255: right up to 255 votes.")
def counts_saturate_at_255(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return noisy_argmax(histogram.clip(max=255), size, rng)


@shelf.draws(
    "negative-counts-clamped",
    "Noisy counts below zero are set to zero; where all are, the first class wins.",
    claim=FEW_VOTES,
)
def negative_counts_clamped(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noisy = histogram + rng.normal(0, SIGMA, (size, histogram.size))
    return noisy.clip(min=0).argmax(1)
