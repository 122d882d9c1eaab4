"""The checks of numbers, in the order of the report, and their shares of `false_alarm`."""

import math

SHARES: dict[str, float] = {
    "input-contract": 0.0,
    "noise-law": 1 / 4,
    "noise-scale": 1 / 8,
    "location": 1 / 16,
    "shift-invariance": 1 / 16,
    "permutation-equivariance": 1 / 32,
    "joint": 1 / 32,
    "independence": 1 / 16,
    "fresh-noise": 1 / 16,
    "clipping": 1 / 16,
    "sensitivity": 1 / 16,
    "support": 1 / 32,
    "floating-point": 1 / 32,
    "partition-release": 1 / 32,
    "privacy-audit": 1 / 32,
    "accountant-soundness": 0.0,
    "privacy-claim": 0.0,
    "gradient-leakage": 1 / 32,
    "histogram-leakage": 0.0,
    "budget-enforcement": 0.0,
}
"""Share of each check; 0 where a failure is a proof, not a statistic."""

SIMPLEST_SHARE = 1 / 32
"""Share of the search for the simplest input that still shows a violation."""

assert math.isclose(sum(SHARES.values()) + SIMPLEST_SHARE, 1.0)
