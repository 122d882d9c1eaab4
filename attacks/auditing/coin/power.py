"""What an audit of so many draws surely sees: outputs that tell their world by one number.

Of three kinds: outputs that reveal it, noise that is too small, and randomised response.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from scipy.special import betainc, ndtr, ndtri

from ....reference.arrays import Vector
from .learners import leaf_gains, log_leaf
from .process import CoinAudit, fixed_of, shares_of
from .wagers import Guarantee

_FINE = 400  # shares that are tried
_MOST_FACTOR, _HALVINGS = 64.0, 9  # of the search for a factor
_GRID = np.linspace(-60.0, 60.0, 60_001)  # of outputs, in scales of the noise


def share_told(
    guarantees: Sequence[Guarantee],
    draws: int,
    log_wanted: float,
    *,
    first: int,
    features: int,
    predicted: bool = False,
    misses: float = 0.01,
) -> float | None:
    """The least share of one world's outputs that, told by one number, `draws` draws show.

    The number is the same in all other outputs of both worlds, and larger in these, or smaller. It
    is one of `features` numbers at most, which are chosen by the `first` outputs, in which it must
    have changed. The evidence is averaged over the guarantees; log_wanted: what it must reach, with
    probability 1 - misses; predicted: whether log-odds are given too. None where no share shows.

    Where the number has changed, the first stage has it in a cell of its own, with one coin alone:
    the wager of that leaf is a part of the capital, and what is said of other cells keeps at least
    the part that is not wagered. So the evidence is at least that of the leaf, and all that is
    random is how many draws are told: a binomial number.
    """
    needed = draws + 1.0
    for guarantee in guarantees:
        for part, share in shares_of(guarantee, features, predicted=predicted):
            lost = math.log(len(guarantees)) - share + draws * part.log_price
            told = np.arange(1.0, draws + 1.0)
            enough = np.flatnonzero(log_leaf(leaf_gains(part), told) - lost >= log_wanted)
            needed = min(needed, float(told[enough[0]]) if enough.size else needed)
    if needed > draws:
        return None
    shares = np.linspace(0.0, 1.0, _FINE + 1)[1:]
    unseen = (1.0 - 0.5 * shares) ** first + 1.0 - betainc(needed, draws - needed + 1, 0.5 * shares)
    shown = shares[unseen <= misses]
    return float(shown[0]) if shown.size else None


Law = Literal["laplace", "gaussian"]
"""Noise on a number that differs by one step between the two worlds."""


def factor_told(
    guarantees: Sequence[Guarantee],
    draws: int,
    log_wanted: float,
    law: Law,
    *,
    features: int,
    predicted: bool = False,
    misses: float = 0.01,
) -> float | None:
    """The least factor k, such that noise at k times the claimed epsilon is refuted.

    Of the guarantee of the smallest delta, at that delta; with probability 1 - misses, by the mean
    and variance of the log evidence of one prediction, taken to be normal, where cells are of equal
    mass. The other arguments are those of `share_told`. None where no factor up to 64 is, and where
    none has such noise: epsilon 0, or Gaussian noise at delta 0.
    """
    first = min(guarantees, key=lambda one: one.delta)
    if first.epsilon == 0.0 or (law == "gaussian" and first.delta == 0.0):
        return None
    quantile = float(ndtri(1.0 - misses))

    def told(factor: float) -> bool:
        here, there = _masses(law, factor * first.epsilon, first.delta)
        for guarantee in guarantees:
            for fixed, shares in fixed_of(guarantee, features, predicted=predicted):
                mean = 0.5 * (fixed.heads @ there + fixed.tails @ here)
                square = 0.5 * (fixed.heads**2 @ there + fixed.tails**2 @ here)
                spread = np.sqrt(draws * np.maximum(square - mean**2, 0.0))
                lost = math.log(len(guarantees)) + draws * fixed.guarantee.log_price
                if (shares + draws * mean - quantile * spread - lost >= log_wanted).any():
                    return True
        return False

    return _least(told, _MOST_FACTOR)


def _least(told: Callable[[float], bool], most: float) -> float | None:
    """The least factor above 1 that is told, by bisection of its logarithm."""
    low, high = 0.0, math.log(most)
    if not told(most):
        return None
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if told(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _masses(law: Law, epsilon: float, delta: float) -> tuple[Vector, Vector]:
    """Masses (64,) of either world in cells of equal mass of both, of noise that costs epsilon."""
    laplace = law == "laplace"
    half = 0.5 * (epsilon if laplace else _gaussian_shift(epsilon, delta))
    cdf = _laplace_cdf if laplace else _gaussian_cdf
    places = _GRID * max(1.0, half)
    here, there = cdf(places + half), cdf(places - half)
    edges = np.interp(np.arange(1, 64) / 64, 0.5 * (here + there), places)

    def masses(shift: float) -> Vector:
        return np.diff(np.concatenate([[0.0], cdf(edges + shift), [1.0]]))

    return masses(half), masses(-half)


def _gaussian_cdf(x: Vector) -> Vector:
    return np.asarray(ndtr(x))


def _laplace_cdf(x: Vector) -> Vector:
    return np.where(x < 0.0, 0.5 * np.exp(-np.abs(x)), 1.0 - 0.5 * np.exp(-np.abs(x)))


def _gaussian_shift(epsilon: float, delta: float) -> float:
    """The shift over sigma at which Gaussian noise costs epsilon at delta; by bisection.

    Balle and Wang 2018, arXiv 1805.06530, Theorem 8.
    """
    low, high, grown = 0.0, 100.0 + epsilon, math.exp(min(epsilon, 700.0))
    for _ in range(100):
        shift = 0.5 * (low + high)
        apart = epsilon / shift
        spent = ndtr(0.5 * shift - apart) - grown * ndtr(-0.5 * shift - apart)
        low, high = (shift, high) if spent <= delta else (low, shift)
    return low


def response_nats(epsilon: float, draws: int) -> float:
    """What the best test learns of draws of randomised response at epsilon, on average, in nats.

    Against two worlds of one law: of each draw, log 2 less the entropy of a coin of that bias.
    """
    bias = 1.0 / (1.0 + math.exp(-min(epsilon, 700.0)))
    rest = 1.0 - bias
    unsure = -bias * math.log(bias) - (rest * math.log(rest) if rest > 0.0 else 0.0)
    return draws * (math.log(2.0) - unsure)


def response_told(epsilon: float, draws: int, log_wanted: float, misses: float = 0.01) -> bool:
    """Whether randomised response at epsilon is surely told from two worlds of one law.

    By the evidence of a `CoinAudit` of draws of which so few show their world as in `misses` of all
    cases, in an order of which the evidence depends little.
    """
    from scipy.stats import binom

    shown = int(binom.ppf(misses, draws, 1.0 / (1.0 + math.exp(-min(epsilon, 700.0)))))
    rng = np.random.default_rng(0)
    coins = rng.permutation(draws) < draws // 2
    shows = rng.permutation(draws) < shown
    audit = CoinAudit(Guarantee(0.0))
    audit.observe((coins == shows).astype(np.float64), coins)
    return audit.log_e_value >= log_wanted
