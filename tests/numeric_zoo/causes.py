"""What each broken aggregator of the zoo is to be told as, and some that resemble others."""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation

from .claims import BALL, DIAMOND, HISTOGRAM, ROUNDED, WHOLE
from .scale import scaled
from .shelf import Aggregate, Rng, Shelf, noisy

SHELF = Shelf()
broken, correct = SHELF.broken, SHELF.correct

OF_USERS = HISTOGRAM.replace("laplace:2", "laplace:6") + '\nunit = "user"\nmax_contributions = 3'


@correct(OF_USERS)
def of_users_as_claimed(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size)


@broken(OF_USERS, "noise-law", "noise-scale", source="noise for one record of a user")
def contributions_left_out(of: Aggregation, rng: Rng) -> Aggregate:
    return scaled(1 / 3)(of, rng)


@broken(WHOLE, "noise-law", source="int() of Laplace noise")
def noise_cut_to_integers(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return of.exact(values) + np.trunc(rng.laplace(scale=2.0, size=(size, 10)))


@broken(ROUNDED, "noise-law", source="int() of a noisy count")
def noisy_counts_cut_to_integers(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.trunc(of.exact(values) + rng.laplace(scale=2.0, size=(size, 10)))


@broken(BALL, "noise-law", "location", "clipping", source="norm(ord=1) in place of 2")
def clipped_by_the_sum_of_sizes(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return _clipped(values, 1, 4) + rng.normal(scale=2.0, size=(size, 4))


@broken(DIAMOND, "sensitivity", source="norm() with its default in place of 1")
def clipped_by_the_length(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return _clipped(values, 2, 6) + rng.laplace(scale=2.0, size=(size, 6))


def _clipped(values: Any, norm: int, width: int) -> Any:
    """The sum of records, each within 1 in a norm."""
    records = np.array(values, dtype=float).reshape(-1, width)
    if not np.isfinite(records).all():
        raise ValueError("expected finite numbers")
    largest = np.maximum(np.abs(records).max(1, keepdims=True, initial=0.0), 1.0)
    unit = records / largest
    length = np.linalg.norm(unit, norm, axis=1, keepdims=True)
    return (unit * np.minimum(largest, 1.0 / np.maximum(length, 1e-300))).sum(0)
