"""How often correct aggregators fail: `python -m benchmarks.error_rate [RUNS [FULL]]`.

RUNS in-process runs with a budget of 5,000 queries, at the default false_alarm and at 0.1, then
FULL runs of the whole default gate, over correct aggregators of every mechanism. Ville's inequality
bounds each rate; shown is the 99 % Clopper-Pearson bound.
"""

import sys
from typing import Any

import numpy as np
from scipy.stats import beta

from dpassay.verifiers.claim import Claim, parse_claim
from dpassay.verifiers.gate import verify
from dpassay.verifiers.targets import InProcessTarget

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


def claims(**gate: float) -> list[Claim]:
    return [parse_claim({"mechanism": mechanism, "gate": gate}) for mechanism in MECHANISMS]


def verdicts(made: list[Claim], runs: int) -> list[str]:
    found = []
    for run in range(runs):
        block = run * BLOCKS // runs  # runs of a block share a plan, and so its cost
        claim, rng = made[block % len(made)], np.random.default_rng(10_000 + run)
        mechanism = claim.mechanism.mechanism()
        target = InProcessTarget(lambda h, n, m=mechanism, r=rng: m.sample(h, n, r))
        found.append(verify(target, claim, seed=block).verdict.value)
    return found


def main() -> None:
    runs, full = (int(n) for n in (sys.argv[1:] + ["2000", "100"][len(sys.argv) - 1 :])[:2])
    for words, gate, times in (
        ("5,000 queries", {"max_queries": 5000, "false_alarm": 1e-6}, runs),
        ("5,000 queries", {"max_queries": 5000, "false_alarm": 0.1}, runs),
        ("full", {}, full),
    ):
        made = claims(**gate)
        found = verdicts(made, times)
        failed = found.count("fail")
        upper = beta.ppf(0.99, failed + 1, times - failed) if failed < times else 1.0
        print(
            f"{words}, false_alarm {made[0].gate.false_alarm:g}: {failed} of {times} runs failed, "
            f"rate {failed / times:g}, at most {upper:.4f} (99 %); {found.count('pass')} passed",
            flush=True,
        )


if __name__ == "__main__":
    main()
