"""What a deployment was asked, row by row, as arrays: there may be millions."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...reference import REFUSAL
from .histogram_file import Asked


@dataclass(frozen=True)
class AskedRows:
    """Histograms (m, c), in the order they were asked, and what was released for each.

    labels: (m,), None where the file does not say.
    """

    histograms: NDArray[np.int64]
    labels: NDArray[np.int64] | None

    @classmethod
    def of(cls, rows: Iterable[Asked]) -> "AskedRows":
        """Of rows one by one: all have as many classes, and all have a label, or none has."""
        votes, labels = zip(*((row.histogram, row.label) for row in rows), strict=True)
        said = None if None in labels else np.array(labels, dtype=np.int64)
        return cls(np.array(votes, dtype=np.int64), said)

    def __len__(self) -> int:
        return len(self.histograms)

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Which rows (m,) were given no label."""
        if self.labels is None:
            return np.zeros(len(self), dtype=np.bool_)
        return np.asarray(self.labels == REFUSAL)
