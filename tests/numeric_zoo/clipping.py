"""Records beyond the bounds that are not clipped as claimed."""

from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation

from .claims import BALL, COUNT, DIAMOND, GRADIENT, REPLACED, SUM
from .shelf import Rng, Shelf, noisy

SHELF = Shelf()
broken = SHELF.broken


@broken(SUM, "clipping", source="smartnoise-sdk #622: computed from unclipped data")
def not_clipped(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return np.asarray(values).sum(0) + rng.laplace(scale=2.0, size=(size, 3))


@broken(BALL, "clipping", source="pipeline-dp before 0.3.1, #551")
def clipped_after_the_sum(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    total = np.asarray(values).sum(0)
    norm = np.linalg.norm(total / np.abs(total).max(initial=1.0)) * np.abs(total).max(initial=1.0)
    return total * min(1.0, 24.0 / max(norm, 1e-9)) + rng.normal(scale=2.0, size=(size, 4))


@broken(SUM, "clipping", source="flwr 1.41.0 (seen): NaN survives clipping")
def not_a_number_survives(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    total = np.clip(np.array(values), -1.0, 1.0).sum(0)
    return total + rng.laplace(scale=2.0, size=(size, 3))


@broken(GRADIENT, "sensitivity", source="Fed-BioMed #1443: clipped tensor by tensor")
def clipped_tensor_by_tensor(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    parts = []
    for tensor in values:
        flat = np.array(tensor, dtype=float).reshape(len(tensor), -1)
        if not np.isfinite(flat).all():
            raise ValueError("expected finite numbers")
        largest = np.maximum(np.abs(flat).max(1, keepdims=True), 1.0)
        unit = flat / largest
        length = np.linalg.norm(unit, axis=1, keepdims=True)
        factor = np.minimum(largest, 1.0 / np.maximum(length, 1e-300))
        parts.append((unit * factor).sum(0))
    return np.concatenate(parts) / 32 + rng.normal(scale=1.1 / 32, size=(size, 15))


@broken(DIAMOND, "sensitivity", source="each number clipped where a norm is claimed")
def a_box_for_a_norm(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    records = np.clip(np.nan_to_num(np.array(values)), -1.0, 1.0)
    return records.sum(0) + rng.laplace(scale=2.0, size=(size, 6))


@broken(BALL, "clipping", "sensitivity", source="opacus <= 1.5.2, PR 664: the norm's bound ignored")
def clipped_at_five_times_the_bound(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    records = np.nan_to_num(np.array(values), nan=0.0, posinf=1e3, neginf=-1e3)
    largest = np.abs(records).max(1, keepdims=True, initial=1e-300)
    unit = records / largest
    length = np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300)
    clipped = unit * np.minimum(largest, 5.0 / length)
    return clipped.sum(0) + rng.normal(scale=2.0, size=(size, 4))


@broken(REPLACED, "clipping", "sensitivity", source="a lower bound of 0 taken for -2")
def bounds_of_both_signs(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    records = np.clip(np.nan_to_num(np.array(values)), -2.0, 2.0)
    return records.sum(0) + rng.laplace(scale=2.0, size=(size, 1))


@broken(GRADIENT, "clipping", source="squeeze() takes a single record's numbers for records")
def a_single_record_clipped_by_numbers(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    if len(values[0]) != 1:
        return noisy(of, rng, values, size)
    record = np.concatenate([np.ravel(tensor) for tensor in values])
    if not np.isfinite(record).all():
        raise ValueError("expected finite numbers")
    return np.clip(record, -1.0, 1.0) / 32 + rng.normal(scale=1.1 / 32, size=(size, 15))


@broken(COUNT, "noise-law", "location", source="flwr 1.41.0 (seen): weighted by examples")
def counts_weighted_by_themselves(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    weighted = np.asarray(values) * 2
    return noisy(of, rng, weighted, size)
