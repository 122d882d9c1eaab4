"""The best test that counts an event: told apart by how often one of two labels comes."""

from bisect import bisect_left
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, xlog1py, xlogy

MOST = 10**9
"""Queries that a test counts at most: it may leave out the later ones."""

_TINY = 1e-300
_COARSE = 400  # counts tried before those between the best one's neighbours
_REACH = 12  # standard deviations below the last count that comes often enough


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
    least, gap = max(
        ((n, _gap(p, q, times, n, epsilon)) for n in tried), key=lambda found: found[1]
    )
    return least, max(gap, 0.0)  # rounding alone makes less of it


@lru_cache(maxsize=4096)
def costliest_count(p: float, q: float, times: int, delta: float) -> tuple[int, float]:
    """The count from which to accuse, and the epsilon at `delta` that it proves, in floats.

    p, q: probabilities of the event under the two laws, p above q; times: queries counted, at most
    `MOST`. Every test has P - e^epsilon Q <= delta at an epsilon that holds, so that epsilon is at
    least log((P(count >= n) - delta) / Q(count >= n)) for every n: the largest over n, 0 where none
    is positive. A first guess, which `certified.epsilon_lower` makes a proof. The last thousands
    are kept: an account is asked for the same ones after every answer.
    """
    if not p > q or times < 1:
        return times, 0.0
    # later counts come more rarely than delta
    last = bisect_left(range(times), -delta, key=lambda count: -float(_tail(p, times, count + 1)))
    spread = _REACH * (1.0 + np.sqrt(times * p * (1.0 - p)))
    first = max(1, int(last - spread))
    counts = np.arange(first, max(last, first) + 1)
    if counts.size > _COARSE:
        coarse = np.unique(np.linspace(first, last, _COARSE).astype(np.int64))
        best = int(np.argmax(_proved(p, q, times, coarse, delta)))
        around = coarse[max(best - 1, 0) : best + 2]
        counts = np.arange(around[0], around[-1] + 1)
    proved = _proved(p, q, times, counts, delta)
    best = int(np.argmax(proved))
    return int(counts[best]), max(float(proved[best]), 0.0)


def _proved(
    p: float, q: float, times: int, counts: NDArray[np.int64], delta: float
) -> NDArray[np.float64]:
    """The epsilon that accusing from each count (n,) proves; minus infinity for none."""
    above = _tail(p, times, counts) - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        proved = np.log(above) - np.log(_tail(q, times, counts))
    for place in np.flatnonzero(np.isinf(proved) & (above > 0)):
        proved[place] = np.log(above[place]) - _log_tail(q, times, int(counts[place]))
    return np.where(above > 0, proved, -np.inf)


def _gap(p: float, q: float, times: int, least: int, epsilon: float) -> float:
    far = np.exp(min(epsilon + _log_tail(q, times, least), 0.0))
    return float(_tail(p, times, least) - far)


def _tail(p: float, times: int, least: int | NDArray[np.int64]) -> NDArray[np.float64]:
    """P(count >= least) for each of `least` (n,), from 1 to `times`.

    By the incomplete beta function (https://dlmf.nist.gov/8.17.E5), as `scipy.stats` computes it,
    which takes a second to import.
    """
    return np.asarray(betainc(least, times - least + 1, p), dtype=np.float64)


def _log_tail(p: float, times: int, least: int) -> float:
    """Log of P(count >= least), from above; floats have nothing below 1e-308.

    There the terms fall by `ratio` or more from each to the next: a geometric series bounds them.
    """
    tail = _tail(p, times, least)
    if tail > 0:
        return float(np.log(tail))
    if p == 0:
        return -np.inf
    ratio = (times - least) * p / ((least + 1) * (1.0 - p))
    if ratio >= 1:
        return 0.0
    ways = gammaln(times + 1) - (gammaln(least + 1) + gammaln(times - least + 1))
    term = ways + xlogy(least, p) + xlog1py(times - least, -p)
    return float(term - np.log1p(-ratio))
