"""Outcomes and odds in words, for findings."""

import numpy as np
from numpy.typing import NDArray


def against(log_odds: float) -> str:
    """Odds against the claim in words, in parentheses; log_odds: natural log."""
    return f"(odds 10^{log_odds / np.log(10.0):.1f} to 1 against the claim)"


def named_outcomes(named: NDArray[np.intp], classes: int, outcomes: int) -> str:
    """The outcomes `named` in words; several by the others, if these are fewer.

    classes: outcomes from this index on are refusals; outcomes: how many there are.
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
