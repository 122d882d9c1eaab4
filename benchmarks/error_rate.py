"""How often correct aggregators fail: `python -m benchmarks.error_rate [RUNS]`.

In-process runs with a budget of 5,000 queries over correct aggregators of every family, at the
default false_alarm and at 0.05. Ville's inequality bounds both rates; the upper end is the 99 %
Clopper-Pearson bound.
"""

import sys

import numpy as np
from scipy.stats import beta

from dpassay.reference import NoisyArgmax
from dpassay.verifiers.claim import Claim, parse_claim
from dpassay.verifiers.gate import verify
from dpassay.verifiers.targets import InProcessTarget

BLOCKS = 40
"""Different plans, that is choices of histograms, over which the runs are spread."""

MECHANISMS = (
    ("gnmax", "gaussian:40", 10, 250),
    ("lnmax", "laplace:20", 10, 250),
    ("report-noisy-max", "exponential:15", 5, 100),
    ("report-noisy-max", "gumbel:15", 4, 100),
)


def claims(false_alarm: float) -> list[Claim]:
    keys = ("name", "noise", "classes", "teachers")
    gate = {"max_queries": 5000, "false_alarm": false_alarm}
    return [
        parse_claim({"mechanism": dict(zip(keys, values, strict=True)), "gate": gate})
        for values in MECHANISMS
    ]


def failures(false_alarm: float, runs: int) -> int:
    made = claims(false_alarm)
    failed = 0
    for run in range(runs):
        block = run * BLOCKS // runs  # runs of a block share a plan, and so its cost
        claim, rng = made[block % len(made)], np.random.default_rng(10_000 + run)
        mechanism = NoisyArgmax(claim.mechanism.noise)
        target = InProcessTarget(lambda h, n, m=mechanism, r=rng: m.sample(h, n, r))
        failed += verify(target, claim, seed=block).verdict.value == "fail"
    return failed


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for false_alarm in (1e-6, 0.05):
        failed = failures(false_alarm, runs)
        upper = beta.ppf(0.99, failed + 1, runs - failed) if failed < runs else 1.0
        print(
            f"false_alarm {false_alarm:g}: {failed} of {runs} runs failed, "
            f"rate {failed / runs:g}, at most {upper:.4f} (99 %)"
        )


if __name__ == "__main__":
    main()
