"""A lower bound of epsilon, at every look, from audits of many epsilons on the same draws."""

import math
from collections.abc import Callable, Sequence

LEAST, RATIO, FINE, MOST = 0.05, 1.5, 6, 40.0
"""The least epsilon that is tried above 0, ratio of coarse ones, steps between two, the most."""

_AT_ONCE = 4  # epsilons whose evidence is asked for together


def epsilon_lower(
    log_e_values: Callable[[Sequence[float]], Sequence[float]], error: float
) -> float:
    """The largest epsilon that draws refute, but for an error, at any look at them; 0 where none.

    log_e_values: natural logs of the evidence against each of a few epsilons, as a `CoinAudit` of
    all of them shares its work. Epsilons of a coarse grid are tried from 0 on while each is refuted
    at error / 2, then those of a fine one from the last of these on. Let epsilon be the true one:
    it takes a wrong rejection of the first epsilon of the coarse grid that is no smaller to be past
    it there, and of the first one of the fine grid to be past it here, and each of the two is one
    e-value, fixed beforehand; so evidence need not fall with epsilon. Raises ValueError for an
    error that is none.
    """
    if not 0.0 < error < 1.0:
        raise ValueError(f"error {error:g}: expected more than 0 and less than 1")
    threshold = math.log(2.0 / error)

    def last(grid: list[float], found: float) -> float:
        for start in range(0, len(grid), _AT_ONCE):
            some = grid[start : start + _AT_ONCE]
            for epsilon, log in zip(some, log_e_values(some), strict=True):
                if log < threshold:
                    return found
                found = epsilon
        return found

    coarse = [0.0, LEAST]
    while coarse[-1] < MOST:
        coarse.append(coarse[-1] * RATIO)
    if log_e_values([0.0])[0] < threshold:
        return 0.0
    low = last(coarse[1:], 0.0)
    if low == 0.0:
        return last([LEAST * step / FINE for step in range(1, FINE)], 0.0)
    return last([low * RATIO ** (step / FINE) for step in range(1, FINE)], low)
