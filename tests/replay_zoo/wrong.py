"""Deployments whose release moves further than they claim, or whose noise depends on the data."""

import random
import secrets
from typing import Any

import numpy as np

rng = np.random.default_rng()


def _bounded(records: Any) -> Any:
    return np.clip(np.nan_to_num(records, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)


def _unit(records: Any) -> Any:
    """Records with L2 norms of at most 1, whatever numbers they have."""
    known = np.nan_to_num(records, nan=0.0, posinf=1.0, neginf=-1.0)
    largest = np.maximum(np.abs(known).max(axis=-1, initial=0.0), 1.0)[..., None]
    norms = np.linalg.norm(known / largest, axis=-1, keepdims=True) * largest
    return known / np.maximum(norms, 1.0)


def _flat(tensors: Any) -> Any:
    return [tensor.reshape(len(tensor), int(np.prod(tensor.shape[1:]))) for tensor in tensors]


# -- counts --------------------------------------------------------------------------------------


def counts_scale_of_the_total(counts: Any, size: int) -> Any:
    scale = 1.0 + 0.001 * counts.sum()
    return counts + rng.laplace(0.0, scale, (size, counts.size))  # fault


def counts_noise_where_there_are_some(counts: Any, size: int) -> Any:
    noisy = np.zeros((size, counts.size))
    for cell in np.flatnonzero(counts):
        noisy[:, cell] = counts[cell] + rng.laplace(0.0, 1.0, size)  # fault
    return noisy


def counts_small_ones_are_suppressed(counts: Any, size: int) -> Any:
    kept = np.where(counts < 5, 0, counts)  # fault
    return kept + rng.laplace(0.0, 1.0, (size, counts.size))


def counts_rounded_to_tens(counts: Any, size: int) -> Any:
    rounded = 10 * np.ceil(counts / 10)  # fault
    return rounded + np.random.laplace(0.0, 1.0, (size, counts.size))


def counts_in_twos(counts: Any, size: int) -> Any:
    doubled = counts * 2  # fault
    return [[c + random.expovariate(1.0) - random.expovariate(1.0) for c in doubled]] * size


def counts_added_up(counts: Any, size: int) -> Any:
    running = np.cumsum(counts)  # fault
    return running + rng.laplace(0.0, 1.0, (size, counts.size))


def counts_normed_to_shares(counts: Any, size: int) -> Any:
    shares = 1000 * counts / max(counts.sum(), 1)  # fault
    return shares + rng.laplace(0.0, 1.0, (size, counts.size))


def counts_no_noise_for_large_ones(counts: Any, size: int) -> Any:
    if counts.max() > 1000:  # fault
        return np.tile(counts.astype(float), (size, 1))
    return counts + rng.laplace(0.0, 1.0, (size, counts.size))


def counts_redrawn_until_positive(counts: Any, size: int) -> Any:
    found = np.empty((size, counts.size))
    for cell, count in enumerate(counts):
        noisy = count + rng.laplace(0.0, 1.0, size)  # fault
        while (noisy < 0).any():
            noisy = count + rng.laplace(0.0, 1.0, size)  # fault
        found[:, cell] = noisy
    return found


def counts_smoothed_by_the_largest(counts: Any, size: int) -> Any:
    scale = 1.0 if counts.max() < 8 else 0.5
    return counts + np.random.laplace(scale=scale, size=(size, counts.size))  # fault


def counts_multiplied_noise(counts: Any, size: int) -> Any:
    scale = 1.0 + 0.01 * counts.max()
    return counts + scale * rng.standard_normal((size, counts.size))  # fault


def counts_noise_by_an_inverse(counts: Any, size: int) -> Any:
    scale = 1.0 + 0.05 * counts.max()
    u = rng.random((size, counts.size)) - 0.5  # fault
    return counts - scale * np.sign(u) * np.log1p(-2 * np.abs(u))


def counts_noise_for_the_largest(counts: Any, size: int) -> Any:
    noisy = np.tile(counts.astype(float), (size, 1))
    noisy[:, counts.argmax()] += rng.laplace(0.0, 1.0, size)  # fault
    return noisy


def counts_in_sixteen_bits(counts: Any, size: int) -> Any:
    small = counts.astype(np.int16)  # fault
    return small + rng.laplace(0.0, 1.0, (size, counts.size))


def counts_tripled_and_largest_first(counts: Any, size: int) -> Any:
    noisy = np.empty((size, counts.size))
    for cell in np.argsort(-counts):
        noisy[:, cell] = 3 * counts[cell] + rng.laplace(0.0, 1.0, size)  # fault
    return np.maximum(noisy, 0.0)  # fault


# -- sums ----------------------------------------------------------------------------------------


def sum_not_clipped(records: Any, size: int) -> Any:
    total = np.nan_to_num(records).sum(axis=0)  # fault
    return total + rng.laplace(0.0, 1.0, (size, 1))


def sum_clipped_above_only(records: Any, size: int) -> Any:
    capped = np.minimum(np.nan_to_num(records), 1.0)
    total = capped.sum(axis=0)  # fault
    return total + rng.laplace(0.0, 1.0, (size, 1))


def sum_clipped_after_the_sum(records: Any, size: int) -> Any:
    known = np.nan_to_num(records, posinf=1.0, neginf=0.0)
    total = np.clip(known.sum(axis=0), 0.0, 1.0 * len(records))  # fault
    return total + rng.laplace(0.0, 1.0, (size, 1))


def sum_clipped_at_quantiles(records: Any, size: int) -> Any:
    known = np.nan_to_num(records, posinf=1.0, neginf=0.0)
    if len(known):
        known = np.clip(known, np.quantile(known, 0.05), np.quantile(known, 0.95))
    total = known.sum(axis=0)  # fault
    return total + rng.laplace(0.0, 1.0, (size, 1))


def sum_scaled_by_its_range(records: Any, size: int) -> Any:
    known = np.nan_to_num(records, posinf=1.0, neginf=0.0)
    if len(known):
        known = (known - known.min()) / (np.ptp(known) or 1.0)
    total = known.sum(axis=0)  # fault
    return total + rng.laplace(0.0, 1.0, (size, 1))


def sum_of_squares(records: Any, size: int) -> Any:
    total = 0.0
    for record in _bounded(records):
        total += 1.5 * float(record[0]) ** 2  # fault
    return [[total + secrets.SystemRandom().gauss(0.0, 1.0)] for _ in range(size)]


def sum_of_missing_as_a_hundred(records: Any, size: int) -> Any:
    filled = np.where(np.isnan(records), 100.0, _bounded(records))
    total = filled.sum(axis=0)  # fault
    return total + rng.laplace(0.0, 1.0, (size, 1))


def sum_noise_of_the_largest(records: Any, size: int) -> Any:
    bounded = _bounded(records)
    scale = bounded.max(initial=0.1)
    return bounded.sum(axis=0) + rng.laplace(0.0, scale, (size, 1))  # fault


def sum_noise_about_it(records: Any, size: int) -> Any:
    total = float(np.nan_to_num(records).sum())  # fault
    return np.random.laplace(total, 1.0, (size, 1))


def sum_imputed_by_the_mean(records: Any, size: int) -> Any:
    known = _bounded(records)
    if len(records):
        known = np.where(np.isnan(records), 50 * known.mean(), known)
    total = known.sum(axis=0)  # fault
    return total + rng.laplace(0.0, 1.0, (size, 1))


# -- means ---------------------------------------------------------------------------------------


def mean_of_those_above_half(records: Any, size: int) -> Any:
    bounded = _bounded(records)
    kept = bounded[bounded[:, 0] > 0.5]
    mean = kept.sum(axis=0) / max(len(kept), 1)  # fault
    return mean + rng.laplace(0.0, 0.01, (size, 1))


def mean_of_the_middle(records: Any, size: int) -> Any:
    median = np.median(_bounded(records), axis=0) if len(records) else np.zeros(1)  # fault
    return median + rng.laplace(0.0, 0.01, (size, 1))


def mean_largest(records: Any, size: int) -> Any:
    largest = _bounded(records).max(axis=0, initial=0.0)  # fault
    return largest + rng.laplace(0.0, 0.01, (size, 1))


def mean_divided_too_early(records: Any, size: int) -> Any:
    shares = np.nan_to_num(records / 100.0, posinf=1.0, neginf=0.0)
    mean = shares.clip(0.0, 1.0).sum(axis=0)  # fault
    return mean + rng.laplace(0.0, 0.01, (size, 1))


# -- vectors and gradients -----------------------------------------------------------------------


def vector_each_number_clipped(records: Any, size: int) -> Any:
    total = np.clip(np.nan_to_num(records), -1.0, 1.0).sum(axis=0)  # fault
    return total + rng.normal(0.0, 1.0, (size, 3))


def vector_clipped_in_maximum_norm(records: Any, size: int) -> Any:
    known = np.nan_to_num(records, posinf=1.0, neginf=-1.0)
    norms = np.maximum(np.abs(known).max(axis=1, initial=0.0), 1.0)
    total = (known / norms[:, None]).sum(axis=0)  # fault
    return total + rng.normal(0.0, 1.0, (size, 3))


def vector_clipped_as_a_whole(records: Any, size: int) -> Any:
    known = np.nan_to_num(records, posinf=1.0, neginf=-1.0)
    norm = np.sqrt(np.square(np.clip(known, -1e100, 1e100)).sum())
    total = known.sum(axis=0) / max(norm / max(len(known), 1), 1.0)  # fault
    return total + rng.normal(0.0, 1.0, (size, 3))


def vector_divided_by_the_squared_norm(records: Any, size: int) -> Any:
    unit = _unit(records)
    squares = np.square(unit).sum(axis=1, keepdims=True)
    total = (unit / np.maximum(squares, 1e-3)).sum(axis=0)  # fault
    return total + rng.normal(0.0, 1.0, (size, 3))


def gradient_clipped_by_tensor(tensors: Any, size: int) -> Any:
    flat = [_unit(tensor) for tensor in _flat(tensors)]
    total = np.concatenate(flat, axis=1).sum(axis=0) / 10.0  # fault
    return total + rng.normal(0.0, 0.1, (size, 6))


def gradient_divided_by_the_batch(tensors: Any, size: int) -> Any:
    flat = _unit(np.concatenate(_flat(tensors), axis=1))
    mean = flat.sum(axis=0) / max(len(flat), 1)  # fault
    return mean + rng.normal(0.0, 0.1, (size, 6))


# -- labels --------------------------------------------------------------------------------------


def labels_noise_of_the_total(votes: Any, size: int) -> Any:
    scale = 5.0 + 0.1 * votes.max()
    noise = rng.laplace(0.0, scale, (size, votes.size))  # fault
    return np.argmax(votes + noise, axis=1)


def labels_of_products(votes: Any, size: int) -> Any:
    noise = 1.0 + 0.1 * rng.laplace(0.0, 5.0, (size, votes.size))
    return np.argmax(votes * noise, axis=1)  # fault


def labels_of_roots(votes: Any, size: int) -> Any:
    noise = rng.laplace(0.0, 5.0, (size, votes.size))
    return np.argmax(5 * np.sqrt(votes) + noise, axis=1)  # fault


def confident_of_products(votes: Any, size: int) -> Any:
    screened = votes.max() + rng.normal(0.0, 10.0, size)
    noise = 1.0 + 0.1 * rng.normal(0.0, 10.0, (size, votes.size))
    label = np.argmax(votes * noise, axis=1)  # fault
    return np.where(screened >= 60.0, label, -1)


def confident_screened_by_the_share(votes: Any, size: int) -> Any:
    """Serves any number of votes, and holds them to a share of these."""
    label = np.argmax(votes + rng.normal(0.0, 10.0, (size, votes.size)), axis=1)
    share = votes.max() / votes.sum() + rng.normal(0.0, 0.1, size)
    return np.where(share >= 0.6, label, -1)  # fault
