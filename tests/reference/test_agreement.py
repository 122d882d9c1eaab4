"""numpy, JAX, mpmath and ball arithmetic agree pairwise, in relative error and in the tails."""

import flint
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from dpassay.reference import (
    Exponential,
    Gaussian,
    Gumbel,
    Laplace,
    enclose_probabilities,
    exact_probabilities,
    log_jacobian,
    log_probabilities,
    parse_noise,
)
from dpassay.verifiers.strategies import histograms

jax.config.update("jax_enable_x64", True)

FAMILIES = (Gaussian, Laplace, Gumbel, Exponential)
LIMIT = 1e-12


def relative_to_exact(logs, exact):
    """Largest relative error of exp(logs) against mpmath numbers."""
    with mp.workdps(50):
        return max(
            float(abs(mp.expm1(mp.mpf(float(log)) - mp.log(q))))
            for log, q in zip(logs, exact, strict=True)
        )


def above(exact, floor):
    return np.array([q > mp.mpf(floor) for q in exact])


cases = st.tuples(
    histograms(classes=st.integers(2, 8), teachers=st.integers(1, 400)),
    st.sampled_from(FAMILIES),
    st.sampled_from([0.5, 3.0, 17.0, 40.0, 150.0]),
)


blocks = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 8)), min_size=2, max_size=3).map(
    lambda pairs: [votes for votes, times in pairs for _ in range(times)]
)


@pytest.mark.slow("mpmath on long histograms")
@settings(max_examples=120)
@given(blocks, st.sampled_from(FAMILIES), st.floats(1.0, 100.0))
def test_blocks_of_equal_votes_agree_with_mpmath(votes, family, scale) -> None:
    """Many equal votes bend the integrand most. Catches pieces that are too long."""
    exact = exact_probabilities(votes, family(scale), 20)
    seen = above(exact, "1e-300")
    logs = log_probabilities(votes, family(scale))[seen]
    assert relative_to_exact(logs, [q for q, s in zip(exact, seen, strict=True) if s]) < LIMIT


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("votes", "scale"),
    [
        ([52, 0], 1.0),
        ([912] + [0] * 17, 73.66),
        ([37, 36, 35, 0, 1], 1.0),
        ([10**9, 10**9 - 40, 10**9 - 900], 40.0),
        ([1, 0, 1, 0], 1e6),
        pytest.param([30] * 12 + [0] * 12, 1.5, marks=pytest.mark.slow("another plateau")),
        pytest.param(list(range(40)), 2.0, marks=pytest.mark.slow("forty classes")),
        ([30] * 20 + [7] * 15 + [0] * 5, 3.0),  # equal votes are taken together from 32 classes on
        ([600, 300, 299, 298, 0], 30.0),
    ],
)
@pytest.mark.quick_cases(2)
def test_float64_agrees_with_mpmath_at_extremes(family, votes, scale) -> None:
    """Far tails, large counts, scales from 1e-3 to 1e6 of the gaps, ties, plateaus."""
    exact = exact_probabilities(votes, family(scale), 20)
    seen = above(exact, "1e-300")
    logs = log_probabilities(votes, family(scale))[seen]
    assert relative_to_exact(logs, [q for q, s in zip(exact, seen, strict=True) if s]) < LIMIT


@pytest.mark.parametrize("family", FAMILIES)
def test_logs_stay_right_far_below_the_smallest_float(family) -> None:
    """At a thousand scales behind, the log-probability is what is left of the probability."""
    votes = [1000, 998, 500, 0]
    exact = exact_probabilities(votes, family(1.0), 20)
    logs = log_probabilities(votes, family(1.0))
    for log, q in zip(logs, exact, strict=True):
        assert abs(float(mp.log(q)) / log - 1.0) < 1e-13


@pytest.mark.slow("120 laws in mpmath; others are")
def test_the_published_histograms_agree_with_mpmath(published_data) -> None:
    """The 30 histograms that Wang et al. 2022 attack, at their four noise scales."""
    with (published_data / "wang2022_histograms.csv").open() as table:
        votes = np.loadtxt(table, delimiter=",", skiprows=1, usecols=range(3, 13), dtype=int)
    assert votes.shape == (30, 10)
    for row, sigma in zip(votes, [40.0, 60.0, 80.0, 100.0] * 8, strict=False):
        exact = exact_probabilities(row.tolist(), Gaussian(sigma), 15)
        assert relative_to_exact(log_probabilities(row, Gaussian(sigma)), exact) < LIMIT


