"""One of several candidates, or k of them, by their scores."""

from collections.abc import Sequence

import numpy as np


def exponential_mechanism(
    scores: Sequence[float], epsilon: float, sensitivity: float, rng: np.random.Generator
) -> int:
    """A candidate, by its place, drawn with weights exp(epsilon score / (2 sensitivity)).

    scores: (n,), one of each candidate; sensitivity: how far one record moves any of them, in
    their unit. Raises ValueError for no scores, and for an epsilon or a sensitivity that is not
    above 0. Dwork and Roth 2014 (FnT 9, 3-4), Definition 3.4 and Theorem 3.10.
    """
    shifted = np.asarray(scores, float) - max(scores)
    weights = np.exp(_rate(epsilon, sensitivity) * shifted)
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def permute_and_flip(
    scores: Sequence[float], epsilon: float, sensitivity: float, rng: np.random.Generator
) -> int:
    """A candidate, by its place: the first in random order whose coin shows heads.

    A coin shows heads with probability exp(epsilon (score - best) / (2 sensitivity)). Scores, units
    and errors are those of `exponential_mechanism`. McKenna and Sheldon 2020 (arXiv 2010.12603v1),
    Algorithm 1.
    """
    rate, best = _rate(epsilon, sensitivity), max(scores)
    order = rng.permutation(len(scores))
    heads = (place for place in order if rng.random() < np.exp(rate * (scores[place] - best)))
    return int(next(heads))


def top_k(
    scores: Sequence[float], k: int, epsilon: float, sensitivity: float, rng: np.random.Generator
) -> list[int]:
    """Several candidates, by their places, in the order in which they are peeled off.

    Each is drawn of those that are left, by the exponential mechanism at epsilon / k. Scores, units
    and errors are those of `exponential_mechanism`; k: from 1 to n, else ValueError. Durfee and
    Rogers 2019 (arXiv 1905.04273), section 4.1; Dwork and Roth 2014, Theorem 3.16.
    """
    if not 1 <= k <= len(scores):
        raise ValueError(f"k = {k}: expected a whole number from 1 to {len(scores)}")
    left = list(range(len(scores)))
    chosen = []
    for _ in range(k):
        place = exponential_mechanism([scores[i] for i in left], epsilon / k, sensitivity, rng)
        chosen.append(left.pop(place))
    return chosen


def quantile(
    values: Sequence[float],
    candidates: Sequence[float],
    share: float,
    epsilon: float,
    rng: np.random.Generator,
) -> float:
    """A candidate near a quantile of the values, by the exponential mechanism.

    The score of c is -|(1 - share) #(values below c) - share #(values above c)|, which a record
    more or less moves by max(share, 1 - share) at most. values: (n,), candidates: (m,), of one
    unit; share: from 0 to 1. Raises ValueError for another share, and as `exponential_mechanism`.
    Smith 2011 (STOC), Algorithm 2, over candidates in place of the gaps between values.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share = {share:g}: expected a number from 0 to 1")
    scores = []
    for candidate in candidates:
        below = sum(value < candidate for value in values)
        above = sum(value > candidate for value in values)
        scores.append(-abs((1.0 - share) * below - share * above))
    place = exponential_mechanism(scores, epsilon, max(share, 1.0 - share), rng)
    return candidates[place]


def _rate(epsilon: float, sensitivity: float) -> float:
    """What a score counts in the exponent. Raises ValueError for what is not above 0."""
    if not epsilon > 0.0 or not sensitivity > 0.0:
        raise ValueError(f"epsilon = {epsilon:g}, sensitivity = {sensitivity:g}: expected both > 0")
    return epsilon / (2.0 * sensitivity)
