"""The JAX forms of `special`, with derivative rules of their own; imported only for JAX arrays."""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from .arrays import Array

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
_SERIES_FROM = 25.0


def _erfcx(x: Array) -> Array:
    """exp(x^2) erfc(x) for x >= 0.

    `jax.scipy.special.erfcx` (0.10.2) returns 0 between 26.5 and 27.2, where exp(-x^2)
    underflows; from 25 on the asymptotic series (NIST DLMF 7.12.1) takes over.
    """
    series = jnp.ones_like(x)
    inverse = 1.0 / jnp.square(jnp.maximum(x, _SERIES_FROM))
    for m in range(7, 0, -1):
        series = 1.0 - (m - 0.5) * inverse * series
    series = series / (jnp.maximum(x, _SERIES_FROM) * math.sqrt(math.pi))
    near = jax.scipy.special.erfcx(jnp.minimum(x, _SERIES_FROM))
    return jnp.where(x < _SERIES_FROM, near, series)


@jax.custom_jvp
def log_ndtr(x: Array) -> Array:
    """See `dpassay.reference.special.log_ndtr`."""
    scaled = _erfcx(jnp.abs(x) * _SQRT_HALF)
    square = -0.5 * jnp.square(x)
    return jnp.where(
        x < 0, square + jnp.log(0.5 * scaled), jnp.log1p(-0.5 * scaled * jnp.exp(square))
    )


@jax.custom_jvp
def normal_hazard(x: Array) -> Array:
    """See `dpassay.reference.special.normal_hazard`."""
    scaled = _erfcx(jnp.abs(x) * _SQRT_HALF)
    density = jnp.exp(-0.5 * jnp.square(x))
    upper = 0.5 * _SQRT_2_OVER_PI * density / (1.0 - 0.5 * scaled * density)
    return jnp.where(x < 0, _SQRT_2_OVER_PI / scaled, upper)


@partial(log_ndtr.defjvp)
def _log_ndtr_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return log_ndtr(x), normal_hazard(x) * dx


@partial(normal_hazard.defjvp)
def _normal_hazard_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    hazard = normal_hazard(x)
    far = 1.0 / jnp.square(jnp.minimum(x, -50.0))
    # x + hazard cancels in the far tail; there the asymptotic series is exact to 1e-9 of 1/x^2
    return hazard, -jnp.where(x < -50.0, 1.0 - far + 6.0 * far**2, hazard * (x + hazard)) * dx
