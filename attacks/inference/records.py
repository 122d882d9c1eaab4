"""What attacks say of records, and the truth: arrays that fit, of either kind."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference.arrays import Vector


def scored(scores: ArrayLike, positive: ArrayLike) -> tuple[Vector, NDArray[np.bool_]]:
    """Scores (n,) and the truth (n,) of bool. Raises ValueError in one line, as `called` does."""
    values = np.asarray(scores, dtype=np.float64)
    truth = _truth(values.shape, positive)
    if np.isnan(values).any():
        raise ValueError(f"score {int(np.isnan(values).argmax())} is NaN: expected a number")
    return values, truth


def called(flagged: ArrayLike, positive: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who is flagged (n,) and the truth (n,), both of bool."""
    calls = np.asarray(flagged)
    if calls.dtype != np.bool_:
        raise ValueError(f"flagged of type {calls.dtype}: expected bool")
    return calls, _truth(calls.shape, positive)


def _truth(shape: tuple[int, ...], positive: ArrayLike) -> NDArray[np.bool_]:
    truth = np.asarray(positive)
    if truth.dtype != np.bool_:
        raise ValueError(f"positive of type {truth.dtype}: expected bool")
    if truth.shape != shape or truth.ndim != 1:
        raise ValueError(f"positive of shape {truth.shape} for {shape}: expected (n,) of both")
    if truth.all() or not truth.any():
        kind = "positive" if truth.any() else "others"
        raise ValueError(f"{truth.size} records, all {kind}: expected some of either kind")
    return truth
