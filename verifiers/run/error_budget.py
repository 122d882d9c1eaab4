"""How much evidence refutes, by the share of `false_alarm` that a check has."""

import math


def log_threshold(share: float, false_alarm: float) -> float:
    """Natural log of the e-value that refutes: 1 / (share * false_alarm), by Ville's inequality."""
    return -math.log(share * false_alarm) if share else math.inf
