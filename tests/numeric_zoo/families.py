"""Noise of another family, rounding or range than the claimed one."""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation

from .claims import COUNT, CUT, GAUSSIAN, HISTOGRAM, ROUNDED, WHOLE
from .shelf import Rng, Shelf, noisy

SHELF = Shelf()
broken = SHELF.broken


@broken(HISTOGRAM, "noise-law")
def gaussian_of_equal_variance(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return of.exact(values) + rng.normal(scale=8**0.5, size=(size, 10))


@broken(GAUSSIAN, "noise-law")
def laplace_of_equal_variance(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return of.exact(values) + rng.laplace(scale=4.5**0.5, size=(size, 10))


@broken(HISTOGRAM, "noise-law", source="flwr 1.41.0 (seen): noise cast to the tensor's type")
def cast_to_integers(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size).astype(np.int64)


@broken(HISTOGRAM, "noise-law")
def rounded_without_saying(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.rint(noisy(of, rng, values, size))


@broken(ROUNDED, "noise-law")
def rounding_forgotten(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return of.exact(values) + rng.laplace(scale=2.0, size=(size, 10))


@broken(WHOLE, "noise-law", source="python-dp: a count is rounded Laplace, not discrete")
def rounded_laplace_for_discrete(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.rint(of.exact(values) + rng.laplace(scale=2.0, size=(size, 10)))


@broken(CUT, "noise-law")
def rounded_where_it_is_said_to_be_cut(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.rint(of.exact(values) + rng.laplace(scale=2.0, size=(size, 10)))


@broken(CUT, "noise-law", source="SQL's FLOOR() of a noisy count")
def rounded_down_where_it_is_said_to_be_cut(
    of: Aggregation, rng: Rng, values: Any, size: int
) -> Any:
    return np.floor(of.exact(values) + rng.laplace(scale=2.0, size=(size, 10)))


@broken(HISTOGRAM, "noise-law")
def clamped_without_saying(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.maximum(noisy(of, rng, values, size), 0.0)


@broken(
    COUNT,
    "noise-law",
    "support",
    source="diffprivlib 0.6.6 (seen): truncated at the array's length",
)
def truncated_at_the_true_count(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.minimum(noisy(of, rng, values, size), of.exact(values))


@broken(HISTOGRAM, "noise-law", "location")
def one_sided_noise(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    exact = of.exact(values)
    return exact + np.abs(noisy(of, rng, values, size) - exact)


@broken(HISTOGRAM, "noise-law", "fresh-noise", source="truncated at three scales: its ends repeat")
def noise_truncated(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    exact = of.exact(values)
    return exact + np.clip(noisy(of, rng, values, size) - exact, -6.0, 6.0)


def redrawn(noise: Any, draw: Any, reach: float) -> Any:
    """Noise (...) with all that lies beyond a reach drawn anew."""
    while (beyond := np.abs(noise) > reach).any():
        noise[beyond] = draw(int(beyond.sum()))
    return noise


@broken(HISTOGRAM, "noise-law", source="20 of 60,204 draws of a default run lie beyond")
def drawn_anew_beyond_eight_scales(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    noise = rng.laplace(scale=2.0, size=(size, 10))
    return of.exact(values) + redrawn(noise, lambda n: rng.laplace(scale=2.0, size=n), 16.0)


@broken(WHOLE, "noise-law", source="a table of the inverse law that ends")
def whole_noise_drawn_anew_beyond_fourteen(
    of: Aggregation, rng: Rng, values: Any, size: int
) -> Any:
    def draw(shape: Any) -> Any:
        return of.noise.family.sample(rng, shape if isinstance(shape, tuple) else (shape,))

    return of.exact(values) + redrawn(draw((size, 10)), draw, 14.0)


@broken(GAUSSIAN, "noise-law", source="outliers are held at 3.5 sigma")
def held_at_three_and_a_half_sigma(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    noise = rng.normal(scale=3.0, size=(size, 10))
    return of.exact(values) + np.clip(noise, -10.5, 10.5)
