"""The trade-off curve from below by one run of training: which curves its canaries refute.

Canaries are put in or left out by fair coins and guessed as for `one_run`. Claimed is f-DP for one
canary more or less: an event of probability x has at least the probability `least(x)` = f(1 - x)
where one coin is another; f is the trade-off curve, convex and symmetric.

Of m canaries r are guessed and T right, with probabilities p_k. Take a canary at random and the
event that its guess is right while T is i or more: it has the probability A_i, the sum over k >= i
of k p_k / m. With its coin turned over, the same guess is wrong and one fewer is right: B_(i-1),
where B_i is the sum over k >= i of (r - k) p_k / m. As `least` is convex, B_(i-1) >= least(A_i)
(Mahloujifar, Melis, Chaudhuri 2024, "Auditing f-Differential Privacy in One Run", arXiv 2410.22235;
a canary that is not guessed is neither right nor wrong, and counts in m).

For T >= c to have a probability of `error`, every lower count needs some mass too, and `mass` is
the least in all: B and A grow from one count to the next as little as they may. By parts, A_i is a
sum of B_i, ..., B_(c-1) with weights that are not negative, and of what T >= c gives, which is
least where T = c; so that no law has less of either. Where the mass is above 1, so many right
guesses are rarer than `error` under the curve, and refute it.

Where equal scores leave open who is guessed, T is a mean over all choices, and the guess is one of
them by chance. To turn a coin over moves T by one at most, so that all of this holds as it stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from ...reference.arrays import Vector
from .canary_guesses import SHARES, Guesses, Refutes, guessed

Least = Callable[[Vector], Vector]
"""Of curves: the least probability of an event for a neighbour, by its probability; both (n,)."""

_MOST, _TRIED, _ROUNDS = 20.0, 64, 4  # mu of a bound, and how it is searched
_ROUNDING = 1e-9
"""Room for rounding errors of the mass, which lie near 1e-14 for ten thousand guesses."""


@dataclass(frozen=True)
class MuBound:
    """The training is mu-GDP for no mu below `mu`, by so many guesses, of which some were right."""

    mu: float
    guesses: int
    right: int


def gaussian(mu: ArrayLike) -> Least:
    """The curves of Gaussian differential privacy; mu: (n,), or one."""
    apart = np.asarray(mu, dtype=np.float64)
    return lambda event: np.asarray(ndtr(ndtri(event) - apart))


def of_guarantees(epsilons: ArrayLike, deltas: ArrayLike) -> Least:
    """The curve of (epsilon, delta) pairs that hold all at once; epsilons, deltas: (k,)."""
    e = np.asarray(epsilons, dtype=np.float64)
    d = np.asarray(deltas, dtype=np.float64)

    def least(event: Vector) -> Vector:
        x = np.asarray(event)[..., None]
        lines = np.maximum((x - d) * np.exp(-e), 1.0 - d - np.exp(e) * (1.0 - x))
        return np.asarray(np.maximum(lines.max(axis=-1), 0.0))

    return least


def mass(least: Least, guesses: Guesses, canaries: int, error: float) -> Vector:
    """What all counts need of probability for so many right guesses, or more, to have `error`.

    (n,), one for each curve of `least`; a curve that needs more than 1 is refuted. What is above 2
    may stop short of all of it.
    """
    number, right = guesses.number, guesses.right
    wrong = np.array([error * (number - right) / canaries])  # B of the counts so far
    told = np.array([error * right / canaries])  # A of them
    whole = number / canaries
    for count in range(right - 1, -1, -1):
        grown = np.maximum(wrong, least(told))
        if np.array_equal(grown, wrong):
            break
        told = np.minimum(told + count / (number - count) * (grown - wrong), 1.0)
        wrong = grown
        if np.all(told + wrong > 2.0 * whole):
            break
    return np.asarray((told + wrong) / whole)


def refutes_curve(least: Least) -> Refutes:
    """Whether guesses refute a curve."""
    return lambda guesses, canaries, error: bool(
        mass(least, guesses, canaries, error)[0] > 1.0 + _ROUNDING
    )


def curve_refuted(
    least: Least,
    scores: Vector,
    coins: NDArray[np.bool_],
    error: float = 0.05,
    shares: Sequence[float] = SHARES,
) -> bool:
    """Whether the canaries of one training refute a curve, which a true one suffers with `error`.

    scores (m,) and coins (m,): see `guessed`, also for what it raises; shares: as of
    `one_run_bound`.
    """
    part, refutes = error / len(shares), refutes_curve(least)
    return any(refutes(one, len(scores), part) for one in guessed(scores, coins, shares))


def one_run_mu(scores: Vector, coins: NDArray[np.bool_], error: float = 0.05) -> MuBound:
    """The largest mu whose Gaussian curve the guesses refute; 0 if they refute none.

    scores (m,) and coins (m,): see `guessed`, also for what it raises; error: with which a training
    that is mu-GDP gets a bound above mu, at most.
    """
    part = error / len(SHARES)
    found = [
        MuBound(largest_mu(one, len(scores), part), one.number, one.right)
        for one in guessed(scores, coins)
    ]
    return max(found, key=lambda bound: bound.mu)


def largest_mu(guesses: Guesses, canaries: int, error: float) -> float:
    """The largest mu whose curve these guesses refute at `error`, whatever their number; or 0.

    What refutes one mu refutes all below it, since they imply it.
    """
    low, high = 0.0, _MOST
    for _ in range(_ROUNDS):
        tried = np.linspace(low, high, _TRIED + 1)
        refuted = mass(gaussian(tried), guesses, canaries, error) > 1.0 + _ROUNDING
        if not refuted[0]:
            return low
        last = _TRIED if refuted.all() else int(np.argmin(refuted)) - 1
        low, high = float(tried[last]), float(tried[min(last + 1, _TRIED)])
    return low
