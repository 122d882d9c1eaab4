"""Correct deployments in which the data decide what is drawn when, and their law does not.

Played back in the order of the draws, their noise moves with the data.
"""

import hashlib
import math
import os
import random
from collections import Counter
from typing import Any

import numpy as np

from .wrong import _bounded, _unit

rng = np.random.default_rng()


def counts_largest_first(counts: Any, size: int) -> Any:
    noisy = np.empty((size, counts.size))
    for cell in np.argsort(-counts):
        noisy[:, cell] = counts[cell] + rng.laplace(0.0, 1.0, size)
    return noisy


def counts_most_common_first(counts: Any, size: int) -> Any:
    def laplace() -> float:
        return random.expovariate(1.0) - random.expovariate(1.0)

    found = {k: n + laplace() for k, n in Counter(dict(enumerate(counts.tolist()))).most_common()}
    return [[found[k] for k in range(counts.size)]] * size


def counts_empty_ones_apart(counts: Any, size: int) -> Any:
    noisy, some = np.empty((size, counts.size)), counts > 0
    noisy[:, some] = counts[some] + rng.laplace(0.0, 1.0, (size, int(some.sum())))
    noisy[:, ~some] = rng.laplace(0.0, 1.0, (size, int((~some).sum())))
    return noisy


def counts_by_a_hash_of_the_query(counts: Any, size: int) -> Any:
    """Noise that an equal query would get again, as long as the secret is kept."""
    secret, noisy = os.urandom(16), []
    for cell, count in enumerate(counts.tolist()):
        hashed = hashlib.sha256(secret + f"{cell},{count}".encode()).digest()
        u = (int.from_bytes(hashed[:7]) + 0.5) / 2**56 - 0.5
        noisy.append(count - math.copysign(math.log1p(-2 * abs(u)), u))
    return [noisy] * size


def counts_turned_noise(counts: Any, size: int) -> Any:
    noise = rng.laplace(0.0, 1.0, (size, counts.size))
    return counts + (noise if counts[0] > counts[-1] else noise[:, ::-1])


def counts_into_a_buffer(counts: Any, size: int) -> Any:
    buffer = np.empty((2, size, counts.size))
    rng.standard_exponential(out=buffer)
    return counts + buffer[0] - buffer[1]


def sum_in_an_order_of_normal_keys(records: Any, size: int) -> Any:
    order = rng.standard_normal(len(records)).argsort()
    return _bounded(records)[order].sum(axis=0) + rng.laplace(0.0, 1.0, (size, 1))


def sum_of_a_mean(records: Any, size: int) -> Any:
    many = max(len(records), 1)
    mean = _bounded(records).sum(axis=0) / many
    return many * (mean + rng.laplace(0.0, 1.0 / many, (size, 1)))


def vector_with_a_share_of_noise_each(records: Any, size: int) -> Any:
    many = max(len(records), 1)
    shares = rng.standard_normal((many, size, 3)) / math.sqrt(many)
    return _unit(records).sum(axis=0) + shares.sum(axis=0)


def labels_largest_first(votes: Any, size: int) -> Any:
    order = np.argsort(-votes)
    return [int(order[np.argmax(votes[order] + rng.laplace(0.0, 5.0, votes.size))])] * size


def labels_over_the_largest(votes: Any, size: int) -> Any:
    most = max(votes.max(), 1)
    return np.argmax(votes / most + rng.laplace(0.0, 5.0 / most, (size, votes.size)), axis=1)
