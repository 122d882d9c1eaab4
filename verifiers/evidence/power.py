"""How many queries a check needs before its silence means something.

`queries_to_see` and `pairs_to_see` take the least detectable law P at total variation `effect` from
Q: mass moved in proportion between a set A and its complement, with Q(A) as near 1/2 as it gets.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.stats import binom, chi2, nbinom, norm

from ...reference.arrays import Vector
from .dirichlet import dirichlet_log_e_value, split_levels
from .one_sided import log_e_value_larger
from .outcomes import half
from .pointed import LEAK
from .power_of_levels import levels_show
from .repetition import FOLLOWED
from .repetition import SHARES as WAGERS
from .replay import ALL_COPIED, CHANCES
from .same_law import CONCENTRATIONS

MISSES = 0.01
"""Probability with which an effect of the stated size may be missed."""

_MOST = 1 << 27
_QUANTILE = -float(norm.ppf(MISSES))


def queries_to_see(log_q: Vector, effect: float, log_threshold: float) -> int:
    """Labels after which `dirichlet_log_e_value` reaches the threshold with probability 0.99.

    log_q: log-probabilities (o,). The e-value is taken at the counts that are expected under P,
    scaled to the 1 % worst number of labels in A by the binomial law; the tests simulate it. Of a
    law on two levels, the few outcomes alone have half the e-value: for moves that spare the rest
    among themselves they are taken so, for others see `levels_show`.
    """
    levels = split_levels(log_q, effect)
    if levels is not None:
        few = queries_to_see(levels.few, effect, log_threshold + float(np.log(2.0)))
        return max(few, _least(lambda n: levels_show(n, levels, log_threshold, _QUANTILE)))
    q = np.exp(log_q)
    inside = half(q)
    share = float(q[inside].sum())
    rest = 1.0 - share
    # where nearly no chance is left outside, P spreads its share evenly there, which costs most
    outside = q / rest if rest > 1e-9 else np.full(q.size, 1.0 / max(1, int((~inside).sum())))
    moves = [move for move in (effect, -effect) if 0.0 < share + move < 1.0 - 1e-12]

    def enough(n: int) -> bool:
        for move in moves:
            seen = float(binom.ppf(MISSES if move > 0 else 1.0 - MISSES, n, share + move))
            if (seen - n * share) * move <= 0.0:
                return False
            counts = _whole(np.where(inside, q * seen / share, outside * (n - seen)))
            if dirichlet_log_e_value(counts, log_q, effect) < log_threshold:
                return False
        return True

    return _least(enough)


def bare_winners_to_see(chance: float, answered: float, log_wanted: float) -> int:
    """Queries after which a winner that is told without noise shows with probability 0.99.

    chance: of the winner among the answers under the claim; answered: share of the queries. Each
    answer then names the winner and adds the log of 1 / chance, less the leak that every known
    fault has; how many queries are answered is all that is left to chance.
    """
    answers = int(np.ceil(log_wanted / -np.log(chance / (1.0 - LEAK * (1.0 - chance)))))
    return answers + int(nbinom.ppf(1.0 - MISSES, answers, min(answered, 1.0)))


def _least(enough: Callable[[int], bool]) -> int:
    """The least number that is enough, within half a percent."""
    low, high = 0, 64
    while not enough(high) and high < _MOST:
        low, high = high, 2 * high
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _whole(counts: Vector) -> Vector:
    """Expected counts below 1 as whole ones: so many outcomes once, the rest never."""
    rare = np.flatnonzero(counts < 1.0)
    whole = counts.copy()
    whole[rare] = np.arange(rare.size) < round(float(counts[rare].sum()))
    return whole


def pairs_to_see(log_q: Vector, effect: float, log_threshold: float) -> int:
    """Pairs after which `SameLawEvidence` reaches the threshold with probability 0.99.

    log_q: log-probabilities (o,) of the first stream. Second-order expansion of the wagers: at
    time t a predictor pulled with concentration k has learnt the share s = t/(t + k) of the
    difference, with noise of 2 d/t; the tests simulate it. Of a law on two levels, pairs after
    which the few outcomes alone show it: of a clear winner the rest has less than the effect.
    """
    levels = split_levels(log_q, effect)
    if levels is not None:
        log_q, log_threshold = levels.few, log_threshold + float(np.log(2.0))
    top = float(np.exp(log_q.max()))
    middle = top - 0.5 * effect
    divergence = effect**2 / (middle * (1.0 - middle) if top >= 0.5 else 0.25)
    return _pairs(divergence, _degrees(log_q), log_threshold + float(np.log(len(CONCENTRATIONS))))


def rises_to_see(chance: float, effect: float, log_threshold: float) -> int:
    """Pairs after which `log_e_value_larger` reaches the threshold with probability 0.99.

    chance: of an event in the first stream, which a fault makes rarer by `effect` in the second,
    where it should be no rarer.
    """
    first = chance * (1.0 - (chance - effect))
    second = (chance - effect) * (1.0 - chance)
    share = first / (first + second)

    def enough(n: int) -> bool:
        apart = int(binom.ppf(MISSES / 2, n, first + second))
        only_first = int(binom.ppf(MISSES / 2, apart, share))
        return log_e_value_larger(only_first, apart - only_first) >= log_threshold

    return _least(enough)


def copies_to_see(log_q: Vector, labels: int, log_wanted: float) -> float:
    """The smallest rate of copies that is detected with probability 0.99; at most 1.

    log_q: log-probabilities (o,); labels: how many may be copies of earlier ones; log_wanted:
    evidence that `Repetition` must find at one distance, with one of its wagers. The sum of the
    log-ratios is approximated by a normal law.
    """
    q = np.exp(np.sort(log_q)[::-1][:FOLLOWED])
    for share in np.geomspace(0.005, 1.0, 80):
        for wager in WAGERS:
            copied, other = np.log1p(-wager + wager / np.maximum(q, 1e-300)), np.log1p(-wager)
            chance = share + (1.0 - share) * q
            mean = float((q * (chance * copied + (1.0 - chance) * other)).sum())
            square = float((q * (chance * copied**2 + (1.0 - chance) * other**2)).sum())
            spread = np.sqrt(labels * max(square - mean**2, 0.0))
            if labels * mean - _QUANTILE * spread >= log_wanted:
                return float(share)
    return 1.0


def longest_round(log_q: Vector, lives: int, labels: int, log_wanted: float) -> int:
    """The most seeds that take turns which `Recurrence` finds with probability 0.99; 0: none.

    log_q: log-probabilities (o,) of the labels that each of `lives` lives begins with; log_wanted:
    evidence that it must find, with its first wager and chance. Of n lives, n - k copy the life k
    before. The sum of the log-ratios is approximated by a normal law.
    """
    q = np.exp(log_q)
    copied = np.log1p(-WAGERS[0] + WAGERS[0] / np.maximum(q, 1e-300))
    mean, square = float((q * copied).sum()), float((q * copied**2).sum())
    chance, degrees = float(CHANCES[0]), max(1, int((q > 0.0).sum()) - 1)
    log_wanted += float(np.log(CHANCES.size) - np.log(ALL_COPIED))
    for turns in range(lives - 1, 0, -1):
        copies = lives - turns
        n = copies * labels
        gained = n * mean - _QUANTILE * np.sqrt(n * max(square - mean**2, 0.0))
        misfit = float(chi2.ppf(1.0 - MISSES, copies * degrees)) / 2.0
        price = copies * (np.log(lives - 1) - np.log(chance)) - turns * np.log1p(-chance)
        if gained - misfit - price >= log_wanted:
            return turns
    return 0


@lru_cache(maxsize=256)
def _pairs(divergence: float, degrees: float, wanted: float) -> int:
    length = 1 << 12
    while length < _MOST:
        t = np.arange(1.0, length + 1.0)
        reached = [
            int(np.argmax(above)) + 1
            for concentration in CONCENTRATIONS
            if (above := _growth(t, divergence, degrees, concentration) >= wanted).any()
        ]
        if reached:
            return min(reached)
        length *= 4
    return _MOST


def _growth(t: Vector, divergence: float, degrees: float, concentration: float) -> Vector:
    """Log wealth after each pair that is exceeded with probability 1 - `MISSES`."""
    share = t / (t + concentration)
    square = share**2 * (divergence + 2.0 * degrees / t)
    mean = np.cumsum(0.25 * (2.0 * share * divergence - square))
    spread = np.sqrt(np.cumsum(0.5 * square + 0.25 * share**2 * divergence))
    return np.asarray(mean - _QUANTILE * spread)


def _degrees(log_q: Vector) -> float:
    """Outcomes likely enough to add noise, less one."""
    return max(1.0, float(np.minimum(1.0, np.exp(log_q) * 1e4).sum()) - 1.0)
