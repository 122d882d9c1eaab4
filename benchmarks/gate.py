"""The gate: wall time and memory of the default run."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

Row = tuple[str, str, str, str]


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


def wall(command: list[str]) -> float:
    """Median wall time of three runs of a command, after one to warm the disk's cache."""
    times = []
    for _ in range(4):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])
