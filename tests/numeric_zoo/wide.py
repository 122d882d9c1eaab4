"""Aggregators of wide releases, of large values and in long calls, broken and correct.

Each shows in one cell, one pair, one release in many, or for inputs that are seldom asked;
`numeric_zoo` has them on its shelves.
"""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation

from .claims import COUNT, EXACT_HISTOGRAM, HISTOGRAM, SUM, WHOLE
from .scale import scaled
from .shelf import Aggregate, Make, Rng, Shelf, noisy

SHELF = Shelf()
broken, correct = SHELF.broken, SHELF.correct

WIDE = WHOLE.replace("cells = 10", "cells = 1000")
WIDE_LAPLACE = HISTOGRAM.replace("cells = 10", "cells = 1000")
WIDE_ROUNDED = WIDE_LAPLACE.replace("laplace:2", "laplace:2;round")
WIDE_CLAMPED = WIDE.replace("discrete-laplace:2", "discrete-laplace:2;min=0;max=50")
THREE = WHOLE.replace("cells = 10", "cells = 3")
SMALL = WHOLE.replace("discrete-laplace:2", "discrete-laplace:0.3")
WIDE_SMALL = WIDE.replace("discrete-laplace:2", "discrete-laplace:0.1")
CLAMPED = WHOLE.replace("discrete-laplace:2", "discrete-laplace:2;min=0;max=50")
EXACT_SUM = SUM + '\nfloating_point = "exact"'
GRID_SUM = EXACT_SUM.replace("laplace:2", "laplace:2;grid=2^-30")
WITH_BIAS = (
    'name = "noisy-gradient"\nnoise = "gaussian:1.1"\nadjacency = "add-remove"\n'
    "shapes = [[1000, 5], [1]]\nclip_norm = 1.0\ndivide_by = 32"
)


@correct(WIDE, WIDE_LAPLACE, WIDE_ROUNDED, WIDE_CLAMPED, WIDE_SMALL, THREE, SMALL, CLAMPED)
def wide_and_small(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size)


def bare_where(told: Any) -> Make:
    """No noise for the inputs and sizes of which `told(values, size)` says so."""

    def make(of: Aggregation, rng: Rng) -> Aggregate:
        def aggregate(values: Any, size: int) -> Any:
            if told(np.asarray(values), size):
                return np.tile(of.exact(values), (size, 1))
            return noisy(of, rng, values, size)

        return aggregate

    return make


@broken(WIDE, "joint", source="a label left out of the loop that adds noise")
def one_bare_cell_of_a_thousand(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    found = noisy(of, rng, values, size)
    found[:, 615] = values[615]
    return found


@broken(WITH_BIAS, "joint", "noise-law", source="weights get noise, the bias does not")
def a_bias_without_noise(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    found = noisy(of, rng, values, size)
    found[:, -1] = of.exact(values)[-1]
    return found


def _sharing(of: Aggregation, rng: Rng, sign: float) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        exact = of.exact(values)
        found = noisy(of, rng, values, size)
        found[:, 871] = exact[871] + sign * (found[:, 123] - exact[123])
        return found

    return aggregate


@broken(WIDE, "independence")
def two_cells_of_a_thousand_share_noise(of: Aggregation, rng: Rng) -> Aggregate:
    return _sharing(of, rng, 1.0)


@broken(WIDE_LAPLACE, "independence")
def two_cells_have_opposite_noise(of: Aggregation, rng: Rng) -> Aggregate:
    return _sharing(of, rng, -1.0)


@broken(WHOLE, "joint", source="a cache that keeps exact results, now and then")
def one_release_in_200_wholly_bare(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    bare = rng.random((size, 1)) < 1 / 200
    return np.where(bare, of.exact(values), noisy(of, rng, values, size))


@broken(WHOLE, "noise-law", "location", source="counts printed with four digits")
def counts_of_four_digits(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, np.array([int(float(f"{v:.4g}")) for v in values]), size)


@broken(WHOLE, "noise-law", source="noise left out where every count is large")
def no_noise_where_all_are_large(of: Aggregation, rng: Rng) -> Aggregate:
    return bare_where(lambda counts, size: counts.min() >= 10_000)(of, rng)


@broken(COUNT, "noise-law", source="noise that a total of ten million is said not to need")
def no_noise_from_ten_million_on(of: Aggregation, rng: Rng) -> Aggregate:
    return bare_where(lambda counts, size: counts.sum() >= 10**7)(of, rng)


@broken(HISTOGRAM, "noise-law", source="the scale falls with the entropy of the counts")
def nearly_all_in_one_cell_without_noise(of: Aggregation, rng: Rng) -> Aggregate:
    def told(counts: Any, size: int) -> Any:
        return 0.6 * counts.sum() < counts.max() < counts.sum()

    return bare_where(told)(of, rng)


@broken(WHOLE, "noise-law", source="another path for large calls")
def half_the_noise_in_calls_above_a_thousand(of: Aggregation, rng: Rng) -> Aggregate:
    halved = scaled(0.5)(of, rng)

    def aggregate(values: Any, size: int) -> Any:
        return np.rint(halved(values, size)) if size > 1_000 else noisy(of, rng, values, size)

    return aggregate


@broken(SUM, "joint", "noise-law", source="the same, of sums")
def no_noise_in_calls_above_a_thousand(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    if size > 1_000:
        return np.tile(of.exact(values), (size, 1))
    return noisy(of, rng, values, size)


@broken(EXACT_SUM, "floating-point", source="noise on a grid added to a sum that lies off it")
def exact_noise_on_a_sum_off_its_grid(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    noise = of.noise.family.sample(rng, (size, of.dimensions))
    return of.exact(values) + np.rint(noise * 2.0**30) * 2.0**-30


@broken(GRID_SUM, "noise-law", source="the same, where the claim names the grid")
def a_sum_off_the_claimed_grid(of: Aggregation, rng: Rng) -> Aggregate:
    return exact_noise_on_a_sum_off_its_grid(of, rng)


@correct(EXACT_SUM, EXACT_HISTOGRAM)
def sums_rounded_to_the_grid_of_the_noise(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    """To multiples of 2^-30 both: what the exact sum is below that shows nowhere."""
    noise = of.noise.family.sample(rng, (size, of.dimensions))
    return (np.rint(of.exact(values) * 2.0**30) + np.rint(noise * 2.0**30)) * 2.0**-30