@pytest.mark.slow("over half a second")
@settings(max_examples=12)
@given(cases)
def test_mpmath_lies_in_the_balls(case) -> None:
    """Two oracles that share no code: 25 digits of one inside the enclosure of the other."""
    histogram, family, scale = case
    votes = [int(v) for v in histogram]
    exact = exact_probabilities(votes, family(scale), 25)
    balls = enclose_probabilities(votes, family(scale), 20)
    with flint.ctx.workprec(200):
        for q, ball in zip(exact, balls, strict=True):
            found = flint.arb(mp.nstr(q, 40))
            assert ball.overlaps(found + found * flint.arb(0, 1e-24))
            assert ball.rel_accuracy_bits() > 66  # 20 digits


@pytest.mark.slow("over half a second")
def test_the_balls_hold_float64_probabilities_to_rounding() -> None:
    """Enclosures against float64 directly, mpmath left out."""
    votes = [12, 7, 6, 30, 4, 161, 0, 10, 19, 1]
    logs = log_probabilities(votes, Gaussian(40.0))
    for log, ball in zip(logs, enclose_probabilities(votes, Gaussian(40.0), 15), strict=True):
        assert abs(float(np.exp(log)) / float(ball) - 1.0) < LIMIT


SOME = [
    *(Gaussian, Exponential),
    *(pytest.param(f, marks=pytest.mark.slow("other families")) for f in (Laplace, Gumbel)),
]


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("family", SOME)
def test_fifty_digits_are_stable_in_their_digits(family) -> None:
    """The digits asked for do not change when more are asked for."""
    votes = [12, 7, 6, 30, 4, 161, 0, 10, 19, 1]
    fifty = exact_probabilities(votes, family(40.0), 50)
    eighty = exact_probabilities(votes, family(40.0), 80)
    with mp.workdps(100):
        for a, b in zip(fifty, eighty, strict=True):
            assert abs(a / b - 1) < mp.mpf(10) ** -50


JAX_CASES = [
    ([12, 7, 6, 30, 4, 161, 0, 10, 19, 1], 40.0),
    ([37, 36, 35, 0, 1, 0, 0, 0, 0, 0], 1.0),
    ([200, 0, 10, 3, 0, 0, 0, 0, 0, 0], 2.0),
]


@pytest.mark.parametrize("family", SOME)
@pytest.mark.slow("over half a second")
def test_jax_agrees_with_numpy(family) -> None:
    """One kernel serves both; the static grids and the far classes are JAX's own."""
    for votes, scale in JAX_CASES:
        found = log_probabilities(jnp.asarray(votes, dtype=float), family(scale))
        expected = log_probabilities(votes, family(scale))
        seen = expected > -690
        assert np.abs(np.expm1(np.asarray(found) - expected)[seen]).max() < LIMIT
        assert np.allclose(found, expected, rtol=1e-13)
        assert np.allclose(
            log_jacobian(jnp.asarray(votes, dtype=float), family(scale)),
            log_jacobian(votes, family(scale)),
            rtol=1e-11,
            atol=1e-14,
        )


@pytest.mark.slow("compiles second derivatives")
@pytest.mark.parametrize("family", FAMILIES)
def test_jax_jits_vmaps_and_differentiates_twice(family) -> None:
    """First derivatives against the analytic Jacobian, second ones against its differences."""
    noise = family(20.0)

    def logs(votes):
        return log_probabilities(votes, noise)

    batch = jnp.asarray([[30.0, 12.5, 3.0, 0.0], [9.0, 8.0, 7.5, 1.0]])
    assert np.allclose(jax.jit(jax.vmap(logs))(batch), log_probabilities(np.asarray(batch), noise))
    found = jax.jit(jax.vmap(jax.jacfwd(logs)))(batch)
    assert np.allclose(found, log_jacobian(np.asarray(batch), noise), rtol=1e-10, atol=1e-14)
    curvature = np.asarray(jax.jit(jax.vmap(jax.hessian(logs)))(batch))
    step = 1e-4 * np.eye(4)
    for row, hessian in zip(np.asarray(batch), curvature, strict=True):
        for label in range(4):
            rise = log_jacobian(row + step[label], noise) - log_jacobian(row - step[label], noise)
            assert np.allclose(hessian[:, :, label], rise / 2e-4, rtol=1e-6, atol=1e-9)


def test_jax_in_32_bit_mode_is_refused() -> None:
    """Silent float32 would cost nine digits."""
    with jax.enable_x64(False), pytest.raises(ValueError, match="jax_enable_x64"):
        log_probabilities(jnp.asarray([1.0, 2.0]), parse_noise("gaussian:1"))
