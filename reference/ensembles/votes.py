"""Who voted for what: the label that each teacher gave each query, kept compactly."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix
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
            whole = io.BytesIO(Path(path).read_bytes())
            with np.load(whole, allow_pickle=False) as file:
                if str(file["kind"]) != _KIND:
                    raise KeyError("kind")
                return cls(file["labels"], int(file["classes"]))
        except OSError as error:
            raise ValueError(f"{path}: not read: {error.strerror or error}") from error
        except (KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path}: no votes that dpassay saved, or damaged") from error
        except ValueError as error:
            raise ValueError(f"{path}: no votes that dpassay saved: {error}") from error


@dataclass(frozen=True)
class Consensus:
    """Means over queries; each from 0 to 1.

    teacher_accuracy: of single teachers; plurality_accuracy: of the class with most votes, the
    first of several; gap: between the two largest counts over the number of teachers; consensus:
    the largest count over that number; below: queries whose consensus is below 75 %.
    """

    teachers: int
    teacher_accuracy: float
    plurality_accuracy: float
    gap: float
    consensus: float
    below: float


def consensus_of(votes: Votes, truths: NDArray[np.int64]) -> Consensus:
    """Statistics of the votes on queries with true labels (queries,).

    Source: Papernot et al. 2017 (arXiv 1610.05755v4), section 4.1 and Figure 3.
    Raises ValueError unless there is one truth for each query.
    """
    counts, truths = votes.histograms, _checked(votes, truths)
    largest = np.sort(counts, axis=-1)[:, -2:] / votes.teachers
    return Consensus(
        teachers=votes.teachers,
        teacher_accuracy=float((votes.labels == truths[:, None]).mean()),
        plurality_accuracy=float((counts.argmax(-1) == truths).mean()),
        gap=float((largest[:, 1] - largest[:, 0]).mean()),
        consensus=float(largest[:, 1].mean()),
        below=float((largest[:, 1] < 0.75).mean()),
    )


def consensus(votes: Votes) -> Matrix:
    """The largest count over the number of teachers, of each query (queries,)."""
    return np.asarray(votes.histograms.max(-1) / votes.teachers)


def _checked(votes: Votes, truths: NDArray[np.int64]) -> NDArray[np.int64]:
    truths = np.asarray(truths)
    if truths.shape != votes.labels.shape[:1]:
        raise ValueError(f"truths of shape {truths.shape} for {len(votes.labels)} queries")
    return truths
