"""Releases that are centred beside the exact value."""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation

from .claims import HISTOGRAM, MEAN, SUM
from .shelf import Rng, Shelf, noisy

SHELF = Shelf()
broken = SHELF.broken


@broken(HISTOGRAM, "noise-law", "location")
def a_tenth_of_a_scale_too_high(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size) + 0.2


@broken(MEAN, "noise-law", "location", source="opendp #314: low by 1/2")
def sums_of_odd_width_cut(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size) - 0.5 / 24


@broken(HISTOGRAM, "noise-law", "location")
def the_second_cell_counted_twice(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    counts = np.array(values)
    counts[1] *= 2
    return noisy(of, rng, counts, size)


@broken(SUM, "noise-law", "location")
def the_last_record_left_out(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, np.asarray(values)[:-1], size)
