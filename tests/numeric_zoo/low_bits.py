"""Noise whose low bits tell the exact value."""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation

from .claims import EXACT_GAUSSIAN, EXACT_HISTOGRAM
from .shelf import Rng, Shelf

SHELF = Shelf()
broken = SHELF.broken


@broken(EXACT_HISTOGRAM, "floating-point", source="diffprivlib 0.6.6 #94; Mironov 2012")
def laplace_noise_in_floats(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return of.exact(values) + rng.laplace(scale=2.0, size=(size, 10))


@broken(EXACT_GAUSSIAN, "floating-point", source="jax-privacy #616: float noise, secure mode")
def gaussian_noise_in_floats(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return of.exact(values) + rng.normal(scale=3.0, size=(size, 10))


@broken(EXACT_GAUSSIAN, "floating-point", source="optax, flwr: noise in single precision")
def gaussian_noise_in_single_precision(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    noise = np.float32(3.0) * rng.standard_normal((size, 10), dtype=np.float32)
    return of.exact(values).astype(np.float32) + noise


@broken(EXACT_GAUSSIAN, "floating-point", source="python-dp 1.1.5 (seen): more than 53 bits")
def whole_noise_beyond_the_mantissa(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    """A 64-bit integer times a granularity, rounded to a float before it is added."""
    steps = rng.normal(scale=3.0 * 2.0**30, size=(size, 10)).astype(np.int64) << 27
    steps += rng.integers(0, 2**27, (size, 10))
    return of.exact(values) + steps.astype(np.float64) * 2.0**-57
