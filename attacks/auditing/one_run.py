"""Epsilon from below by one run of training: canaries that a fair coin put in or left out.

Each of m canaries is in the training data or not, by a coin of its own; after one training each has
a score, and who was in is guessed from the scores (Steinke, Nasr and Jagielski 2023, "Privacy
Auditing with One (1) Training Run", arXiv 2305.08846, theorem 5.2). Under (epsilon, delta) for one
canary more or less, of r guesses no more are right than a binomial count with probability
e^epsilon / (1 + e^epsilon), but for what delta adds. Scores may depend on each other, and on the
training in any way; the coins have to be independent.

Canaries of equal score count as the mean over all ways to choose between them (`canary_guesses`).
That mean is never in the upper tail more often than one choice made by chance, but for what delta
adds, which is up to twice as much: all small cases are enumerated in the tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, expit

from ...reference.arrays import Flags, Vector
from .canary_guesses import SHARES, Guesses, Refutes, guessed

_MOST = 50.0  # epsilon of a bound
_HALVINGS = 40


@dataclass(frozen=True)
class OneRunBound:
    """The training costs at least `epsilon`; of the guesses behind it, how many were right."""

    epsilon: float
    guesses: int
    right: int


def chance(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """The probability of so many right guesses or more, at most, under (epsilon, delta).

    beta + 2 m delta alpha, with W binomial(guesses, e^epsilon / (1 + e^epsilon)),
    beta = P(W >= right) and alpha = max over i of P(right > W >= right - i) / i.
    """
    from scipy.stats import binom

    if right == 0:
        return 1.0
    guessed = float(expit(epsilon))
    reached = float(betainc(right, guesses - right + 1, guessed))  # the upper tail of the count
    if delta == 0.0:
        return reached
    spread = 12.0 * np.sqrt(guesses * guessed * (1.0 - guessed)) + 50.0
    below = max(1, min(right, int(right - guesses * guessed + spread)))  # further down is no mass
    missing = np.arange(1, below + 1)
    law = binom.pmf(right - missing, guesses, guessed)
    alpha = float(np.max(np.cumsum(law) / missing))
    return min(1.0, reached + 2.0 * canaries * delta * alpha)


def refutes_point(epsilon: float, delta: float) -> Refutes:
    """Whether guesses refute (epsilon, delta), under which `chance` has to reach the error."""
    return lambda guesses, canaries, error: _likely(guesses, canaries, epsilon, delta) < error


def one_run_bound(
    scores: Vector,
    coins: Flags,
    delta: float,
    error: float = 0.05,
    shares: Sequence[float] = SHARES,
) -> OneRunBound:
    """The largest epsilon that the guesses refute, whatever their number; 0 if they refute none.

    scores (m,) and coins (m,): see `guessed`, also for what it raises; error: with which the bound
    exceeds the true epsilon, at most; shares: of the canaries that are guessed, each at an equal
    part of the error, chosen before the scores were seen.
    """
    found, part = [], error / len(shares)
    for guesses in guessed(scores, coins, shares):
        epsilon = _refuted(guesses, len(scores), delta, part)
        found.append(OneRunBound(epsilon, guesses.number, guesses.right))
    return max(found, key=lambda bound: bound.epsilon)


def _likely(guesses: Guesses, canaries: int, epsilon: float, delta: float) -> float:
    spent = 2.0 * delta if guesses.tied else delta
    return chance(guesses.right, guesses.number, canaries, epsilon, spent)


def _refuted(guesses: Guesses, canaries: int, delta: float, error: float) -> float:
    """The largest epsilon at which so many right guesses are rarer than `error`.

    Whatever refutes one epsilon refutes all below it, since they imply it.
    """
    low, high = 0.0, _MOST
    if _likely(guesses, canaries, low, delta) >= error:
        return 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        refuted = _likely(guesses, canaries, middle, delta) < error
        low, high = (middle, high) if refuted else (low, middle)
    return low
