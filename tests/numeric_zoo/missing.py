"""Noise that some numbers, inputs or calls do not get."""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation, DiscreteLaplace

from .claims import COUNT, GRADIENT, HISTOGRAM, SUM
from .scale import scaled
from .shelf import Aggregate, Rng, Shelf, noisy

SHELF = Shelf()
broken = SHELF.broken


@broken(HISTOGRAM, "noise-law", source="smartnoise-sdk #317: a sum without bounds has no noise")
def no_noise(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.tile(of.exact(values), (size, 1))


@broken(HISTOGRAM, "noise-law", source="tensorflow/privacy pate_2017: later classes get none")
def one_cell_without_noise(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    found = noisy(of, rng, values, size)
    found[:, 7] = values[7]
    return found


@broken(HISTOGRAM, "noise-law")
def empty_cells_without_noise(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.where(np.asarray(values) == 0, 0.0, noisy(of, rng, values, size))


@broken(HISTOGRAM, "noise-law", "fresh-noise", source="opendp <= 0.12.1 #2344")
def one_draw_for_all_empty_cells(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    found = noisy(of, rng, values, size)
    empty = np.asarray(values) == 0
    found[:, empty] = rng.laplace(scale=2.0, size=(size, 1))
    return found


@broken(SUM, "noise-law", "fresh-noise", source="an early return for empty data")
def no_records_no_noise(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size) if len(values) else np.zeros((size, 3))


@broken(COUNT, "noise-law", source="noise chosen by the size of the count")
def half_the_noise_for_counts_of_a_thousand(of: Aggregation, rng: Rng) -> Aggregate:
    halved = DiscreteLaplace(0.5)

    def aggregate(values: Any, size: int) -> Any:
        if not 100 <= values[0] < 10_000:
            return noisy(of, rng, values, size)
        return of.exact(values) + halved.sample(rng, (size, 1))

    return aggregate


@broken(HISTOGRAM, "noise-law")
def no_noise_now_and_then(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    bare = rng.random((size, 1)) < 0.01
    return np.where(bare, of.exact(values), noisy(of, rng, values, size))


@broken(HISTOGRAM, "noise-law")
def large_counts_without_noise(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    exact = of.exact(values)
    return np.where(exact > 10_000, exact, noisy(of, rng, values, size))


@broken(HISTOGRAM, "noise-law")
def single_calls_with_half_the_noise(of: Aggregation, rng: Rng) -> Aggregate:
    halved = scaled(0.5)(of, rng)

    def aggregate(values: Any, size: int) -> Any:
        return halved(values, 1) if size == 1 else noisy(of, rng, values, size)

    return aggregate


@broken(GRADIENT, "noise-law", source="NVFlare #343: unselected weights sent without noise")
def small_numbers_without_noise(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    exact = of.exact(values)
    small = np.abs(exact) < np.quantile(np.abs(exact), 0.3)
    return np.where(small, exact, noisy(of, rng, values, size))
