"""Labels of two neighbouring worlds, drawn in any number and counted.

Where the laws are known, one multinomial draw is any number of experiments; that audits the
statistics, and no code. Where code is run, experiments come in blocks of one size, each with random
numbers of its own, so that the counts do not depend on how many workers share them. Memory is that
of one block a worker, whatever the number.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor

import numpy as np
from numpy.typing import ArrayLike

from ...reference.parallel.executors import Here
from ...reference.parallel.progress import shown
from ...reference.parallel.workers import carried_out, stream
from .counts import Counts

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
