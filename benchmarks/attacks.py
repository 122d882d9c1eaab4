"""The attacks: histograms per second, and how much the published descent takes beside them."""

from collections.abc import Iterator
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from dpassay.attacks import Answers, reconstruct
from dpassay.attacks.gradient_descent import RELEASED, gradient_descent, objective
from dpassay.reference import Gaussian, NoisyArgmax, digit_histograms, probabilities

from .timing import Row, in_turn, seconds

BATCH = 1000
QUERIES = 10_000


def rows() -> Iterator[Row]:
    votes = np.resize(digit_histograms(), (BATCH, 10))
    noise = Gaussian(40.0)
    laws = probabilities(votes, noise)
    counts = np.random.default_rng(0).multinomial(QUERIES, laws).astype(float)
    many, one = (Answers(c, NoisyArgmax(noise)) for c in (counts, counts[0]))
    cold = seconds(lambda: reconstruct(one, 250))
    few = counts[:20]
    whole, single, posterior, descent, step = in_turn(
        lambda: reconstruct(many, 250),
        lambda: reconstruct(one, 250),
        lambda: reconstruct(one, 250, "posterior"),
        lambda: gradient_descent(few, noise.scale, 250, RELEASED),
        lambda: unjitted_step(counts[0] / QUERIES, noise.scale),
        rounds=3,
    )
    each, descent = whole / BATCH, descent / len(few)
    rate = f"{1 / each:,.0f} histograms/s, batch of {BATCH:,}"
    yield (
        "mle, c = 10",
        rate,
        f"jitted released code: {1e3 * descent:.0f} ms",
        f"{descent / each:,.0f}",
    )
    yield (
        "",
        f"{1e3 * each:.2f} ms each",
        f"one un-jitted step: {step:.2f} s",
        f"{step / each:,.0f}",
    )
    yield (
        "mle, one histogram",
        f"{1e3 * single:.1f} ms",
        f"first call: {1e3 * cold:.1f} ms",
        f"{cold / single:.1f}",
    )
    yield "posterior, one histogram", f"{posterior:.2f} s", "mle", f"{posterior / single:,.0f}"
    for teachers, queries in ((250, 10**4), (5000, 10**6)):
        fit = seconds(partial(reconstruct, thousand_classes(teachers, queries), teachers))
        name = f"mle, c = 1,000, {teachers:,} teachers, {queries:,} answers"
        yield name, f"{fit:.2f} s", "goal 2 s", f"{fit / 2:.2f}"


def thousand_classes(teachers: int, queries: int) -> Answers:
    rng = np.random.default_rng(0)
    votes = rng.multinomial(teachers, rng.dirichlet(np.full(1000, 0.3))).astype(float)
    law = probabilities(votes, Gaussian(40.0))
    counts = rng.multinomial(queries, law / law.sum()).astype(float)
    return Answers(counts, NoisyArgmax(Gaussian(40.0)))


def unjitted_step(frequencies: np.ndarray, sigma: float) -> None:
    with jax.disable_jit():
        slope = jax.grad(objective)(jnp.full(10, 25.0), jnp.asarray(frequencies), sigma, True)
    slope.block_until_ready()
