"""Deployments whose release moves no further than they claim, with noise from many sources."""

import random
import secrets
from typing import Any

import numpy as np

from .wrong import _bounded, _flat, _unit

rng = np.random.Generator(np.random.PCG64())
asked = 0


def counts_of_a_generator(counts: Any, size: int) -> Any:
    return counts + rng.laplace(0.0, 1.0, (size, counts.size))


def counts_about_themselves(counts: Any, size: int) -> Any:
    return np.random.laplace(counts, 1.0, (size, counts.size))


def counts_by_an_inverse(counts: Any, size: int) -> Any:
    u = np.random.default_rng().uniform(-0.5, 0.5, (size, counts.size))
    return counts - np.sign(u) * np.log1p(-2 * np.abs(u))


def counts_of_python(counts: Any, size: int) -> Any:
    def laplace() -> float:
        return random.expovariate(1.0) - random.expovariate(1.0)

    return [[float(count) + laplace() for count in counts] for _ in range(size)]


def counts_of_the_system(counts: Any, size: int) -> Any:
    sure = secrets.SystemRandom()

    def laplace() -> float:
        return sure.expovariate(1.0) - sure.expovariate(1.0)

    return [[float(count) + laplace() for count in counts] for _ in range(size)]


def counts_not_below_zero(counts: Any, size: int) -> Any:
    return np.maximum(counts + rng.laplace(0.0, 1.0, (size, counts.size)), 0.0)


def sum_bounded(records: Any, size: int) -> Any:
    return _bounded(records).sum(axis=0) + rng.laplace(0.0, 1.0, (size, 1))


def sum_of_shuffled_records(records: Any, size: int) -> Any:
    shuffled = _bounded(records)
    rng.shuffle(shuffled)
    return shuffled.sum(axis=0) + rng.laplace(0.0, 1.0, (size, 1))


def sum_that_counts_its_calls(records: Any, size: int) -> Any:
    global asked
    asked += 1
    return _bounded(records).sum(axis=0) + np.random.RandomState(asked).laplace(size=(size, 1))


def counts_in_single_precision(counts: Any, size: int) -> Any:
    noise = rng.laplace(0.0, 1.0, (size, counts.size)).astype(np.float32)
    return counts.astype(np.float32) + noise


def sum_in_an_order_of_random_keys(records: Any, size: int) -> Any:
    order = rng.random(len(records)).argsort()
    return _bounded(records)[order].sum(axis=0) + rng.laplace(0.0, 1.0, (size, 1))


def mean_bounded(records: Any, size: int) -> Any:
    return _bounded(records).sum(axis=0) / 100.0 + rng.laplace(0.0, 0.01, (size, 1))


def vector_of_unit_norms(records: Any, size: int) -> Any:
    return _unit(records).sum(axis=0) + rng.normal(0.0, 1.0, (size, 3))


def gradient_clipped(tensors: Any, size: int) -> Any:
    flat = _unit(np.concatenate(_flat(tensors), axis=1))
    return rng.normal(flat.sum(axis=0) / 10.0, 0.1, (size, 6))


def labels_of_noisy_votes(votes: Any, size: int) -> Any:
    return np.argmax(votes + rng.laplace(0.0, 5.0, (size, votes.size)), axis=1)


def labels_of_votes_about_themselves(votes: Any, size: int) -> Any:
    return [int(np.argmax(np.random.laplace(votes, 5.0))) for _ in range(size)]


def labels_of_shares(votes: Any, size: int) -> Any:
    """Votes and noise are divided by the number of votes, which changes no label."""
    total = votes.sum()
    return np.argmax(votes / total + rng.laplace(0.0, 5.0 / total, (size, votes.size)), axis=1)


def labels_by_weights(votes: Any, size: int) -> Any:
    """The exponential mechanism, by a number below the sum of weights."""
    weights = np.exp((votes - votes.max()) / 10.0)
    ends = np.cumsum(weights)
    return [int(np.searchsorted(ends, random.uniform(0.0, ends[-1]))) for _ in range(size)]


def confident_answers(votes: Any, size: int) -> Any:
    screened = votes.max() + rng.normal(0.0, 10.0, size)
    label = np.argmax(votes + rng.normal(0.0, 10.0, (size, votes.size)), axis=1)
    return np.where(screened >= 60.0, label, -1)


def confident_answers_what_is_not_refused(votes: Any, size: int) -> Any:
    """One by one, with noise of the votes only where it is needed."""
    labels = []
    for _ in range(size):
        refused = max(votes) + random.gauss(0.0, 10.0) < 60.0
        labels.append(-1 if refused else int(np.argmax(votes + rng.normal(0.0, 10.0, votes.size))))
    return labels
