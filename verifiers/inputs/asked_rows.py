"""What a deployment was asked, as arrays with one row per query: there may be millions."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...reference import REFUSAL
from .histogram_file import Asked


@dataclass(frozen=True)
class AskedRows:
    """Histograms (m, c) in the order asked, and the labels (m,) released; None if unknown."""

    histograms: NDArray[np.int64]
    labels: NDArray[np.int64] | None

    @classmethod
    def of(cls, rows: Iterable[Asked]) -> "AskedRows":
        """Made from rows with one number of classes, of which all or none have a label."""
        votes, labels = zip(*((row.histogram, row.label) for row in rows), strict=True)
        answered = None if None in labels else np.array(labels, dtype=np.int64)
        return cls(np.array(votes, dtype=np.int64), answered)

    def __len__(self) -> int:
        return len(self.histograms)

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Whether each row (m,) was refused."""
        if self.labels is None:
            return np.zeros(len(self), dtype=np.bool_)
        return np.asarray(self.labels == REFUSAL)
