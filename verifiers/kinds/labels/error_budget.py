"""How the checks of one run share its `false_alarm`."""

import math

from .registry import CHECKS

SHARES: dict[str, float] = {check.id: check.share for check in CHECKS}
"""Share of each check, in the order of the report; 0 where a failure is a proof, not a statistic.

The probability that a correct deployment fails any check is at most the sum (union bound).
"""

SIMPLEST_SHARE = 1 / 16
"""Share of the search for the simplest histogram that still shows a violation."""

assert math.isclose(sum(SHARES.values()) + SIMPLEST_SHARE, 1.0)


def log_threshold(share: float, false_alarm: float) -> float:
    """Natural log of the e-value that refutes: 1 / (share * false_alarm), by Ville's inequality."""
    return -math.log(share * false_alarm) if share else math.inf
