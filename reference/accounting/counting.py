"""The best test that counts an event: told apart by how often one of two labels comes."""

import numpy as np
from scipy.stats import binom

MOST = 10**9
"""Queries that a test counts at most: it may leave out the later ones."""

_TINY = 1e-300


def best_count(p: float, q: float, times: int, epsilon: float) -> tuple[int, float]:
    """The count from which to accuse, and P(count >= it) - e^epsilon Q(count >= it), in floats.

    p, q: probabilities of the event under the two laws, p above q; times: queries counted, at most
    `MOST`; epsilon: nats. The likelihood ratio of a binomial count rises with the count, so that
    the best test is a threshold, where the ratio passes e^epsilon (Neyman and Pearson 1933). What
    is returned is never above the exact difference by more than rounding, 1e-9 of it.
    """
    if not p > q:
        return times, 0.0
    win = np.log(p) - np.log(max(q, _TINY))
    lose = np.log1p(-q) - np.log(max(1.0 - p, _TINY))
    crossing = (epsilon + times * lose) / (win + lose)
    if not crossing <= times:
        return times, 0.0
    near = int(crossing) + np.arange(-1, 3)
    tried = [int(count) for count in near if 1 <= count <= times]
    return max(((n, _gap(p, q, times, n, epsilon)) for n in tried), key=lambda found: found[1])


def _gap(p: float, q: float, times: int, least: int, epsilon: float) -> float:
    far = np.exp(min(epsilon + _log_tail(q, times, least), 0.0))
    return float(binom.sf(least - 1, times, p) - far)


def _log_tail(p: float, times: int, least: int) -> float:
    """Log of P(count >= least), from above; scipy's is minus infinity below 1e-308.

    There the terms fall by `ratio` or more from each to the next: a geometric series bounds them.
    """
    log_tail = float(binom.logsf(least - 1, times, p))
    if log_tail > -np.inf or p == 0:
        return log_tail
    ratio = (times - least) * p / ((least + 1) * (1.0 - p))
    return float(binom.logpmf(least, times, p) - np.log1p(-ratio)) if ratio < 1 else 0.0
