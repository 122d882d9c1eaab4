"""How often correct aggregators fail: `python -m benchmarks.error_rate [--runs N] [--full N]`.

RUNS in-process runs with a budget of 5,000 queries, at the default false_alarm and at 0.1, then
FULL runs of the whole default gate, over correct aggregators of every mechanism. Ville's inequality
bounds each rate; shown is the 99 % Clopper-Pearson bound. Stopped, it goes on where it was when it
is run again.
"""

import argparse
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import beta

from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

from .long_runs import add_workers, carried_out, workers

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
    "full, false_alarm 1e-06": {},
}


def verdicts(setting: str, block: int, first: int, last: int) -> list[str]:
    """Those of the runs from first to before last, which share a plan, and so its cost."""
    mechanism = MECHANISMS[block % len(MECHANISMS)]
    claim = parse_claim({"mechanism": mechanism, "gate": SETTINGS[setting]})
    drawn = claim.mechanism.mechanism()
    found = []
    for run in range(first, last):
        rng = np.random.default_rng(10_000 + run)
        target = InProcessTarget(lambda h, n, rng=rng: drawn.sample(h, n, rng))
        found.append(verify(target, claim, seed=block).verdict.value)
    return found


def parts(setting: str, runs: int) -> Iterator[tuple[str, int, int, int]]:
    """The runs of a setting, spread over the blocks."""
    edges = [runs * block // BLOCKS for block in range(BLOCKS + 1)]
    for block, (first, last) in enumerate(pairwise(edges)):
        if first < last:
            yield setting, block, first, last


def main() -> None:
    parser = argparse.ArgumentParser(description="How often correct aggregators fail.")
    parser.add_argument("--runs", type=int, default=2000, help="runs of 5,000 queries, at each")
    parser.add_argument("--full", type=int, default=100, help="runs of the whole default gate")
    add_workers(parser)
    asked = parser.parse_args()
    for setting, gate in SETTINGS.items():
        todo = list(parts(setting, asked.runs if gate else asked.full))
        if not todo:
            continue
        with workers(asked) as executor:
            told = carried_out(verdicts, todo, "error_rate", executor)
        found = [verdict for part in told for verdict in part]
        failed, times = found.count("fail"), len(found)
        upper = beta.ppf(0.99, failed + 1, times - failed) if failed < times else 1.0
        print(
            f"{setting}: {failed} of {times} runs failed, rate {failed / times:g}, "
            f"at most {upper:.4f} (99 %); {found.count('pass')} passed",
            flush=True,
        )


if __name__ == "__main__":
    main()
