"""How the batches of a training are drawn, and their exact law.

Given its size, a batch is a uniform subset of those records that may be in it: of all, for
`Draws.POISSON` and `Draws.FIXED`; of those that the epoch has not had yet, for `Draws.SHUFFLE`.
Only the law of the size differs. That a binomial number of records, drawn without replacement, is
Poisson sampling is Lemma 1 of arXiv 2406.17298v3.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Self

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from .arrays import Integers, Vector


class BatchDraws(Enum):
    """How batches are drawn, by its name in claims."""

    POISSON = "poisson"
    """Each record with the same probability, apart from the others."""

    FIXED = "fixed"
    """So many different records, any as likely as any other, anew for each batch."""

    SHUFFLE = "shuffle"
    """So many records after each other of a random order, which is a new one for each epoch."""


@dataclass(frozen=True)
class Batches:
    """Batches of the records 0 to `records` - 1.

    amount: the probability of a record, or the size of a batch. Raises ValueError for a
    probability that is not between 0 and 1, and for a size that is none.
    """

    how: BatchDraws
    amount: float
    records: int

    def __post_init__(self) -> None:
        if self.how is BatchDraws.POISSON:
            if not 0.0 < self.amount < 1.0:
                raise ValueError(f"sampling {self}: expected a probability between 0 and 1")
        elif not 1 <= self.amount <= self.records or not float(self.amount).is_integer():
            raise ValueError(f"sampling {self}: expected a whole number from 1 to {self.records}")

    def __str__(self) -> str:
        return f"{self.how.value}:{self.amount:g}"

    @classmethod
    def parse(cls, text: str, records: int) -> Self:
        """The sampling that `text` such as `poisson:0.01` names. Raises ValueError."""
        name, _, amount = text.partition(":")
        try:
            how, number = BatchDraws(name), float(amount)
        except ValueError:
            raise ValueError(
                f"sampling {text[:60]!r}: expected poisson:Q with a probability Q between 0 and 1, "
                "or fixed:B or shuffle:B with the size B of a batch"
            ) from None
        return cls(how, number, records)

    @property
    def rate(self) -> float:
        """The probability that a record is in a batch."""
        return self.amount if self.how is BatchDraws.POISSON else self.amount / self.records

    @property
    def epoch(self) -> int:
        """Batches of an epoch, or as many as have each record once in the mean."""
        return max(1, math.ceil(1.0 / self.rate - 1e-9))

    def size(self, left: int) -> int | None:
        """How many records the next batch has; None where that is random.

        left: records that the epoch has not had yet.
        """
        if self.how is BatchDraws.POISSON:
            return None
        return min(int(self.amount), left if self.how is BatchDraws.SHUFFLE else self.records)

    def drawn(self, rng: np.random.Generator) -> Iterator[Integers]:
        """Batches (s,) without end."""
        while True:
            if self.how is BatchDraws.SHUFFLE:
                order = rng.permutation(self.records)
                yield from np.split(order, range(int(self.amount), self.records, int(self.amount)))
                continue
            if self.how is BatchDraws.POISSON:
                yield np.flatnonzero(rng.random(self.records) < self.amount)
                continue
            yield rng.choice(self.records, int(self.amount), replace=False)


def log_binomial(k: Vector, n: int, p: float) -> Vector:
    """Log-probabilities (m,) of k of n, each with probability p."""
    return np.asarray(log_choose(n, k) + xlogy(k, p) + xlog1py(n - k, -p))


def log_choose(n: float | Vector, k: float | Vector) -> Vector:
    """Natural log of the binomial coefficient, where 0 <= k <= n."""
    return np.asarray(
        gammaln(np.add(n, 1.0)) - gammaln(np.add(k, 1.0)) - gammaln(np.subtract(n, k) + 1.0)
    )


def hypergeometric(pool: int, marked: int, size: int) -> tuple[Vector, Vector]:
    """How many of the marked records are in a uniform subset: values (n,), log-probabilities (n,).

    pool: records in all, of which `size` are drawn.
    """
    k = np.arange(max(0, size - (pool - marked)), min(marked, size) + 1.0)
    return k, np.asarray(
        log_choose(marked, k) + log_choose(pool - marked, size - k) - log_choose(pool, size)
    )


def runs(pool: int, size: int) -> tuple[Vector, Vector]:
    """Runs of neighbours in a uniform subset of a row: values (n,) and log-probabilities (n,).

    With r runs, size - r of its records have their successor in it. A subset is made of r parts of
    the records in it, and r of the r + 1 gaps beside them that may be empty at both ends.
    """
    r = np.arange(1.0, min(size, pool - size + 1) + 1.0)
    return r, np.asarray(
        log_choose(size - 1, r - 1) + log_choose(pool - size + 1, r) - log_choose(pool, size)
    )
