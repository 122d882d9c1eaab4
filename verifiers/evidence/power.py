"""How many labels a check needs to detect an effect with probability 0.99.

`queries_to_see` and `pairs_to_see` assume the least detectable law P at total variation `effect`
from Q: mass moves in proportion between a set A and its complement, with Q(A) as near 1/2 as
possible.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import bdtr, bdtrik, betainc, gammaincinv, nbdtrik, ndtri

from ...reference.arrays import Vector
from .dirichlet import LEAK, dirichlet_log_e_value, levels_show, split_levels
from .outcomes import half
from .repetition import ALL_COPIED, CHANCES, FOLLOWED
from .repetition import SHARES as WAGERS
from .same_law import CONCENTRATIONS, log_e_value_larger


def binomial_quantile(chance: float, times: int, share: float) -> int:
    """The least count of `times` draws of probability `share` that is no less with this chance."""
    if times == 0 or share <= 0.0:
        return 0
    if share >= 1.0:
        return times
    if times * math.log1p(-share) >= math.log(chance):  # none come: bdtrik has no answer there
        return 0
    found = math.ceil(bdtrik(chance, times, share))
    return found - 1 if found and bdtr(found - 1, times, share) >= chance else found


def waiting_quantile(chance: float, wanted: int, share: float) -> int:
    """The least number of misses before so many hits, of probability `share`, with this chance."""
    if wanted == 0 or share >= 1.0 or wanted * math.log(share) >= math.log(chance):
        return 0
    found = math.ceil(nbdtrik(chance, wanted, share))
    # P(misses < found), by the incomplete beta function: nbdtr takes no counts beyond 64 bits
    return found - 1 if found and betainc(wanted, float(found), share) >= chance else found


def chi_squared_quantile(chance: float, degrees: float) -> float:
    """The value below which chi squared of so many degrees of freedom lies with this chance."""
    return float(2.0 * gammaincinv(0.5 * degrees, chance))


MISSES = 0.01
"""Probability of missing an effect of the stated size."""

_MOST = 1 << 27
_QUANTILE = -float(ndtri(MISSES))
_OF_COPIES = -float(
    ndtri(MISSES / 4)
)  # their evidence is skewed: by `_QUANTILE`, it is seen at .98


def queries_to_see(log_q: Vector, effect: float, log_threshold: float) -> int:
    """Labels after which `dirichlet_log_e_value` reaches the threshold with probability 0.99.

    The e-value is taken at the counts expected under P, scaled to the 1 % quantile of the labels in
    A; the tests simulate it. For a law on two levels, the frequent outcomes alone must reach the
    threshold plus log 2; moves within the rest are covered by `levels_show`. log_q:
    log-probabilities (o,); effect: total variation; log_threshold: in nats.
    """
    levels = split_levels(log_q, effect)
    if levels is not None:
        few = queries_to_see(levels.few, effect, log_threshold + float(np.log(2.0)))
        return max(few, _least(lambda n: levels_show(n, levels, log_threshold, _QUANTILE)))
    q = np.exp(log_q)
    inside = half(q)
    share = float(q[inside].sum())
    rest = 1.0 - share
    # where hardly any mass is outside A, P spreads its share evenly there, the hardest case
    outside = q / rest if rest > 1e-9 else np.full(q.size, 1.0 / max(1, int((~inside).sum())))
    moves = [move for move in (effect, -effect) if 0.0 < share + move < 1.0 - 1e-12]

    def enough(n: int) -> bool:
        for move in moves:
            seen = binomial_quantile(MISSES if move > 0 else 1.0 - MISSES, n, share + move)
            if (seen - n * share) * move <= 0.0:
                return False
            counts = _whole(np.where(inside, q * seen / share, outside * (n - seen)))
            if dirichlet_log_e_value(counts, log_q, effect) < log_threshold:
                return False
        return True

    return _least(enough)


def bare_winners_to_see(chance: float, answered: float, log_wanted: float) -> int:
    """Queries after which a winner released without noise shows with probability 0.99.

    Each answer is then the winner, and adds log(1 / chance) less the `LEAK` of every known fault.
    Only the number of answers is random. chance: the winner's probability among answers under the
    claim; answered: probability of an answer; log_wanted: evidence needed.
    """
    answers = int(np.ceil(log_wanted / -np.log(chance / (1.0 - LEAK * (1.0 - chance)))))
    return answers + waiting_quantile(1.0 - MISSES, answers, answered)


def ratios_to_see(log_law: Vector, log_q: Vector, log_wanted: float) -> int:
    """Labels of a fault's law after which its likelihood ratio shows it with probability 0.99.

    log_law, log_q: log-probabilities (o,) of the fault P and of the claim Q; log_wanted: evidence w
    needed. By Chernoff's bound, the log-ratio of n labels of P is below w with probability at most
    e^(s w) (sum P^(1-s) Q^s)^n, for each s between 0 and 1.
    """
    parts = np.linspace(0.0, 1.0, 51)[1:-1, None]
    rates = -np.log(np.exp((1.0 - parts) * log_law + parts * log_q).sum(-1))
    needed = (np.log(1.0 / MISSES) + parts[:, 0] * log_wanted) / np.maximum(rates, 1e-9)
    return min(_MOST, int(np.ceil(needed.min())))


def small_ratios_to_see(
    log_law: Vector, log_q: Vector, log_wanted: float, quantile: float | None = None
) -> int:
    """As `ratios_to_see`, of a law so near the claim that a log-ratio of many labels is normal.

    Chernoff's bound asks for a third more there. Where the two laws are one, `_MOST`. quantile: of
    the normal law, of the probability in place of 0.99.
    """
    law = np.exp(log_law)
    seen = law > 0.0
    law, ratios = law[seen], log_law[seen] - log_q[seen]
    mean = float((law * ratios).sum())
    spread = float((law * np.square(ratios)).sum()) - mean**2
    if mean <= 1e-12:
        return _MOST
    # the root of n mean - quantile sqrt(n spread) = wanted
    root = (_QUANTILE if quantile is None else quantile) * np.sqrt(max(spread, 0.0))
    return min(
        _MOST, int(np.ceil(((root + np.sqrt(root**2 + 4 * mean * log_wanted)) / 2 / mean) ** 2))
    )


def _least(enough: Callable[[int], bool]) -> int:
    """The least number that is enough, to within half a percent."""
    low, high = 0, 64
    while not enough(high) and high < _MOST:
        low, high = high, 2 * high
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _whole(counts: Vector) -> Vector:
    """Counts with those below 1 rounded to 0 or 1, so that their sum is kept."""
    rare = np.flatnonzero(counts < 1.0)
    whole = counts.copy()
    whole[rare] = np.arange(rare.size) < round(float(counts[rare].sum()))
    return whole


def pairs_to_see(log_q: Vector, effect: float, log_threshold: float) -> int:
    """Pairs after which `SameLawEvidence` reaches the threshold with probability 0.99.

    By a second-order expansion of the wagers: at time t a predictor with concentration k has learnt
    the share s = t/(t + k) of the difference, with noise of 2 d/t; the tests simulate it. For a law
    on two levels, pairs after which the frequent outcomes alone show it. log_q: log-probabilities
    (o,) of the first stream; effect: total variation; log_threshold: in nats.
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

    chance: probability of an event in the first stream; in the second, where it should be no rarer,
    a fault lowers it by `effect`.
    """
    first = chance * (1.0 - (chance - effect))
    second = (chance - effect) * (1.0 - chance)
    share = first / (first + second)

    def enough(n: int) -> bool:
        apart = binomial_quantile(MISSES / 2, n, first + second)
        only_first = binomial_quantile(MISSES / 2, apart, share)
        return log_e_value_larger(only_first, apart - only_first) >= log_threshold

    return _least(enough)


def copies_to_see(log_q: Vector, labels: int, log_wanted: float) -> float:
    """The smallest rate of copies that `Repetition` detects with probability 0.99; inf for none.

    The sum of the log-ratios is taken as normal. log_q: log-probabilities (o,); labels: how many
    may be copies of earlier ones; log_wanted: evidence needed from one wager at one distance.
    """
    q = np.exp(np.sort(log_q)[::-1][:FOLLOWED])
    for share in np.geomspace(0.005, 1.0, 80):
        for wager in WAGERS:
            copied, other = np.log1p(-wager + wager / np.maximum(q, 1e-300)), np.log1p(-wager)
            chance = share + (1.0 - share) * q
            mean = float((q * (chance * copied + (1.0 - chance) * other)).sum())
            square = float((q * (chance * copied**2 + (1.0 - chance) * other**2)).sum())
            spread = np.sqrt(labels * max(square - mean**2, 0.0))
            if labels * mean - _OF_COPIES * spread >= log_wanted:
                return float(share)
    return float("inf")


def longest_round(log_q: Vector, starts: int, labels: int, log_wanted: float) -> int:
    """The most seeds in rotation that `Recurrence` finds with probability 0.99; 0 if none.

    log_q: log-probabilities (o,) of the first labels, `labels` of them, in each of `starts` starts;
    log_wanted: evidence needed, with its first wager and chance. With k seeds, all but k starts
    copy the start k before. The sum of the log-ratios is taken as normal.
    """
    q = np.exp(log_q)
    copied = np.log1p(-WAGERS[0] + WAGERS[0] / np.maximum(q, 1e-300))
    mean, square = float((q * copied).sum()), float((q * copied**2).sum())
    chance, degrees = float(CHANCES[0]), max(1, int((q > 0.0).sum()) - 1)
    log_wanted += float(np.log(CHANCES.size) - np.log(ALL_COPIED))
    for turns in range(starts - 1, 0, -1):
        copies = starts - turns
        n = copies * labels
        gained = n * mean - _QUANTILE * np.sqrt(n * max(square - mean**2, 0.0))
        misfit = chi_squared_quantile(1.0 - MISSES, copies * degrees) / 2.0
        price = copies * (np.log(starts - 1) - np.log(chance)) - turns * np.log1p(-chance)
        if gained - misfit - price >= log_wanted:
            return turns
    return 0


def seeds_drawn(starts: int, most: int) -> int:
    """The most values of a seed, drawn anew at each start, that show with probability 0.99.

    They do where at most `most` of so many starts have a seed of their own, as `longest_round` has
    it; 0 if none do.
    """
    if most < 1:
        return 0

    def too_many(values: int) -> bool:
        law = np.zeros(starts + 1)  # of the seeds seen so far
        law[0] = 1.0
        new = np.maximum(1.0 - np.arange(starts + 1) / values, 0.0)
        for _ in range(starts):
            law = law * (1.0 - new) + np.concatenate([[0.0], (law * new)[:-1]])
        return float(law[: most + 1].sum()) < 1.0 - MISSES

    found = _least(too_many)
    return found - max(1, found // 200)


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
    """The log-wealth after each of t pairs that is exceeded with probability 1 - `MISSES`."""
    share = t / (t + concentration)
    square = share**2 * (divergence + 2.0 * degrees / t)
    mean = np.cumsum(0.25 * (2.0 * share * divergence - square))
    spread = np.sqrt(np.cumsum(0.5 * square + 0.25 * share**2 * divergence))
    return np.asarray(mean - _QUANTILE * spread)


def _degrees(log_q: Vector) -> float:
    """Effective degrees of freedom: outcomes likely enough to add noise, less one."""
    return max(1.0, float(np.minimum(1.0, np.exp(log_q) * 1e4).sum()) - 1.0)
