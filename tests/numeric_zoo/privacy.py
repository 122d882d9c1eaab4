"""Releases that one of two neighbours alone can have, and claims of less than is spent."""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation

from .claims import COUNT, GAUSSIAN, HISTOGRAM, PRIVATE, SUM
from .shelf import Rng, Shelf, noisy

SHELF = Shelf()
broken = SHELF.broken


@broken(HISTOGRAM, "support", "noise-law")
def empty_cells_never_negative(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    found = noisy(of, rng, values, size)
    return np.where(np.asarray(values) == 0, np.abs(found), found)


@broken(SUM, "support", "noise-law")
def sums_cut_at_the_number_of_records(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.clip(noisy(of, rng, values, size), -len(values), len(values))


@broken(COUNT + PRIVATE.format(0.3, 1), "privacy-audit", "privacy-claim", source="opendp #2945")
def epsilon_of_half_the_sensitivity(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size)


@broken(GAUSSIAN + PRIVATE.format(3.0, 8), "privacy-claim", source="opendp #2911, #2924")
def epsilon_of_fewer_queries(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size)
