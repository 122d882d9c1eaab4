"""Labels of two neighbouring worlds: drawn, over workers where code is run, and counted."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference.accounting.conversions import to_epsilon
from ...reference.arrays import Matrix, Vector
from ...reference.parallel.executors import Here
from ...reference.parallel.kept import shown
from ...reference.parallel.workers import carried_out, stream


def share_of(alpha: float, queries: int) -> float:
    """The error that each of so many queries may have, for their sum to have `alpha` in all.

    By the union bound. Bounds of `alpha` each do not add up: every one is high by chance where
    nothing is there, and the sum certifies that chance (Chadha et al. 2024, arXiv 2402.09403,
    Table 2, does not say so). Raises ValueError for fewer queries than one.
    """
    checked_error(alpha)
    if queries < 1:
        raise ValueError(f"{queries} queries: expected at least one")
    return alpha / queries


def composed(bounds: Matrix) -> Matrix:
    """The Rényi lower bound of all queries, (..., orders), from each one's (queries, ..., orders).

    Independent queries' divergences add up (Mironov 2017, Proposition 1), so the sum of lower
    bounds is one where each holds with `share_of` the error.
    """
    return np.asarray(np.sum(bounds, axis=0))


def epsilon_if_the_bounds_were_exact(rdp: Vector, orders: Vector, delta: float) -> float:
    """What a Rényi cost converts to: no lower bound of epsilon, even if `rdp` is one.

    The conversion turns upper bounds into upper bounds (Balle et al. 2020, arXiv 1905.09982v2,
    Theorem 21); of a lower bound it gives a number that may lie above the true epsilon. It is
    here to draw bars like those of Chadha et al. 2024 (arXiv 2402.09403), Figures 3 to 5.
    """
    return to_epsilon(orders, rdp, delta).epsilon


_LEAST_ORDER = 1.01
_SEEN_BEFORE = 0.5  # labels of each class added to a pilot: none has probability 0 for sure


@dataclass(frozen=True)
class Counts:
    """How often each label came in either world.

    here, there: whole numbers (o,), of independent draws from the laws P and Q of one query's
    label. Raises ValueError for counts of different labels, of none, or below 0.
    """

    here: NDArray[np.int64]
    there: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name in ("here", "there"):
            counts = np.asarray(getattr(self, name))
            if counts.dtype.kind not in "iu":
                raise ValueError(f"counts {counts.tolist()}: expected whole numbers")
            object.__setattr__(self, name, counts.astype(np.int64))
        if self.here.ndim != 1 or self.here.shape != self.there.shape or self.here.size < 2:
            raise ValueError(
                f"counts of shapes {self.here.shape} and {self.there.shape}: expected (o,) of the "
                "same two or more labels"
            )
        for counts in (self.here, self.there):
            if counts.min() < 0 or counts.sum() == 0:
                raise ValueError(f"counts {counts.tolist()}: expected labels, none below 0")

    def split(self, share: float, rng: np.random.Generator) -> tuple[Self, Self]:
        """A pilot with about `share` of the labels, and the others: two independent samples.

        Drawn without replacement, as if the labels had come in random order. Raises ValueError
        where a world has one label alone, and for a share that is not above 0 and below 1.
        """
        if not 0.0 < share < 1.0:
            raise ValueError(f"share {share:g}: expected one above 0 and below 1")
        if min(self.here.sum(), self.there.sum()) < 2:
            raise ValueError("a world has one label: expected two or more, for a pilot and a rest")
        drawn = [
            rng.multivariate_hypergeometric(counts, max(1, round(share * int(counts.sum()))))
            if counts.sum() < 1_000_000_000
            else rng.binomial(counts, share)  # each label by itself: the others stay independent
            for counts in (self.here, self.there)
        ]
        pilot = type(self)(drawn[0], drawn[1])
        return pilot, type(self)(self.here - drawn[0], self.there - drawn[1])

    def __add__(self, other: Self) -> Self:
        """The counts of both samples together."""
        return type(self)(self.here + other.here, self.there + other.there)

    @property
    def swapped(self) -> Self:
        """The counts with the two worlds exchanged."""
        return type(self)(self.there, self.here)

    @property
    def smoothed(self) -> tuple[Vector, Vector]:
        """Estimates (o,) of both laws in which no label is impossible."""
        laws = [(c + _SEEN_BEFORE) / (c + _SEEN_BEFORE).sum() for c in (self.here, self.there)]
        return laws[0], laws[1]


def checked_orders(orders: Vector) -> Vector:
    """Rényi orders (n,). Raises ValueError for one that is not finite, or below 1.01.

    Nearer to 1 the bounds' own equations lose their digits.
    """
    found = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    wrong = found[~(np.isfinite(found) & (found >= _LEAST_ORDER))]
    if wrong.size:
        raise ValueError(f"order {wrong[0]:g}: expected a finite number, at least {_LEAST_ORDER}")
    return found


def checked_error(alpha: float) -> float:
    """A probability of error. Raises ValueError for one that is not above 0 and below 1."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha {alpha:g}: expected a probability above 0 and below 1")
    return alpha


BLOCK = 1_000_000
"""Experiments that share a stream: not by the number of workers, or counts would depend on it."""

Experiments = Callable[[int, np.random.Generator], Counts]
"""Runs so many experiments in each world with these random numbers, and counts the labels."""

_MOST = 10**15  # labels of a world; their sums stay exact in float64 as well


def counts_of_laws(laws: ArrayLike, size: int, rng: np.random.Generator) -> Counts:
    """Counts of `size` experiments in each world, whose labels have the laws (2, o).

    As many as wanted in the same time. Raises ValueError for laws that are none.
    """
    _check_size(size)
    law = np.asarray(laws, dtype=np.float64)
    if law.ndim != 2 or law.shape[0] != 2 or law.shape[1] < 2:
        raise ValueError(f"laws of shape {law.shape}: expected (2, o), of two or more labels")
    sums = law.sum(1)
    if not (law.min() >= 0.0 and np.abs(sums - 1.0).max() < 1e-9):
        raise ValueError(
            f"laws that sum to {sums.tolist()}, least {law.min():g}: expected probabilities"
        )
    here, there = (rng.multinomial(size, row) for row in law / sums[:, None])
    return Counts(here, there)


def counts_of_runs(
    experiments: Experiments,
    size: int,
    seed: int | Sequence[int],
    executor: Executor | None = None,
    *,
    block: int = BLOCK,
    name: str | None = None,
) -> Counts:
    """Counts of `size` runs of the code in each world, over the workers of an executor.

    experiments: where the workers are other processes it has to pickle; executor: of
    `workers.open_executor`, this process when None; block: experiments that share a stream, which
    the counts depend on; name: what the progress on stderr is called, none without. Raises
    ValueError for a size below 1, WorkersError as `workers.carried_out`.
    """
    _check_size(size)
    if block < 1:
        raise ValueError(f"block {block}: expected at least one experiment")
    parts = (
        (experiments, min(block, size - start), seed, number)
        for number, start in enumerate(range(0, size, block))
    )
    found: Iterable[tuple[int, Counts]]
    found = carried_out(_block, parts, Here() if executor is None else executor)
    if name is not None:
        found = shown(found, -(-size // block), name)
    total: Counts | None = None
    for _, counts in found:
        total = counts if total is None else total + counts
    assert total is not None
    return total


def _block(experiments: Experiments, size: int, seed: int | Sequence[int], number: int) -> Counts:
    return experiments(size, stream(seed, number))


def _check_size(size: int) -> None:
    if not 1 <= size <= _MOST:
        raise ValueError(f"{size} experiments: expected from 1 to {_MOST:,}")
