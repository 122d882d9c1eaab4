"""The e-variable: a fair coin, predicted better than a guarantee of (epsilon, delta) allows.

Let the coin s = 1 or -1 choose the world of a draw whose output is z, and let h be a prediction of
the coin's log-odds that does not depend on the coin. Then the expectation of
e = sigma(s h) / sigma(s clip(h, -epsilon, epsilon)) is 1 + delta exp(-epsilon) at most.

Proof. Under (epsilon, 0) the log-odds of the coin given z lie within epsilon, so that P(s = 1 | z)
is a mixture of sigma(epsilon) and sigma(-epsilon), and both are to be looked at. Where |h| <=
epsilon, e is 1. Where h > epsilon, E[e | z] is sigma(h) + sigma(-h) = 1 at sigma(epsilon), and less
at sigma(-epsilon), as e is larger for s = 1; where h < -epsilon, alike. Under (epsilon, delta) a
draw is of a law that any output reveals with probability delta, whatever the coin says, and else of
an (epsilon, 0) pair (the dominating mechanism of Kairouz, Oh and Viswanath 2015, arXiv 1311.0776,
of which every such pair is a post-processing); e is 1 / sigma(epsilon) = 1 + exp(-epsilon) at most.
So E[e] <= (1 - delta) + delta (1 + exp(-epsilon)). Where predictions are held within epsilon + cap,
e is sigma(epsilon + cap) / sigma(epsilon) at most, which stands in place of 1 + exp(-epsilon): at a
delta that is not small, as of a curve's lines, a small cap saves more than it forgoes.

Given all outputs, and which draws are of the revealing kind, coins are independent: products of e
over draws, with predictions that know all outputs and the coins before, are test supermartingales
once they are divided by that bound to the power n. So cells may be cut by the outputs on which
they are wagered, as long as worlds are chosen by coins, and not in turn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ....reference.arrays import Vector


@dataclass(frozen=True)
class Guarantee:
    """What is claimed of each pair of neighbours. Raises ValueError for values out of range.

    cap: log-odds beyond epsilon within which predictions are held.
    """

    epsilon: float
    delta: float = 0.0
    cap: float = math.inf

    def __post_init__(self) -> None:
        if not (0.0 <= self.epsilon < math.inf and 0.0 <= self.delta < 1.0):
            raise ValueError(
                f"epsilon {self.epsilon:g}, delta {self.delta:g}: expected epsilon from 0, and "
                "delta from 0, below 1"
            )

    @property
    def log_price(self) -> float:
        """What each draw costs, in nats, as delta lets some be of any law."""
        most = float(_log_sigma(np.array(self.epsilon + self.cap)))
        return math.log1p(self.delta * math.expm1(most - float(_log_sigma(np.array(self.epsilon)))))

    def log_wager(self, odds: ArrayLike) -> tuple[Vector, Vector]:
        """Logs (...) of e for a coin that shows 1, and for one that shows -1, by log-odds (...).

        Within epsilon both are 0: most predictions are, and cost nothing.
        """
        h = np.asarray(odds, dtype=np.float64)
        ones, others = np.zeros(h.shape), np.zeros(h.shape)
        beyond = np.abs(h) > self.epsilon
        some = h[beyond]
        height = np.minimum(np.abs(some), self.epsilon + self.cap)
        gain = _log_sigma(height) - _log_sigma(np.array(self.epsilon))
        loss = gain - (height - self.epsilon)  # as sigma(-x) is exp(-x) sigma(x)
        ones[beyond] = np.where(some > 0.0, gain, loss)
        others[beyond] = np.where(some > 0.0, loss, gain)
        return ones, others


def log_wagers(guarantees: Sequence[Guarantee], odds: ArrayLike) -> tuple[Vector, Vector]:
    """`Guarantee.log_wager` of each guarantee: two arrays (guarantees, ...)."""
    ones, others = zip(*(guarantee.log_wager(odds) for guarantee in guarantees), strict=True)
    return np.stack(ones), np.stack(others)


def _log_sigma(x: Vector) -> Vector:
    found: Vector = -np.logaddexp(0.0, -x)
    return found
