"""Noise of the claimed family at another scale."""

from typing import Any

import numpy as np

from .claims import GNMAX, LNMAX, SCALE, SIGMA
from .entry import LAW, Shelf

shelf = Shelf("scale", LAW, GNMAX)


@shelf.draws("no-noise", "The plurality itself, as when a switch for debugging was left on.")
def no_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return np.full(size, histogram.argmax())


@shelf.draws("half-scale", "Half the claimed standard deviation.")
def half_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA / 2, (size, histogram.size))).argmax(1)


@shelf.draws(
    "double-scale", "Twice the claimed standard deviation: private enough, not as claimed."
)
def double_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, 2 * SIGMA, (size, histogram.size))).argmax(1)


@shelf.draws("nine-tenths-scale", "Nine tenths of the claimed standard deviation.")
def nine_tenths_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, 0.9 * SIGMA, (size, histogram.size))).argmax(1)


@shelf.draws("root-scale", "Sigma taken for a variance: the noise has its square root.")
def root_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA**0.5, (size, histogram.size))).argmax(1)


@shelf.draws(
    "square-scale",
    "The variance handed to a sampler that wants the standard deviation.",
    source="opendp/smartnoise-core#316: noise scale in the gaussian mechanism squared",
)
def square_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA**2, (size, histogram.size))).argmax(1)


@shelf.draws(
    "inverse-scale",
    "Laplace noise of scale lambda where 1/lambda is meant.",
    claim=LNMAX,
    source="vanderschaarlab/mlforhealthlabpub#36: PATE-GAN",
)
def inverse_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.laplace(0, 1 / SCALE, (size, histogram.size))).argmax(1)


@shelf.draws(
    "unit-scale-cast-to-int",
    "Laplace noise of scale 1 whatever is claimed, then cut to integers.",
    claim=LNMAX,
    source="cleverhans-lab/capc-iclr csp.py, get_histogram",
)
def unit_scale_cast_to_int(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.laplace(size=(size, histogram.size))).astype(int).argmax(1)


@shelf.draws(
    "half-sensitivity",
    "Laplace noise for a sensitivity of 1, although a moved vote changes two counts.",
    claim=LNMAX,
)
def half_sensitivity(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.laplace(0, SCALE / 2, (size, histogram.size))).argmax(1)


@shelf.draws(
    "scale-for-shares",
    "Noise calibrated for shares of the votes, added to the counts.",
    source="DataResponsibly/DataSynthesizer#34: noise for probabilities added to counts",
)
def scale_for_shares(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    teachers = histogram.sum()
    return (histogram + rng.normal(0, SIGMA / teachers, (size, histogram.size))).argmax(1)


@shelf.draws("one-of-two-parties", "Two servers owe half the variance each; one adds nothing.")
def one_of_two_parties(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA / 2**0.5, (size, histogram.size))).argmax(1)


@shelf.draws("noise-added-twice", "Two layers of the software each add the claimed noise.")
def noise_added_twice(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA, (2, size, histogram.size)).sum(0)
    return (histogram + noise).argmax(1)


@shelf.draws("votes-counted-twice", "Each vote counts double, the noise does not.")
def votes_counted_twice(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (2 * histogram + rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)
