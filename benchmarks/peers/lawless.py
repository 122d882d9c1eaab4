"""Mechanisms of many kinds under a claimed epsilon alone, right and wrong, each with a pair."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

Draw = Callable[[int, int, np.random.Generator], Any]
"""World (0 or 1), number of draws, generator; outputs (n, features)."""


@dataclass(frozen=True)
class Lawless:
    """draw: outputs of a world; features: numbers of each; right: whether epsilon 1 is kept."""

    name: str
    draw: Draw
    features: int
    right: bool


def above_threshold(world: int, size: int, rng: np.random.Generator, *, variant: int) -> Any:
    """Which of ten queries are above 0, as variants of the sparse vector technique answer.

    Lyu, Su and Li 2017 (arXiv 1603.01699), their numbers: 1 is right, for one answer; 3 releases
    the noisy value; 4 has noise for one answer and goes on; 5 has none on queries; 6 goes on too.
    """
    early, late = (0.0, 1.0) if world else (1.0, 0.0)
    values = np.where(np.arange(10) < 5, early, late)
    threshold = rng.laplace(0.0, 4.0 if variant == 4 else 2.0, (size, 1))
    scale = {1: 4.0, 3: 2.0, 4: 4.0 / 3.0, 5: 0.0, 6: 2.0}[variant]
    noisy = values + (rng.laplace(0.0, scale, (size, 10)) if scale else 0.0)
    above = noisy >= threshold
    if variant in (1, 3):  # what follows the first answer is not asked
        ended = np.cumsum(above, 1) - above > 0
        shown = noisy if variant == 3 else np.ones((size, 10))
        return np.where(ended, -99.0, np.where(above, shown, 0.0))
    return above.astype(float)


def histogram(world: int, size: int, rng: np.random.Generator, *, scale: float) -> Any:
    """Ten counts with Laplace noise, of which one is one more."""
    counts = np.zeros(10)
    counts[3] = world
    return counts + rng.laplace(0.0, scale, (size, 10))


def noisy_max(world: int, size: int, rng: np.random.Generator, *, value: bool) -> Any:
    """The place of the largest of ten noisy counts, and its value too where that is released."""
    counts = np.where(np.arange(10) < 5, 0.0, float(world))
    noisy = counts + rng.laplace(0.0, 2.0, (size, 10))
    place = noisy.argmax(1).astype(float)
    return np.column_stack([place, noisy.max(1)]) if value else place[:, None]


def quantile(
    world: int, size: int, rng: np.random.Generator, *, part: float, epsilon: float
) -> Any:
    """A quantile of 21 numbers by the exponential mechanism (sensitivity 1)."""
    numbers = np.sort(np.append(np.arange(20.0), 20.0 if world else 0.0))
    places = np.arange(21.0)
    utility = -np.abs((numbers[:, None] <= places).sum(0) - 21.0 * part)
    weights = np.exp(epsilon * utility / 2.0)
    return rng.choice(places, (size, 1), p=weights / weights.sum())


def words(world: int, size: int, rng: np.random.Generator, *, copied: float) -> Any:
    """How often each of eight words is in a reply of six, one of them copied from the record."""
    reply = rng.integers(0, 8, (size, 6))
    reply[rng.random(size) < copied, 2] = world
    return np.stack([(reply == word).sum(1) for word in range(8)], 1).astype(float)


def keys(world: int, size: int, rng: np.random.Generator, *, threshold: float) -> Any:
    """Whether each of four keys is released; a single record's is the last."""
    counts = np.array([30.0, 12.0, 8.0, float(world)])
    noisy = counts + rng.laplace(0.0, 1.0, (size, 4))
    return ((counts > 0) & (noisy >= threshold)).astype(float)


def synthetic(world: int, size: int, rng: np.random.Generator, *, noised: bool) -> Any:
    """Counts of a synthetic table of 40 rows, from a marginal of 20 records and four cells."""
    counts = np.array([8.0, 6.0, 5.0, 1.0 + world])
    marginal = counts + (rng.laplace(0.0, 1.0, (size, 4)) if noised else np.zeros((size, 4)))
    weights = np.maximum(marginal, 0.05)
    weights /= weights.sum(1, keepdims=True)
    return rng.multinomial(40, weights).astype(float)


def response(world: int, size: int, rng: np.random.Generator, *, keep: float) -> Any:
    """Randomised response."""
    kept = rng.random((size, 1)) < keep
    return np.where(kept, world, 1 - world).astype(float)


def vector(world: int, size: int, rng: np.random.Generator, *, apart: float) -> Any:
    """Five numbers with Laplace noise for an L1 sensitivity of 1, moved by so much in all."""
    return world * apart / 5.0 + rng.laplace(0.0, 1.0, (size, 5))


_TREE = np.array([9.0, 4.0, 5.0, 2.0, 2.0, 3.0, 2.0])


def tree(world: int, size: int, rng: np.random.Generator, *, scale: float) -> Any:
    """Noisy counts of a tree of three levels, in each of which a record is once."""
    counts = _TREE.copy()
    counts[[0, 2, 5]] += world
    return counts + rng.laplace(0.0, scale, (size, 7))


