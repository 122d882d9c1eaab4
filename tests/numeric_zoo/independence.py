"""Noise that numbers of a release, or releases, share."""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation

from .claims import GAUSSIAN, GRADIENT, HISTOGRAM
from .shelf import Aggregate, Rng, Shelf, noisy

SHELF = Shelf()
broken = SHELF.broken


@broken(HISTOGRAM, "fresh-noise", "independence", "noise-law")
def one_draw_for_all_cells(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return of.exact(values) + rng.laplace(scale=2.0, size=(size, 1))


@broken(GRADIENT, "fresh-noise", "independence", "noise-law", source="jax examples: PR 3646")
def one_key_for_all_tensors(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    noise = rng.normal(scale=1.1 / 32, size=(size, 12))
    return of.exact(values) + np.concatenate([noise, noise[:, :3]], axis=1)


@broken(HISTOGRAM, "independence", "noise-law")
def antithetic_cells(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    half = rng.laplace(scale=2.0, size=(size, 5))
    return of.exact(values) + np.concatenate([half, -half], axis=1)


@broken(GAUSSIAN, "independence")
def cells_correlated_by_a_third(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    common, own = rng.normal(size=(size, 1)), rng.normal(size=(size, 10))
    return of.exact(values) + 3.0 * (3**-0.5 * common + (2 / 3) ** 0.5 * own)


@broken(HISTOGRAM, "independence")
def sizes_shared_signs_not(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    common = rng.exponential(2.0, size=(size, 1))
    return of.exact(values) + common * rng.choice([-1.0, 1.0], size=(size, 10))


@broken(HISTOGRAM, "fresh-noise", source="diffprivlib #31; CaPC: one global seed")
def seeded_anew_for_each_call(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, np.random.default_rng(0), values, size)


@broken(HISTOGRAM, "fresh-noise", source="a pool of a thousand seeds")
def seeded_from_a_pool(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, np.random.default_rng(int(rng.integers(1_000))), values, size)


@broken(HISTOGRAM, "fresh-noise")
def noise_drawn_once(of: Aggregation, rng: Rng) -> Aggregate:
    noise = rng.laplace(scale=2.0, size=(1, 10))
    return lambda values, size: of.exact(values) + np.repeat(noise, size, axis=0)


@broken(HISTOGRAM, "fresh-noise")
def every_other_release_repeated(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    drawn = noisy(of, rng, values, (size + 1) // 2)
    return np.repeat(drawn, 2, axis=0)[:size]


@broken(HISTOGRAM, "fresh-noise")
def releases_in_opposite_pairs(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    half = rng.laplace(scale=2.0, size=((size + 1) // 2, 10))
    return of.exact(values) + np.stack([half, -half], axis=1).reshape(-1, 10)[:size]
