"""The gate: wall time and memory of the default run, and queries to detection."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from dpassay.reference import NoisyArgmax, parse_noise
from dpassay.verifiers.claim import parse_claim
from dpassay.verifiers.gate import verify
from dpassay.verifiers.targets import InProcessTarget

Row = tuple[str, str, str, str]
RUNS = 20


def rows() -> Iterator[Row]:
    claim = parse_claim(
        {"mechanism": {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}}
    )
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
    for factor in (0.5, 0.9, 0.97, 2.0):
        noise = claim.mechanism.noise.times(factor)
        queries = [queries_to_verdict(str(noise), claim, run) for run in range(RUNS)]
        figure = f"{statistics.median(queries):,.0f} median, {max(queries):,} worst of {RUNS}"
        yield f"queries until {noise} fails gaussian:40", figure, "", ""


def queries_to_verdict(noise: str, claim: object, seed: int) -> int:
    rng, mechanism = np.random.default_rng(seed), NoisyArgmax(parse_noise(noise))
    target = InProcessTarget(lambda histogram, size: mechanism.sample(histogram, size, rng))
    report = verify(target, claim, seed=seed)
    assert report.verdict.value == "fail", report.verdict
    return report.queries


def wall(command: list[str]) -> float:
    """Median wall time of three runs of a command, after one to warm the disk's cache."""
    times = []
    for _ in range(4):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])
