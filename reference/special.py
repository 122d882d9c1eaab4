"""The Gaussian log-cdf and its hazard, accurate in both tails, for numpy and JAX.

scipy loads at the first value: it takes longer than all else that a target's process starts with.
"""

import math

from .arrays import Array, is_jax

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)


def log_ndtr(x: Array) -> Array:
    """Natural log of the standard normal cdf at `x` (any shape), relative error about 1e-14.

    scipy's for numpy. The JAX form has derivative rules of its own, because those of
    `jax.scipy.special.log_ndtr` are off by up to 1.6e-6 near x = -20 (JAX 0.10.2).
    """
    if is_jax(x):
        from .special_jax import log_ndtr as log_ndtr_jax

        return log_ndtr_jax(x)
    from scipy import special

    return special.log_ndtr(x)


def normal_hazard(x: Array) -> Array:
    """Ratio phi(x)/Phi(x) of the standard normal, the derivative of `log_ndtr` (any shape)."""
    if is_jax(x):
        from .special_jax import normal_hazard as normal_hazard_jax

        return normal_hazard_jax(x)
    from scipy import special

    return _SQRT_2_OVER_PI / special.erfcx(x * -_SQRT_HALF)  # which is infinite from x = 37.7 on
