"""Correct aggregators: the mechanism that is claimed, and others with its law."""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation

from .claims import (
    BALL,
    CLAMPED_SUM,
    COUNT,
    CUT,
    DIAMOND,
    EXACT_GAUSSIAN,
    EXACT_HISTOGRAM,
    GAUSSIAN,
    GRADIENT,
    HISTOGRAM,
    MEAN,
    PRIVATE,
    REPLACED,
    ROUNDED,
    SUM,
    WHOLE,
    WHOLE_BALL,
)
from .shelf import Aggregate, Rng, Shelf, noisy

SHELF = Shelf()
correct = SHELF.correct


@correct(
    *(HISTOGRAM, GAUSSIAN, WHOLE, ROUNDED, COUNT, SUM, BALL, MEAN, GRADIENT, DIAMOND),
    *(REPLACED, WHOLE_BALL, CLAMPED_SUM, CUT),
)
def as_claimed(of: Aggregation, rng: Rng) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size)


@correct(HISTOGRAM, GAUSSIAN, SUM, WHOLE_BALL)
def in_single_precision(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size).astype(np.float32)


@correct(CUT)
def integers_of_noisy_counts(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    """`int()` of each noisy count, as SmartNoise SQL has it, which cuts it towards zero."""
    noisy_counts = of.exact(values) + rng.laplace(scale=2.0, size=(size, 10))
    return [[int(count) for count in row] for row in noisy_counts.tolist()]


@correct(HISTOGRAM, COUNT)
def a_generator_for_each_call(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, np.random.default_rng(), values, size)


@correct(SUM)
def summed_one_by_one(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    total = np.zeros(3)
    for record in np.clip(np.nan_to_num(np.array(values)), -1.0, 1.0):
        total = total + record
    return total + rng.laplace(scale=2.0, size=(size, 3))


@correct(
    COUNT + PRIVATE.format(1.0, 1),
    GAUSSIAN + PRIVATE.format(4.6, 8),
    GRADIENT + PRIVATE.format(11.3, 5),
)
def with_the_privacy_it_has(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size)


@correct(EXACT_HISTOGRAM, EXACT_GAUSSIAN)
def noise_on_a_fine_grid(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    """Rounded to multiples of 2^-40 before it is added to whole counts: the sums are exact."""
    noise = of.noise.family.sample(rng, (size, of.dimensions))
    return of.exact(values) + np.rint(noise * 2.0**40) * 2.0**-40
