"""What an earlier run of numbers opened with: releases to compare with those of another start."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Matrix, Vector
from ...findings.opening import EarlierReportError, opening_of
from ...findings.report import ReleasesOpening
from ...targets.replies import shown
from .claim import NumbersClaim

KEPT = 64
"""Numbers of a release that are compared, the first ones: more would prove no more."""


class NumbersOpening(ReleasesOpening):
    """The first calls of a run, all of one input: its exact numbers (k,), and releases (n, k)."""

    @classmethod
    def of(cls, exact: Vector, releases: Matrix) -> "NumbersOpening":
        """The first numbers of exact ones (d,) that are known, and of releases (n, d)."""
        known = _first_known(exact)
        first = np.nan_to_num(releases[:, known])  # a table may lack some
        return cls(exact=tuple(exact[known].tolist()), releases=tuple(map(tuple, first.tolist())))

    @property
    def as_releases(self) -> Matrix:
        """The releases as an array (n, k)."""
        return np.array(self.releases, dtype=np.float64)


def read_numbers_opening(path: str | Path, claim: NumbersClaim, exact: Vector) -> NumbersOpening:
    """The opening of an earlier report under the same mechanism.

    path: of a report.json, or of the folder that holds it; exact (d,): behind this run's first
    calls. Raises EarlierReportError of one line.
    """
    opening = opening_of(path, claim.model_dump(mode="json", exclude_none=True))
    ours = exact[_first_known(exact)].tolist()
    found = opening.get("exact") if isinstance(opening, dict) else opening
    if found != ours:
        raise EarlierReportError(
            f"--compare {path}: the report opens with {shown(found)}, and this run with "
            f"{shown(ours)}: only releases of one input can be compared"
        )
    releases = opening.get("releases")
    if not isinstance(releases, list) or not releases or not _numbers(releases, len(ours)):
        raise EarlierReportError(
            f"--compare {path}: opening.releases = {shown(releases)}: expected lists of "
            f"{len(ours)} finite numbers"
        )
    return NumbersOpening(exact=tuple(ours), releases=tuple(map(tuple, releases)))


def _first_known(exact: Vector) -> NDArray[np.int64]:
    """Places of the numbers that are compared: a table does not fix all exact ones."""
    return np.flatnonzero(np.isfinite(exact))[:KEPT]


def _numbers(rows: Sequence[Any], width: int) -> bool:
    return all(
        isinstance(row, list)
        and len(row) == width
        and all(type(y) in (int, float) and abs(y) < 1e308 for y in row)
        for row in rows
    )
