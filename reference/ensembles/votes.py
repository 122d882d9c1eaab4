"""Who voted for what: the label that each teacher gave each query, kept compactly."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..histograms import Histogram
from ..parallel.kept import keep

_KIND = "dpassay votes 1"


@dataclass(frozen=True)
class Votes:
    """Labels (queries, teachers), each 0 to classes - 1, as the smallest unsigned integers.

    Raises ValueError for labels of another shape, or one that is no class.
    """

    labels: NDArray[np.unsignedinteger[Any]]
    classes: int

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.ndim != 2 or not labels.size or labels.dtype.kind not in "iu":
            raise ValueError(
                f"votes of shape {labels.shape} and {labels.dtype}: expected whole numbers "
                "(queries, teachers), at least one of each"
            )
        if self.classes < 2:
            raise ValueError(f"votes of {self.classes} classes: expected two or more")
        wrong = (labels < 0) | (labels >= self.classes)
        if wrong.any():
            query, teacher = np.argwhere(wrong)[0]
            raise ValueError(
                f"teacher {teacher} votes {labels[query, teacher]} on query {query}: expected 0 to "
                f"{self.classes - 1}"
            )
        object.__setattr__(self, "labels", labels.astype(np.min_scalar_type(self.classes - 1)))

    @property
    def teachers(self) -> int:
        """How many vote on each query."""
        return int(self.labels.shape[1])

    @property
    def histograms(self) -> Histogram:
        """Votes per class, (queries, classes)."""
        rows = np.arange(len(self.labels))[:, None] * self.classes + self.labels.astype(np.int64)
        counts = np.bincount(rows.ravel(), minlength=len(self.labels) * self.classes)
        return counts.reshape(-1, self.classes).astype(np.int64)

    def of(self, queries: NDArray[np.int64] | slice) -> "Votes":
        """The votes on some of the queries."""
        return Votes(self.labels[queries], self.classes)

    def save(self, path: str | Path) -> None:
        """Writes a compressed npz file, whole or not at all."""
        file = io.BytesIO()
        np.savez_compressed(file, kind=_KIND, labels=self.labels, classes=self.classes)
        keep(Path(path), file.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """What `save` wrote. Raises ValueError, in one line, for any other file, or none."""
        try:
            with np.load(path, allow_pickle=False) as file:
                if str(file["kind"]) != _KIND:
                    raise KeyError("kind")
                return cls(file["labels"], int(file["classes"]))
        except OSError as error:
            raise ValueError(f"{path}: not read: {error.strerror or error}") from error
        except (KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path}: no votes that dpassay saved, or damaged") from error
        except ValueError as error:
            raise ValueError(f"{path}: no votes that dpassay saved: {error}") from error
