"""Noisy counts made whole numbers: unclaimed, otherwise than claimed, and as claimed."""

from typing import Any

import numpy as np

from .claims import mechanism
from .entry import Shelf

LAW = ("class-probabilities", "noise-scale", "permutation-equivariance")


def _claim(noise: str, name: str = "gnmax") -> dict[str, Any]:
    return mechanism(noise, name, classes=4, teachers=100)


FIVE, EXPONENTIAL = _claim("gaussian:5"), "report-noisy-max"
shelf = Shelf("rounding", LAW, FIVE)
correct = Shelf("none", (), FIVE)


def normal(rng: np.random.Generator, sigma: float, size: int, votes: np.ndarray) -> np.ndarray:
    return rng.normal(0, sigma, (size, votes.size))


@shelf.draws("counts-cut", "Noise added into an array of integers, which cuts the noisy counts.")
def counts_cut(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + normal(rng, 5, size, histogram)).astype(int).argmax(1)


@shelf.draws(
    "noise-cut-at-15", "Noise cut towards zero where sigma is 15.", claim=_claim("gaussian:15")
)
def noise_cut_at_15(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + normal(rng, 15, size, histogram).astype(int)).argmax(1)


@shelf.draws(
    "counts-rounded-at-2", "Noisy counts rounded where b is 2.", claim=_claim("laplace:2", "lnmax")
)
def counts_rounded_at_2(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.laplace(0, 2, (size, histogram.size))).round().argmax(1)


@shelf.draws(
    "floor-for-round",
    "Rounded down where rounding to the nearest is claimed.",
    claim=_claim("exponential:2;round", EXPONENTIAL),
)
def floor_for_round(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + np.floor(rng.exponential(2, (size, histogram.size)))).argmax(1)


@shelf.draws(
    "round-for-cut",
    "Rounded to the nearest where a cut is claimed.",
    claim=_claim("exponential:2;cut", EXPONENTIAL),
)
def round_for_cut(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.exponential(2, (size, histogram.size)).round()).argmax(1)


@shelf.draws(
    "ties-to-last",
    "Counts rounded as claimed, of which the last of equal ones wins.",
    claim=_claim("gaussian:5;round"),
)
def ties_to_last(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noisy = (histogram + normal(rng, 5, size, histogram)).round()
    return histogram.size - 1 - noisy[:, ::-1].argmax(1)


@shelf.draws(
    "counts-cut-for-noise",
    "The noisy counts cut where a cut of the noise alone is claimed.",
    claim=_claim("gaussian:5;cut-noise"),
)
def counts_cut_for_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return counts_cut(histogram, size, rng)


@correct.draws(
    "counts-cut-as-claimed",
    "Noise added into an array of integers, and claimed so.",
    claim=_claim("gaussian:5;cut"),
)
def counts_cut_as_claimed(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return counts_cut(histogram, size, rng)


@correct.draws(
    "noise-cut-as-claimed",
    "Laplace noise cut towards zero, and claimed so.",
    claim=_claim("laplace:2;cut-noise", "lnmax"),
)
def noise_cut_as_claimed(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.laplace(0, 2, (size, histogram.size)).astype(int)).argmax(1)


@correct.draws(
    "rounded-as-claimed",
    "Exponential noise rounded to the nearest, and claimed so.",
    claim=_claim("exponential:2;round", EXPONENTIAL),
)
def rounded_as_claimed(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return round_for_cut(histogram, size, rng)
