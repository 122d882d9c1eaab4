"""Q(H) of whole votes: a batch of 10,000 against adaptive quadrature per class, mpmath, and JAX."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.integrate import quad
from scipy.special import ndtr

from dpassay.reference import (
    Exponential,
    Gaussian,
    Gumbel,
    Laplace,
    exact_probabilities,
    log_jacobian,
    log_probabilities,
)

from .timing import Row, in_turn, seconds

BATCH, SIGMA = 10_000, 40.0


def histograms(count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.multinomial(250, rng.dirichlet(np.full(10, 0.5), size=count)).astype(float)


def by_quad(histogram: np.ndarray) -> list[float]:
    """scipy.integrate.quad for each class, asked for a relative error of 1e-12."""

    def integrand(x: float, label: int) -> float:
        cdfs = ndtr((x - histogram) / SIGMA)
        cdfs[label] = 1.0
        u = (x - histogram[label]) / SIGMA
        return float(np.exp(-0.5 * u * u) * cdfs.prod() / (SIGMA * np.sqrt(2 * np.pi)))

    low, high = histogram.min() - 9 * SIGMA, histogram.max() + 9 * SIGMA
    return [
        quad(integrand, low, high, args=(label,), epsabs=0, epsrel=1e-12, limit=400)[0]
        for label in range(histogram.size)
    ]


def rows() -> Iterator[Row]:
    batch, few = histograms(BATCH), histograms(20)
    gaussian = Gaussian(SIGMA)
    fast, slow = in_turn(
        lambda: log_probabilities(batch, gaussian), lambda: [by_quad(row) for row in few], rounds=3
    )
    own, theirs = fast / BATCH, slow / len(few)
    error = max(
        np.abs(np.exp(log_probabilities(row, gaussian)) / by_quad(row) - 1).max() for row in few
    )
    name = f"Q(H), gaussian:40, c = 10, batch of {BATCH:,}"
    yield (
        name,
        f"{1 / own:,.0f} histograms/s",
        "scipy.integrate.quad at 1e-12",
        f"{theirs / own:,.0f}",
    )
    moved = batch + 0.25 * (batch % 2)
    real = in_turn(lambda: log_probabilities(moved, gaussian), rounds=3)[0] / BATCH
    yield (
        "of votes that are not whole",
        f"{1 / real:,.0f} histograms/s",
        "quad",
        f"{theirs / real:,.0f}",
    )
    yield "largest relative difference from quad", f"{error:.1e}", "", ""
    oracle = seconds(lambda: exact_probabilities(batch[0].tolist(), gaussian, 30))
    fifty = seconds(lambda: exact_probabilities(batch[0].tolist(), gaussian, 50))
    yield (
        name,
        f"{own * 1e6:.0f} us each",
        f"mpmath, 30 digits: {oracle:.2f} s",
        f"{oracle / own:,.0f}",
    )
    yield "mpmath, 50 digits, c = 10", f"{fifty:.2f} s", "goal 1 s", f"{fifty:.2f}"
    jacobian, values = in_turn(
        lambda: log_jacobian(batch[:2000], gaussian),
        lambda: log_probabilities(batch[:2000], gaussian),
    )
    yield (
        "with the Jacobian",
        f"{jacobian / 2000 * 1e6:.0f} us each",
        "without",
        f"{jacobian / values:.1f}",
    )
    for noise in (Laplace(SIGMA), Exponential(SIGMA), Gumbel(SIGMA)):
        other, base = in_turn(
            partial(log_probabilities, batch[:2000], noise),
            lambda: log_probabilities(batch[:2000], gaussian),
        )
        yield f"{noise}", f"{other / 2000 * 1e6:.1f} us each", "gaussian:40", f"{other / base:.2f}"
    yield from jax_rows(batch[:2000])


def jax_rows(batch: np.ndarray) -> Iterator[Row]:
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    votes = jax.numpy.asarray(batch)
    compiled = jax.jit(lambda v: log_probabilities(v, Gaussian(SIGMA)))
    ours, numpy = in_turn(
        lambda: compiled(votes).block_until_ready(),
        lambda: log_probabilities(batch, Gaussian(SIGMA)),
    )
    yield "JAX, jitted", f"{ours / len(batch) * 1e6:.0f} us each", "numpy", f"{ours / numpy:.2f}"
