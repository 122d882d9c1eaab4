"""`python -m benchmarks.same_reports --record FILE`, later `--against FILE`: nothing has changed.

It runs the gate on claims of all kinds, with right and wrong targets, and the commands `verify
--log`, `monitor --once`, `replay` and `audit`; all noise follows from the seed of the run and the
number of the start. Verdicts, exit statuses, queries, evidence to the last digit, messages and
JUnit are recorded, or compared with a record: what differs is told, and ends the command with 1.
Times, versions and folders are left out; `--fields a b` leaves out fields that a change documents.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.parallel.kept import shown
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.reporting.files import junit
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

from .long_runs import ROOT

sys.path.insert(0, str(ROOT / "tests"))  # where claims and deployments of each kind are

from every_kind import CLAIMS, answers, claimed

LEFT_OUT = {"seconds", "versions", "started", "ended", "reproduce", "detected"}
"""Fields that differ from run to run, or from machine to machine."""

Run = Callable[[int], Any]

DEFAULTS = {
    "labels at the defaults": {
        "mechanism": {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}
    },
    "numbers at the defaults": {
        "mechanism": {
            "name": "noisy-histogram",
            "noise": "laplace:2",
            "adjacency": "add-remove",
            "cells": 4,
        }
    },
}

MORE_LABELS: dict[str, dict[str, Any]] = {
    "confident": {"name": "confident-gnmax", "threshold": 15.0, "threshold_noise": "gaussian:10"},
    "laplace": {"name": "lnmax", "noise": "laplace:6"},
}

ANY = {
    "mechanism": {"name": "any", "caching": False},
    "privacy": {"epsilon": 1.0, "delta": 0},
    "pairs": [{"here": {"n": 1}, "there": {"n": 2}}],
    "gate": {"max_queries": 1_000},
}

BATCHES = {
    "mechanism": {"name": "batches", "sampling": "poisson:0.1", "records": 100},
    "gate": {"max_queries": 3_000},
}


def started(make: Callable[[np.random.Generator], Any], seed: int, claim: Any) -> InProcessTarget:
    """A target whose noise follows from the seed and the number of the start."""
    starts = count()

    def again() -> Any:
        return make(np.random.default_rng([seed, next(starts)]))

    return InProcessTarget(again(), again=again, release=claim.release)


def judged(claim: Any, make: Callable[[np.random.Generator], Any], seed: int) -> dict[str, Any]:
    """The report of a run, its exit status and its JUnit."""
    report = verify(started(make, seed, claim), claim, seed=seed, reproduce="", name="target")
    xml = junit(report, "target", None, datetime(2026, 1, 1, tzinfo=UTC))
    xml = re.sub(r' time="[^"]*"', "", xml)
    status = report.verdict.exit_status
    return {"status": status, "report": report.public(), "junit": xml}


def of_kind(claim: Any, scale: float, seed: int) -> dict[str, Any]:
    """A run on the claimed mechanism at `scale` times its noise."""
    return judged(claim, lambda rng: answers(claim, scale, rng), seed)


def of_any(epsilon: float, seed: int) -> dict[str, Any]:
    """A run without a law, on Laplace noise of another epsilon."""
    claim = parse_claim(ANY)
    return judged(
        claim,
        lambda rng: lambda given, size: (given["n"] + rng.laplace(0, 1 / epsilon, size)).tolist(),
        seed,
    )


def of_batches(rate: float, seed: int) -> dict[str, Any]:
    """A run on batches drawn by another rate."""
    claim = parse_claim(BATCHES)

    def make(rng: np.random.Generator) -> Any:
        return lambda: np.flatnonzero(rng.random(100) < rate).tolist()

    return judged(claim, make, seed)


FILE_CLAIM = """\
[mechanism]
name = "gnmax"
noise = "gaussian:10"
classes = 4
teachers = 40

[privacy]
epsilon = 8.0
delta = 1e-5
queries = 100

[gate]
tolerance = 0.2
smallest_effect = 0.1
"""

FILE_TARGET = """\
import numpy as np
rng = np.random.default_rng({seed})
def aggregate(histogram, size):
    noise = rng.normal(0, {sigma}, (size, len(histogram)))
    return (histogram + noise).argmax(1)