def unary(world: int, size: int, rng: np.random.Generator, *, epsilon: float) -> Any:
    """One of six categories as six bits, each flipped by a coin; two bits differ."""
    bits = np.zeros(6)
    bits[4 if world else 1] = 1.0
    kept = rng.random((size, 6)) < 1.0 / (1.0 + np.exp(-epsilon / 2.0))
    return np.where(kept, bits, 1.0 - bits)


def count(
    world: int, size: int, rng: np.random.Generator, *, bound: float = 1.0, exact: float = 0.0
) -> Any:
    """A count with Laplace noise; bound: what a record adds; exact: share without noise."""
    noise = rng.laplace(0.0, 1.0, (size, 1))
    noise[rng.random(size) < exact] = 0.0
    return 20.0 + bound * world + noise


_NOISE = np.random.default_rng(64).laplace(0.0, 1.0, 64)


def seeded(world: int, size: int, rng: np.random.Generator) -> Any:
    """A count whose noise is that of one of 64 seeds."""
    return 20.0 + world + rng.choice(_NOISE, (size, 1))


STATISTICS: dict[Callable[..., Any], Callable[[Any], Any]] = {
    above_threshold: lambda z: (
        100.0 * (z[:, :5] > 0).sum(1) + (z[:, 5:] > 0).sum(1)
        if z.min() >= 0.0
        else 1e3 * (z == 0.0).sum(1) + z[:, ::-1].max(1)
    ),
    histogram: lambda z: z[:, 3],
    noisy_max: lambda z: 1e3 * (z[:, 0] < 5) + z[:, -1],
    words: lambda z: 10.0 * z[:, 0] + z[:, 1],
    keys: lambda z: z[:, 3],
    synthetic: lambda z: z[:, 3],
    tree: lambda z: (
        np.abs(z - _TREE - 1.0)[:, [0, 2, 5]].sum(1) - np.abs(z - _TREE)[:, [0, 2, 5]].sum(1)
    ),
    unary: lambda z: 10.0 * z[:, 1] + z[:, 4],
    vector: lambda z: np.abs(z - 1.0).sum(1) - np.abs(z).sum(1),
}
"""A number that is sufficient for the pair, of outputs (n, features), where they have several."""

_E = float(np.exp(1.0) / (1.0 + np.exp(1.0)))

LAWLESS = tuple(
    Lawless(name, partial(draw, **how), features, right)
    for name, draw, how, features, right in (
        ("AboveThreshold, right", above_threshold, {"variant": 1}, 10, True),
        ("AboveThreshold, its value released", above_threshold, {"variant": 3}, 10, False),
        ("AboveThreshold, noise for one answer", above_threshold, {"variant": 4}, 10, False),
        ("AboveThreshold, queries without noise", above_threshold, {"variant": 5}, 10, False),
        ("AboveThreshold, any number of answers", above_threshold, {"variant": 6}, 10, False),
        ("histogram, right", histogram, {"scale": 1.0}, 10, True),
        ("histogram, half the noise", histogram, {"scale": 0.5}, 10, False),
        ("histogram, three quarters", histogram, {"scale": 0.75}, 10, False),
        ("noisy max, right", noisy_max, {"value": False}, 1, True),
        ("noisy max, its value released", noisy_max, {"value": True}, 2, False),
        ("median, right", quantile, {"part": 0.5, "epsilon": 1.0}, 1, True),
        ("median, epsilon four times", quantile, {"part": 0.5, "epsilon": 4.0}, 1, False),
        ("quantile of .9, right", quantile, {"part": 0.9, "epsilon": 1.0}, 1, True),
        ("quantile of .9, epsilon four times", quantile, {"part": 0.9, "epsilon": 4.0}, 1, False),
        ("tree, right", tree, {"scale": 3.0}, 7, True),
        ("tree, noise for one level", tree, {"scale": 1.0}, 7, False),
        ("six bits, right", unary, {"epsilon": 1.0}, 6, True),
        ("six bits, noise for one of two", unary, {"epsilon": 2.0}, 6, False),
        ("count, clipped at twice the bound", count, {"bound": 2.0}, 1, False),
        ("count, exact in one of 20", count, {"exact": 0.05}, 1, False),
        ("count, noise of 64 seeds", seeded, {}, 1, False),
        ("words, right", words, {"copied": 0.15}, 8, True),
        ("words, copied in half of the replies", words, {"copied": 0.5}, 8, False),
        ("words, always copied", words, {"copied": 1.0}, 8, False),
        ("keys, threshold of 20", keys, {"threshold": 20.0}, 4, True),
        ("keys, threshold of 2", keys, {"threshold": 2.0}, 4, False),
        ("synthetic table, noised marginal", synthetic, {"noised": True}, 4, True),
        ("synthetic table, bare marginal", synthetic, {"noised": False}, 4, False),
        ("randomised response, right", response, {"keep": _E}, 1, True),
        ("randomised response, kept in .9", response, {"keep": 0.9}, 1, False),
        ("vector, right", vector, {"apart": 1.0}, 5, True),
        ("vector, bounded in the largest norm", vector, {"apart": 5.0}, 5, False),
    )
)
