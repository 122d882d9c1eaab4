"""Vote histograms: validation, tallying, consensus and the neighbouring relation."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Histogram = NDArray[np.int64]

_MOST = 2**53  # votes that a float64 still tells apart


def as_histogram(votes: ArrayLike) -> Histogram:
    """`votes` as an int64 array of shape (c,), checked.

    votes: teachers' votes per class, non-negative whole numbers, at least two classes.
    Raises ValueError that shows the offending value and its class.
    """
    try:
        array = np.asarray(votes)
    except ValueError:
        raise ValueError(f"histogram {votes!r}: expected one row of votes per class") from None
    if array.ndim != 1:
        raise ValueError(
            f"histogram of shape {array.shape}: expected one dimension, votes per class"
        )
    if array.size < 2:
        raise ValueError(f"histogram {array.tolist()}: expected at least two classes")
    if array.dtype.kind not in "iuf":
        raise ValueError(f"histogram {array.tolist()}: expected whole numbers, not {array.dtype}")
    if array.dtype.kind == "f":
        _refuse(array, ~np.isfinite(array), "a finite number")
        _refuse(array, array != np.floor(array), "a whole number")
    _refuse(array, array < 0, "at least 0")
    _refuse(array, array > _MOST, "at most 2^53")
    return array.astype(np.int64)


def _refuse(array: NDArray[np.generic], bad: NDArray[np.bool_], expected: str) -> None:
    if bad.any():
        label = int(np.argmax(bad))
        raise ValueError(
            f"histogram has {array[label]} votes for class {label}: expected {expected}"
        )


def parse_histogram(text: str) -> Histogram:
    """The histogram written as `12,7,6,30`. Raises ValueError that shows the offending part."""
    votes = []
    shown = repr(text if len(text) <= 300 else f"{text[:297]}...")
    for part in text.split(","):
        try:
            votes.append(int(part))
        except ValueError:
            raise ValueError(
                f"histogram {shown}: {part.strip()[:60]!r} is not a whole number of votes"
            ) from None
        if votes[-1] > _MOST:
            raise ValueError(f"histogram {shown}: {part.strip()[:60]} votes are more than 2^53")
    return as_histogram(votes)


def consensus(histogram: ArrayLike) -> float:
    """Share of the teachers who voted for the leading class: max(H) / N, 0 without votes."""
    votes = as_histogram(histogram)
    total = int(votes.sum())
    return float(votes.max() / total) if total else 0.0


def neighbours(histogram: ArrayLike) -> Iterator[Histogram]:
    """Every histogram that one teacher's changed vote makes of `histogram`: H - e_i + e_j."""
    votes = as_histogram(histogram)
    yield from neighbours_among(votes, range(votes.size))


def neighbours_among(
    votes: Histogram, classes: Sequence[int], most: int = 1
) -> Iterator[Histogram]:
    """The histograms (c,) by `most` votes, or all there are, moved between two of some classes."""
    for source in classes:
        many = min(most, int(votes[source]))
        for destination in classes:
            if source != destination and many:
                moved = votes.copy()
                moved[source] -= many
                moved[destination] += many
                yield moved


def tally(votes: ArrayLike, classes: int) -> Histogram:
    """The histogram (c,) of one query's votes.

    votes: each teacher's label, shape (teachers,), values 0..classes-1; or one-hot rows, shape
    (teachers, classes). Raises ValueError that shows the offending vote and its teacher.
    """
    array = np.asarray(votes)
    if array.ndim == 2:
        if array.shape[1] != classes:
            raise ValueError(f"votes of shape {array.shape}: expected (teachers, {classes})")
        one_hot = ((array == 0) | (array == 1)).all(1) & (array.sum(1) == 1)
        if not one_hot.all():
            teacher = int(np.argmin(one_hot))
            raise ValueError(
                f"teacher {teacher} voted {array[teacher].tolist()}: expected one 1, rest 0"
            )
        return np.asarray(array.sum(0), dtype=np.int64)
    if array.ndim != 1:
        raise ValueError(
            f"votes of shape {array.shape}: expected (teachers,) or (teachers, {classes})"
        )
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"votes of type {array.dtype}: expected whole labels")
    bad = (array < 0) | (array >= classes)
    if bad.any():
        teacher = int(np.argmax(bad))
        raise ValueError(
            f"teacher {teacher} voted {array[teacher]}: expected a label from 0 to {classes - 1}"
        )
    return np.bincount(array.astype(np.int64), minlength=classes).astype(np.int64)
