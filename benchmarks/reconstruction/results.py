"""Errors of every attack in every setting, and with how many seeds they are measured."""

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

import numpy as np

from dpassay import attacks, reference

from ..long_runs import carried_out
from .experiments import ATTACKS, Errors, Setting, attacked, settings

SEEDS = {"mle": 300, "posterior": 5, "gradient-descent": 20, "released-code": 20}
"""Simulated sets of answers that each attack reads; those that take long read fewer."""

Results = dict[tuple[Setting, str], Errors]
"""Errors (seeds, histograms) by setting and attack."""

_HERE = Path(__file__).parent
_FOLDERS = [Path(package.__path__[0]) for package in (attacks, reference)]
MADE_OF = (
    _HERE / "experiments.py",
    _HERE / "ensembles.py",
    *(path for folder in _FOLDERS for path in sorted(folder.rglob("*.py"))),
)
"""Sources that decide errors: pages and seeds may change, and what is measured is kept."""


def all_results(executor: Executor) -> Results:
    """Every attack in every setting; what an earlier run measured is kept."""
    asked = [(setting, attack) for attack in ATTACKS for setting in settings()]
    blocks = [setting.blocks(attack, SEEDS[attack]) for setting, attack in asked]
    parts = [part for of_one in blocks for part in of_one]
    found = iter(carried_out(attacked, parts, "reconstruction", executor, MADE_OF))
    return {
        one: np.concatenate([next(found) for _ in of_one])
        for one, of_one in zip(asked, blocks, strict=True)
    }


def results_of(chosen: Sequence[Setting], named: Sequence[str], seeds: int | None) -> Results:
    """Some attacks in some settings, measured here and now; seeds: as many of each attack."""
    return {
        (setting, attack): setting.errors(attack, range(seeds or SEEDS[attack]))
        for setting in chosen
        for attack in named
    }
