"""Noise of another family, or of the claimed one cut, rounded or folded."""

from typing import Any

import numpy as np

from .claims import GNMAX, GUMBEL, LITTLE_NOISE, LNMAX, MANY_VOTES, SCALE, SIGMA
from .entry import LAW, Shelf

shelf = Shelf("families", LAW, GNMAX)


@shelf.draws("laplace-equal-variance", "Laplace noise of the claimed Gaussian's variance.")
def laplace_equal_variance(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.laplace(0, SIGMA / 2**0.5, (size, histogram.size))).argmax(1)


@shelf.draws("laplace-same-scale", "Laplace noise with the Gaussian's sigma for its scale.")
def laplace_same_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.laplace(0, SIGMA, (size, histogram.size))).argmax(1)


@shelf.draws(
    "gaussian-for-laplace",
    "Gaussian noise under an analysis of Laplace noise, at equal variance.",
    claim=LNMAX,
    source="opendp/smartnoise-sdk#204: Gaussian noise, a threshold for Laplace noise",
)
def gaussian_for_laplace(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SCALE * 2**0.5, (size, histogram.size))).argmax(1)


@shelf.draws("gumbel-equal-variance", "Gumbel noise of the claimed Gaussian's variance.")
def gumbel_equal_variance(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    scale = SIGMA * 6**0.5 / np.pi
    return (histogram + rng.gumbel(0, scale, (size, histogram.size))).argmax(1)


@shelf.draws(
    "permute-and-flip-for-gumbel",
    "Exponential noise, that is permute-and-flip, under the analysis of the exponential mechanism.",
    claim=GUMBEL,
    source="opendp/opendp#2911",
)
def permute_and_flip_for_gumbel(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.exponential(SCALE, (size, histogram.size))).argmax(1)


@shelf.draws("uniform-equal-variance", "Uniform noise of the claimed Gaussian's variance.")
def uniform_equal_variance(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    end = SIGMA * 3**0.5
    return (histogram + rng.uniform(-end, end, (size, histogram.size))).argmax(1)


@shelf.draws("student-equal-variance", "Student's t with 4 degrees of freedom, of equal variance.")
def student_equal_variance(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.standard_t(4, (size, histogram.size)) * SIGMA / 2**0.5
    return (histogram + noise).argmax(1)


@shelf.draws("clipped-at-2-sigma", "Draws beyond two standard deviations are set to the bound.")
def clipped_at_2_sigma(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA, (size, histogram.size)).clip(-2 * SIGMA, 2 * SIGMA)
    return (histogram + noise).argmax(1)


@shelf.draws("redrawn-beyond-2-sigma", "Draws beyond two standard deviations are drawn again.")
def redrawn_beyond_2_sigma(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA, (size, histogram.size))
    while (far := np.abs(noise) > 2 * SIGMA).any():
        noise[far] = rng.normal(0, SIGMA, far.sum())
    return (histogram + noise).argmax(1)


@shelf.draws("folded", "Noise that is never negative: its absolute value is added.")
def folded(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + np.abs(rng.normal(0, SIGMA, (size, histogram.size)))).argmax(1)


@shelf.draws(
    "rounded-ties-to-first",
    "Noise rounded to integers where sigma is 2: the ties it makes all go to the first class.",
    claim=LITTLE_NOISE,
    checks=(*LAW, "permutation-equivariance"),
)
def rounded_ties_to_first(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, 2, (size, histogram.size)).round()).argmax(1)


@shelf.draws(
    "cut-to-integers",
    "Noise cut towards zero where sigma is 2, as a cast to int does.",
    claim=LITTLE_NOISE,
    checks=(*LAW, "permutation-equivariance"),
)
def cut_to_integers(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, 2, (size, histogram.size)).astype(int)).argmax(1)


@shelf.draws(
    "eight-bit-mantissa",
    "Noisy counts as in bfloat16, whose ties at a thousand votes go to the first class.",
    claim=MANY_VOTES,
    checks=(*LAW, "permutation-equivariance"),
)
def eight_bit_mantissa(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    mantissa, exponent = np.frexp(histogram + rng.normal(0, 20, (size, histogram.size)))
    return np.ldexp((mantissa * 256).round(), exponent - 8).argmax(1)


@shelf.draws("overflowing-int8", "Noisy counts in eight bits, which wrap around above 127.")
def overflowing_int8(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noisy = histogram + rng.normal(0, SIGMA, (size, histogram.size)).round()
    return noisy.astype(np.int64).astype(np.int8).argmax(1)
