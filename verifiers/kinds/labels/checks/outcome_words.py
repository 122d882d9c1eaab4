"""Outcomes and odds in words, as findings on the labels' law tell them."""

import numpy as np
from numpy.typing import NDArray


def against(log_odds: float) -> str:
    """Odds against the claim, from their natural log, as they follow a cause."""
    return f"(odds 10^{log_odds / np.log(10.0):.1f} to 1 against the claim)"


def named_outcomes(named: NDArray[np.intp], classes: int, outcomes: int) -> str:
    """Some of so many outcomes: one by its number, several by those that are left out, if fewer.

    classes: from this outcome on they are refusals.
    """
    others = sorted(set(range(outcomes)) - set(named.tolist()))
    if named.size == 1:
        only = int(named[0])
        return "refusals" if only >= classes else f"label {only}"
    if len(others) < named.size:
        return f"labels other than {_listed(others, classes)}"
    return f"{_listed(named.tolist(), classes)} together"


def _listed(outcomes: list[int], classes: int) -> str:
    """As in "0, 1 and refusals"."""
    words = ["refusals" if outcome >= classes else str(outcome) for outcome in outcomes]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
