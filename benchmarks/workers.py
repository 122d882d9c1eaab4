"""Experiments over workers: what workers gain and cost, and how the cost grows with the number.

`python -m benchmarks.workers [--experiments N] [--block B] [--rounds R] [--dask]`: votes drawn anew
and code run, N experiments in each world, in this process, and over 1 and 2 threads, processes and
workers of a local Dask cluster (with --dask; it needs `pip install ".[dask]"`); then 10^6 to 10^9
experiments, where the laws are known and where code is run. Ways are measured in turn, R rounds in
one run: their ratios mean something on a busy machine, their times less.
"""

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.table import Table

from dpassay.attacks.auditing import Counts, counts_of_laws, counts_of_runs
from dpassay.attacks.auditing.counts import BLOCK
from dpassay.attacks.auditing.vote_laws import laws_with_one_vote_fixed
from dpassay.reference import Gaussian
from dpassay.reference.parallel.workers import carried_out, open_executor, stream

from .long_runs import importable

VOTERS, SIGMA = 250, 40.0
VOTE = np.array([0.5, 0.2, *[0.0375] * 8])
"""How one teacher votes; in the other world one of them votes for the last class."""

KINDS: tuple[Literal["threads", "processes"], ...] = ("threads", "processes")

NOTHING = 200
"""Parts that do nothing, of which the cost of a part is measured."""

RUN, KNOWN = (10**6, 10**7), (10**6, 10**7, 10**8, 10**9)
SLICE = 20_000  # experiments at once: the arrays of a slice stay in the cache


def run(size: int, rng: np.random.Generator) -> Counts:
    """Draws the votes of both worlds anew, and the noisy maximum, experiment by experiment."""
    found = np.zeros((2, VOTE.size), dtype=np.int64)
    for start in range(0, size, SLICE):
        now = min(SLICE, size - start)
        for world in (0, 1):
            votes = rng.multinomial(VOTERS - world, VOTE, now).astype(np.float64)
            votes[:, -1] += world
            votes += rng.normal(0.0, SIGMA, votes.shape)
            found[world] += np.bincount(votes.argmax(1), minlength=VOTE.size)
    return Counts(found[0], found[1])


def laws() -> np.ndarray:
    """The exact laws (2, c) of the same labels."""
    fixed = laws_with_one_vote_fixed(Gaussian(SIGMA), VOTE, VOTERS)
    return np.stack([VOTE @ fixed, fixed[-1]])


def nothing(number: int) -> int:
    return number


@contextmanager
def ways(dask: bool) -> Iterator[dict[str, Executor]]:
    """By name, all open and warm, so that they can be measured in turn."""
    with ExitStack() as stack:
        found: dict[str, Executor] = {"this process": stack.enter_context(open_executor())}
        for count in (1, 2):
            for kind in KINDS:
                name = f"{count} of {kind}"
                found[name] = stack.enter_context(open_executor(count, kind=kind))
        if dask:
            import distributed

            local: Any = distributed.LocalCluster

            for count in (1, 2):
                cluster = stack.enter_context(
                    local(n_workers=count, threads_per_worker=1, dashboard_address="127.0.0.1:0")
                )
                name = f"{count} of Dask"
                found[name] = stack.enter_context(open_executor(dask=cluster.scheduler_address))
        yield found


def seconds(work: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began


def cpu_seconds(work: Callable[..., object], *arguments: object) -> float:
    """CPU seconds of this process, which other load on the machine affects less."""
    began = time.process_time()
    work(*arguments)
    return time.process_time() - began


def over_workers(experiments: int, block: int, rounds: int, dask: bool) -> Table:
    """Wall time by way, its ratio to this process, and what a part costs that does nothing."""
    table = Table(
        "workers",
        "s",
        "of this process",
        "ms a part",
        "s to start",
        title=f"{experiments:,} experiments in each of two worlds, code run, blocks of {block:,}",
    )
    times: dict[str, list[float]] = {}
    each: dict[str, list[float]] = {}
    work, empty = importable(run), importable(nothing)

    def whole(executor: Executor) -> None:
        found = counts_of_runs(work, experiments, 0, executor, block=block)
        assert first.setdefault("counts", found.here.tolist()) == found.here.tolist()

    def begun(executor: Executor) -> None:
        counts_of_runs(work, 8, 0, executor, block=1)

    def parts(executor: Executor) -> None:
        assert sum(1 for _ in carried_out(empty, ((n,) for n in range(NOTHING)), executor))

    first: dict[str, list[int]] = {}
    with ways(dask) as found:
        started = {name: seconds(begun, executor) for name, executor in found.items()}
        for _ in range(rounds):
            for name, executor in found.items():
                times.setdefault(name, []).append(seconds(whole, executor))
                each.setdefault(name, []).append(seconds(parts, executor) / NOTHING)
    for name, taken in times.items():
        here = times["this process"]
        ratio = statistics.median(t / h for t, h in zip(taken, here, strict=True))
        cost = 1000 * statistics.median(each[name])
        table.add_row(
            name,
            f"{statistics.median(taken):.1f}",
            f"{ratio:.2f}",
            f"{cost:.2f}",
            f"{started[name]:.1f}",
        )
    return table


def growth() -> Table:
    """CPU time by the number of experiments, and the most memory so far."""
    table = Table("experiments", "laws known, CPU s", "code run, CPU s", "most memory, MB")
    table.title = "growth: both worlds, one process"
    known, work = laws(), importable(run)
    for size in KNOWN:
        drawn = cpu_seconds(counts_of_laws, known, size, stream(0, 0))
        ran = f"{cpu_seconds(counts_of_runs, work, size, 0):.1f}" if size in RUN else "-"
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        table.add_row(f"{size:,}", f"{drawn:.6f}", ran, f"{memory:,.0f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="Experiments over workers.")
    parser.add_argument("--experiments", type=int, default=4_000_000, help="in each world")
    parser.add_argument("--block", type=int, default=BLOCK, help="experiments that are a part")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dask", action="store_true", help="a local cluster as well")
    asked = parser.parse_args()
    console = Console(width=110)
    console.print(growth())
    console.print(over_workers(asked.experiments, asked.block, asked.rounds, asked.dask))
    exact, counts = laws(), counts_of_runs(importable(run), 10**6, 1)
    both = np.stack([counts.here, counts.there])
    away = np.abs(both / both.sum(1, keepdims=True) - exact).max()
    console.print(f"code run against its law, 10^6: shares differ by {away:.5f} at most")


if __name__ == "__main__":
    main()
