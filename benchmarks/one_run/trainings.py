"""Trainings and audits by other libraries, each in a process of its environment."""

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..field.environments import ENVIRONMENTS
from ..field.rows import CALLS
from ..long_runs import KEPT
from .settings import (
    CANARIES,
    DIGITS,
    HALF,
    HALF_RUNS,
    MULTIPLIER,
    RIGHT_RUNS,
    SAMPLINGS,
    TOGETHER,
    coins_of,
)

LIBRARIES = {
    "opacus": ("opacus_training.py", "opacus-1.6.0"),
    "jax-privacy": ("jax_privacy_training.py", "jax-privacy-2.0.0"),
}
NAME = "one-run-trainings"  # of the file of their results
SCRIPTS = ["canary_digits.py", *(script for script, _ in LIBRARIES.values())]
MADE_OF = [Path(__file__).parent / "settings.py", *(CALLS / name for name in SCRIPTS)]
_KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "2000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000"}
"""Gradients of a batch take megabytes, which would be asked of the system anew at each step."""


def trained(library: str, sampling: str, noise: str, first: int, count: int) -> list[Any]:
    """Scores of so many trainings, and how many digits each tells right.

    noise: `right`, or `half` of it; first: the seed of the first one, which decides the coins too.
    """
    script, environment = LIBRARIES[library]
    batches, steps, _ = SAMPLINGS[sampling]
    asked = [
        {
            "included": coins_of(CANARIES, seed).astype(int).tolist(),
            "sampling": sampling,
            "batches": batches,
            "multiplier": MULTIPLIER * (HALF if noise == "half" else 1.0),
            "steps": steps,
            "seed": seed,
        }
        for seed in range(first, first + count)
    ]
    return answers(script, environment, asked, str(_digits()))


def answers(script: str, environment: str, asked: Iterable[Any], *words: str) -> list[Any]:
    """What a script of `benchmarks/field/calls` answers, in the environment of its library."""
    command = [str(ENVIRONMENTS[environment].python), str(CALLS / script), *words]
    done = subprocess.run(
        command,
        input="".join(json.dumps(one) + "\n" for one in asked),
        env=os.environ | _KEPT_MEMORY | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _digits() -> Path:
    """The digits of scikit-learn in a file, pixels from 0 to 1, and which of them are odd."""
    from sklearn.datasets import load_digits

    path = KEPT / "digits.npz"
    if not path.exists():
        found = load_digits()
        pixels, names = found.data[:DIGITS] / 16.0, found.target[:DIGITS]
        part = path.with_name(f"digits-{os.getpid()}.npz")
        np.savez(part, digits=pixels, odd=names % 2 == 1)
        part.replace(path)
    return path


def parts() -> list[tuple[str, str, str, int, int]]:
    """All trainings, as `trained` takes them; no two have a seed in common."""
    found, first = [], 0
    for library in LIBRARIES:
        for sampling in SAMPLINGS:
            for noise, runs in (("right", RIGHT_RUNS), ("half", HALF_RUNS)):
                for _ in range(0, runs, TOGETHER):
                    found.append((library, sampling, noise, first, TOGETHER))
                    first += TOGETHER
    return found


def kept(*part: str | int) -> list[Any]:
    """What `trained` gave for a part, from where it is kept."""
    with (KEPT / f"{NAME}.jsonl").open() as file:
        next(file)
        for line in file:
            found = json.loads(line)
            if tuple(found["part"]) == part:
                return list(found["result"])
    raise LookupError(f"{part}: not yet trained")
