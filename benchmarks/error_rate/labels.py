"""Correct aggregators of every mechanism that releases labels, and the runs on them."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from dpassay.verifiers.kinds.reading import parse_claim

from ..judged import judged
from ..long_runs import Part

BLOCKS = 40
"""Different plans, that is choices of histograms, over which the runs are spread."""

GNMAX = {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}
MECHANISMS: tuple[dict[str, Any], ...] = (
    GNMAX,
    {"name": "lnmax", "noise": "laplace:20", "classes": 10, "teachers": 250},
    {"name": "report-noisy-max", "noise": "exponential:15", "classes": 5, "teachers": 100},
    {"name": "report-noisy-max", "noise": "gumbel:15", "classes": 4, "teachers": 100},
    GNMAX | {"name": "confident-gnmax", "threshold": 200.0, "threshold_noise": "gaussian:50"},
)

SETTINGS: dict[str, dict[str, float]] = {
    "5,000 queries, false_alarm 1e-06": {"max_queries": 5000, "false_alarm": 1e-6},
    "5,000 queries, false_alarm 0.1": {"max_queries": 5000, "false_alarm": 0.1},
    "all checks, false_alarm 1e-06": {},
}


def settings(short: int, full: int) -> Iterator[tuple[str, list[Part]]]:
    """Each setting by name, with its runs, spread over the blocks."""
    for setting, gate in SETTINGS.items():
        runs = short if gate else full
        edges = pairwise(runs * block // BLOCKS for block in range(BLOCKS + 1))
        blocks = [(setting, block, *ends) for block, ends in enumerate(edges)]
        yield setting, [part for part in blocks if part[2] < part[3]]


def verdicts(setting: str, block: int, first: int, last: int) -> list[tuple[str, str]]:
    """Verdict and failed checks of the runs from first to before last.

    They share a plan, and so its cost.
    """
    mechanism = MECHANISMS[block % len(MECHANISMS)]
    claim = parse_claim({"mechanism": mechanism, "gate": SETTINGS[setting]})
    drawn = claim.mechanism.mechanism()
    found = []
    for run in range(first, last):
        rng = np.random.default_rng(10_000 + run)
        outcome = judged(claim, partial(drawn.sample, rng=rng), block)
        found.append((outcome.verdict, ", ".join(outcome.failed)))
    return found