"""


def typed(arguments: str, sigma: float, seed: int) -> dict[str, Any]:
    """What a command prints in a folder with a claim, a target and its log, and its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(seed)
        votes = rng.multinomial(40, [0.4, 0.3, 0.2, 0.1], size=200)
        labels = [NoisyArgmax(Gaussian(sigma)).sample(row, 10, rng) for row in votes]
        rows = [
            ",".join(map(str, [*row, label]))
            for row, drawn in zip(votes, labels, strict=True)
            for label in drawn
        ]
        Path(folder, "log.csv").write_text("\n".join(["a,b,c,d,label", *rows]) + "\n")
        Path(folder, "claim.toml").write_text(FILE_CLAIM)
        Path(folder, "target.py").write_text(FILE_TARGET.format(seed=seed, sigma=sigma))
        line = [sys.executable, "-m", "dpassay.verifiers.cli", *arguments.format(seed=seed).split()]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
        try:
            printed = json.loads(done.stdout)
        except ValueError:
            printed = [json.loads(line) for line in done.stdout.splitlines()]
        return {"status": done.returncode, "printed": printed}


COMMANDS = {
    "verify --log": "verify --log log.csv --claim claim.toml --seed {seed} --json",
    "monitor --once": "monitor log.csv --claim claim.toml --state state --once",
    "replay": "replay target.py:aggregate --claim claim.toml --seed {seed} --json",
    "audit": "audit target.py:aggregate --claim claim.toml --pair 20,15,3,2 19,16,3,2 --json",
}


def runs() -> dict[str, Run]:
    """All runs by name; each takes a seed."""
    found: dict[str, Run] = {}
    labels: dict[str, Any] = {"noise": "gaussian:10", "classes": 4, "teachers": 40}
    gate = {"tolerance": 0.2, "smallest_effect": 0.1, "max_queries": 8_000}
    claims = {kind: claimed(kind) for kind in CLAIMS}
    claims |= {
        name: parse_claim({"mechanism": labels | keys, "gate": gate})
        for name, keys in MORE_LABELS.items()
    }
    claims |= {name: parse_claim(tables) for name, tables in DEFAULTS.items()}
    for name, claim in claims.items():
        for scale in (1.0, 0.5):
            found[f"{name}, {scale:g} of the noise"] = partial(of_kind, claim, scale)
    for epsilon in (0.9, 3.0):
        found[f"any, epsilon {epsilon:g}"] = partial(of_any, epsilon)
    for rate in (0.1, 0.15):
        found[f"batches, rate {rate:g}"] = partial(of_batches, rate)
    for name, arguments in COMMANDS.items():
        for sigma in (10.0, 5.0):
            found[f"{name}, sigma {sigma:g}"] = partial(typed, arguments, sigma)
    return found


def without(value: Any, fields: set[str]) -> Any:
    """JSON without some fields, wherever they stand."""
    if isinstance(value, dict):
        return {key: without(each, fields) for key, each in value.items() if key not in fields}
    return [without(each, fields) for each in value] if isinstance(value, list) else value


def differences(before: Any, now: Any, place: str = "") -> Iterator[str]:
    """Where two values of JSON differ, a line each; a key that came in is no difference."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in before:
            yield from differences(before[key], now.get(key), f"{place}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for i, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from differences(one, other, f"{place}[{i}]")
    elif before != now:
        yield f"{place}: {json.dumps(before)[:200]} -> {json.dumps(now)[:200]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_reports", description=__doc__)
    either = parser.add_mutually_exclusive_group(required=True)
    either.add_argument("--record", type=Path, metavar="FILE")
    either.add_argument("--against", type=Path, metavar="FILE")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="", metavar="WORDS")
    parser.add_argument("--fields", nargs="*", default=[], help="that are left out")
    asked = parser.parse_args()
    chosen = [
        (name, seed, run)
        for name, run in runs().items()
        for seed in range(1, asked.seeds + 1)
        if asked.only in name
    ]
    found: dict[str, Any] = {}
    done = (without(run(seed), LEFT_OUT) for _, seed, run in chosen)
    for (name, seed, _), (_, result) in zip(
        chosen, shown(enumerate(done), len(chosen), "runs"), strict=True
    ):
        found[f"{name}, seed {seed}"] = json.loads(json.dumps(result))
    if asked.record:
        asked.record.write_text(json.dumps(found, indent=1) + "\n")
        print(f"recorded: {len(found)} runs")
        return
    known, fields = json.loads(asked.against.read_text()), set(asked.fields)
    apart = [
        line
        for name, now in found.items()
        for line in differences(without(known.get(name), fields), without(now, fields), name)
    ]
    print("\n".join([*apart, f"{len(found)} runs, {len(apart)} differences"]))
    sys.exit(bool(apart))


if __name__ == "__main__":
    main()
