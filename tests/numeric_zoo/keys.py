"""Aggregators that release keys, broken and correct, for the shelves of `numeric_zoo`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.reference.numbers import ThresholdedHistogram

from .shelf import Aggregate, Make, Rng, Shelf

SHELF = Shelf()
broken, correct = SHELF.broken, SHELF.correct

KEYS = (
    'name = "thresholded-histogram"\nnoise = "laplace:2"\nadjacency = "add-remove"\n'
    "cells = 100\nthreshold = 40"
)
COARSE = "\n[gate]\nsmallest_effect = 0.1\ntolerance = 0.2"
ORDERED = (
    KEYS.replace("cells = 100", "cells = 12")
    + "\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\nqueries = 1"
)


def _listed(keys: Any) -> list[dict[str, int]]:
    return [{"key": int(key)} for key in keys]


@correct(KEYS + COARSE, ORDERED + COARSE)
def keys_as_claimed(of: ThresholdedHistogram, rng: Rng, counts: Any, size: int) -> Any:
    return [_listed(keys) for keys in of.sample(counts, size, rng)]


@correct(ORDERED + COARSE)
def keys_in_the_order_of_noisy_counts(
    of: ThresholdedHistogram, rng: Rng, counts: Any, size: int
) -> Any:
    replies = []
    for row in of.noise.sample(np.asarray(counts, dtype=float), size, rng):
        keys = np.flatnonzero((row >= of.threshold) & (counts > 0))
        replies.append(_listed(keys[np.argsort(-row[keys])]))
    return replies


@correct(KEYS + COARSE)
def a_generator_for_each_input(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
    kept: dict[bytes, np.random.Generator] = {}

    def aggregate(counts: Any, size: int) -> Any:
        own = kept.setdefault(counts.tobytes(), rng.spawn(1)[0])
        return [_listed(keys) for keys in of.sample(counts, size, own)]

    return aggregate


@broken(KEYS, "partition-release", source="a limit of rows, ordered by exact counts")
def the_largest_fifty_keys_alone(of: ThresholdedHistogram, rng: Rng, counts: Any, size: int) -> Any:
    kept = np.zeros(counts.size, dtype=bool)
    kept[np.argsort(-counts, kind="stable")[: counts.size // 2]] = True
    return [_listed(k for k in keys if kept[k]) for keys in of.sample(counts, size, rng)]


def _ordered_by(coarse: Callable[[Any], Any]) -> Make:
    def make(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
        def aggregate(counts: Any, size: int) -> Any:
            order = np.argsort(-coarse(counts), kind="stable")
            return [_listed(order[np.isin(order, k)]) for k in of.sample(counts, size, rng)]

        return aggregate

    return make


@broken(ORDERED, "privacy-audit", source="ordered by exact counts, cut to tens")
def keys_ordered_by_tens(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
    return _ordered_by(lambda counts: np.asarray(counts) // 10)(of, rng)


@broken(ORDERED, "privacy-audit", source="ordered by exact counts, rounded to hundreds")
def keys_ordered_by_hundreds(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
    return _ordered_by(lambda counts: np.round(np.asarray(counts) / 100.0))(of, rng)


@broken(ORDERED, "privacy-audit", source="ordered by the bits of exact counts")
def keys_ordered_by_bits(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
    return _ordered_by(lambda counts: np.floor(np.log2(np.maximum(counts, 1))))(of, rng)


@broken(KEYS, "fresh-noise", source="a generator for each data set, all of one seed")
def one_seed_for_every_input(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
    seed, kept = int(rng.integers(1 << 32)), dict[bytes, np.random.Generator]()

    def aggregate(counts: Any, size: int) -> Any:
        own = kept.setdefault(counts.tobytes(), np.random.default_rng(seed))
        return [_listed(keys) for keys in of.sample(counts, size, own)]

    return aggregate


@broken(KEYS, "fresh-noise", source="a seed of the time, in steps as long as two calls")
def one_seed_for_two_calls(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
    first, made = int(rng.integers(1 << 32)), [0]

    def aggregate(counts: Any, size: int) -> Any:
        own = np.random.default_rng([first, made[0] // 2])
        made[0] += 1
        return [_listed(keys) for keys in of.sample(counts, size, own)]

    return aggregate


SELECTED = (
    'name = "thresholded-histogram"\nnoise = "laplace:1"\nadjacency = "add-remove"\n'
    "cells = 100\nthreshold = 8"
)


@broken(SELECTED, "partition-release", source="pipeline-dp's own selection, under another claim")
def selected_by_a_truncated_geometric_law(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
    rates, delta = [0.0], 0.5 * float(np.exp(-7.0))
    while rates[-1] < 1.0:
        q = rates[-1]
        rates.append(min(np.e * q + delta, 1.0 - (1.0 - q - delta) / np.e, 1.0))

    def aggregate(counts: Any, size: int) -> Any:
        chance = np.array(rates)[np.minimum(counts, len(rates) - 1)]
        there = rng.random((size, chance.size)) < chance
        return [_listed(np.flatnonzero(row)) for row in there]

    return aggregate


@broken(SELECTED, "partition-release", source="a limit of rows in no order at all")
def a_fifth_of_the_keys_left_out(of: ThresholdedHistogram, rng: Rng, counts: Any, size: int) -> Any:
    return [_listed(keys[rng.random(keys.size) >= 0.2]) for keys in of.sample(counts, size, rng)]
