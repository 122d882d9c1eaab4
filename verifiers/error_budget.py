"""How the checks of one run share its `false_alarm`, and which checks there are."""

import math

SHARES: dict[str, float] = {
    "input-contract": 0.0,
    "class-probabilities": 1 / 4,
    "noise-scale": 1 / 8,
    "shift-invariance": 1 / 16,
    "permutation-equivariance": 1 / 16,
    "vote-monotonicity": 1 / 16,
    "fresh-noise": 1 / 8,
    "abstention": 1 / 16,
    "accountant-soundness": 0.0,
    "privacy-claim": 0.0,
    "privacy-audit": 1 / 16,
    "histogram-leakage": 1 / 16,
    "budget-enforcement": 0.0,
}
"""Share of each check, in the order of the report; 0 where a failure is a proof, not a statistic.

The probability that a correct deployment fails any check is at most the sum (union bound).
"""

SIMPLEST_SHARE = 1 / 8
"""Share of the search for the simplest histogram that still shows a violation."""

assert math.isclose(sum(SHARES.values()) + SIMPLEST_SHARE, 1.0)


def log_threshold(share: float, false_alarm: float) -> float:
    """Natural log of the e-value that refutes: 1 / (share * false_alarm), by Ville's inequality."""
    return -math.log(share * false_alarm) if share else math.inf
