"""log Phi, its hazard and their derivatives, against mpmath from -40 to 8."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf

from dpassay.reference.special import log_ndtr, normal_hazard

jax.config.update("jax_enable_x64", True)

# the JAX release's own erfcx returns 0 for arguments from 26.5 to 27.2, x from -38.5 to -37.5
POINTS = np.concatenate([np.linspace(-40.0, 8.0, 193), np.linspace(-38.7, -37.3, 29)])


def exact(x, order):
    """Derivative `order` of log Phi at x, 30 digits."""
    with mp.workdps(40):
        x = mpf(float(x))
        hazard = mp.npdf(x) / mp.ncdf(x)
        return (mp.log(mp.ncdf(x)), hazard, -hazard * (x + hazard))[order]


def worst(values, order):
    return max(
        float(abs(mpf(float(value)) / exact(x, order) - 1))
        for x, value in zip(POINTS, values, strict=True)
    )


def test_numpy_values() -> None:
    assert worst(log_ndtr(POINTS), 0) < 2e-14
    assert worst(normal_hazard(POINTS), 1) < 2e-14


@pytest.mark.slow("JAX compiles derivatives")
def test_jax_value_and_first_two_derivatives() -> None:
    """jax.scipy.special.log_ndtr fails this: 4e-9 in value and slope, 1.6e-6 in the second."""
    x = jnp.asarray(POINTS)
    assert worst(log_ndtr(x), 0) < 2e-14
    assert worst(jax.vmap(jax.grad(log_ndtr))(x), 1) < 2e-14
    # x + hazard cancels to 1/|x|, so its relative error grows with x^2
    assert worst(jax.vmap(jax.grad(jax.grad(log_ndtr)))(x), 2) < 2e-12


@pytest.mark.slow("JAX compiles derivatives; near tails have these too")
def test_far_tails_stay_finite() -> None:
    x = np.array([-1e6, -1e3, 1e3])
    for found in (log_ndtr(x), np.asarray(log_ndtr(jnp.asarray(x)))):
        assert np.isfinite(found).all()
        assert np.isclose(found[0], -0.5e12, rtol=1e-10)
