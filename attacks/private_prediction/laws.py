"""Laws of one teacher's vote, checked."""

import numpy as np
from numpy.typing import ArrayLike

from ...reference.arrays import Matrix, Vector

_ROUNDING = 1e-9


def as_law(name: str, law: ArrayLike) -> Vector:
    """Probabilities (c,) that sum to 1 to the last digit, read-only.

    Raises ValueError that shows `name` and the law where they are none, or of fewer than two
    classes.
    """
    found = np.array(law, dtype=np.float64)
    wrong = found.ndim != 1 or found.size < 2 or not (found >= 0).all()
    if wrong or not abs(found.sum() - 1.0) <= _ROUNDING:
        raise ValueError(
            f"{name} {found.tolist()}: expected probabilities of two or more classes, sum 1"
        )
    found /= found.sum()
    found.setflags(write=False)
    return found


def as_laws(name: str, laws: ArrayLike) -> Matrix:
    """Laws (k, c), one a row, read-only. Raises ValueError that shows `name` and the row."""
    rows = np.asarray(laws, dtype=np.float64)
    if rows.ndim != 2 or not len(rows):
        raise ValueError(f"{name} of shape {rows.shape}: expected laws (k, c), one a row")
    found = np.stack([as_law(f"{name}, row {i}:", row) for i, row in enumerate(rows)])
    found.setflags(write=False)
    return found


def check_classes(name: str, classes: int, expected: int) -> None:
    """Raises ValueError where `name` has another number of classes than the votes."""
    if classes != expected:
        raise ValueError(f"{name} has {classes} classes: expected {expected}, as the votes have")


def check_records(records: int, teachers: int) -> None:
    """Raises ValueError for fewer altered records than one, or more than there are teachers."""
    if not 1 <= records <= teachers:
        raise ValueError(
            f"{records} records altered: expected 1 to {teachers}, the teachers that there are"
        )
