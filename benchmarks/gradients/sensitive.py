"""What is inferred, the sensitive variable a of a batch: steps (3) and (4) of Definition 3.1.

Li et al. 2024, section 3.1. Records of a batch are independent given a, so that one may occur
twice.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpassay.attacks.gradients.vendor_game import SensitiveBatches, rows_sharing

from .data import Records, Whole


@dataclass(frozen=True)
class CandidateBatches(SensitiveBatches):
    """Of user inference: rows (b, m, k) that each candidate is known by."""

    candidates: Whole


class Sensitive(ABC):
    """What is inferred of a batch, one of `classes` values from 0."""

    @property
    @abstractmethod
    def classes(self) -> int:
        """How many values a has."""

    @property
    def ordered(self) -> bool:
        """Whether the values have an order that says how near they are."""
        return False

    def prior(self, records: Records) -> NDArray[np.float64]:
        """The law of a (m,) in the challenger's trials: uniform unless records say otherwise."""
        del records
        return np.full(self.classes, 1.0 / self.classes)

    @abstractmethod
    def batch_of(self, records: Records, values: Whole, size: int, random: Generator) -> Whole:
        """Rows (b, size) of a batch for each of the values (b,) of a."""

    def draw(
        self, records: Records, law: NDArray[np.float64], batches: int, size: int, random: Generator
    ) -> SensitiveBatches:
        """Batches of `size` records each; their values a are drawn from a law (m,)."""
        values = random.choice(len(law), batches, p=law)
        return SensitiveBatches(self.batch_of(records, values, size, random), values)


@dataclass(frozen=True)
class SharedValue(Sensitive):
    """One sensitive class, a, for all records of a batch: attribute and property inference.

    Which of the two depends on whether the features hold it. values: how many classes there are.
    """

    values: int = 2

    @property
    def classes(self) -> int:
        """The number of values, which is that of the records' sensitive classes."""
        return self.values

    def prior(self, records: Records) -> NDArray[np.float64]:
        """The shares of the classes among the records."""
        counts = np.bincount(records.sensitive, minlength=self.values)
        return counts / len(records)

    def batch_of(self, records: Records, values: Whole, size: int, random: Generator) -> Whole:
        """Records that have the value. Raises ValueError where there are none."""
        return rows_sharing(records.sensitive, values, size, random)


def rows_having(which: NDArray[np.bool_], kind: str) -> Whole:
    """Rows (k,) of the records that have it. Raises ValueError where there are none."""
    rows = np.flatnonzero(which)
    if not rows.size:
        raise ValueError(f"no record of {kind}: expected some")
    return rows


def balanced(
    inferred: Sensitive, records: Records, batches: int, size: int, random: np.random.Generator
) -> SensitiveBatches:
    """About so many batches, equally many for each value of a."""
    values = np.repeat(np.arange(inferred.classes), max(batches // inferred.classes, 1))
    return SensitiveBatches(inferred.batch_of(records, values, size, random), values)
