"""The gate: wall time and memory of the default run."""

import resource
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

from .timing import Row

COUNT = """
[mechanism]
name = "noisy-count"
noise = "laplace:2"
adjacency = "add-remove"
[gate]
max_queries = 12_000_000
smallest_effect = 0.00154
"""


def rows() -> Iterator[Row]:
    command = [sys.executable, "-m", "dpassay.verifiers.cli"]
    bare = wall([sys.executable, "-c", "pass"])
    help_ = wall([*command, "--help"])
    yield "dpassay --help", f"{help_:.2f} s", f"python -c pass: {bare:.2f} s", f"{help_ / bare:.1f}"
    whole = wall([*command, "verify", "--json"])
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    yield (
        "dpassay verify, embedded default",
        f"{whole:.1f} s",
        f"--help: {help_:.2f} s",
        f"{whole / help_:.0f}",
    )
    yield "its peak memory", f"{memory:.0f} MiB", "", ""
    yield many_releases()


def many_releases() -> Row:
    """More than 10^7 releases of a correct count, judged to the end in this process."""
    claim = parse_claim(tomllib.loads(COUNT))
    aggregation, rng = claim.mechanism.aggregation, np.random.default_rng(1)

    def released(values: Any, size: int) -> Any:
        return sample(aggregation, values, size, rng)

    started = time.perf_counter()
    report = verify(InProcessTarget(released, release=claim.release), claim, seed=1)
    took = time.perf_counter() - started
    assert report.verdict is Verdict.PASS, report.verdict
    drawn = time.perf_counter()
    aggregation.noise.sample(0.0, report.queries, rng)
    alone = time.perf_counter() - drawn
    what = f"{report.queries:,} releases of a count, judged"
    return what, f"{took:.1f} s", f"drawing them: {alone:.2f} s", f"{took / alone:.0f}"


def wall(command: list[str]) -> float:
    """Median wall time of three runs of a command, after one to warm the disk's cache."""
    times = []
    for _ in range(4):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])
