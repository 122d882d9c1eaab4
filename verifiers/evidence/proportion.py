"""A confidence sequence for a proportion: an interval that holds at all sample sizes at once."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, xlog1py, xlogy


def proportion_interval(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """An interval for a probability, valid with 1 - alpha however often it is looked at.

    successes of trials so far. The proportions p at which the mixture e-value
    B(k + 1/2, n - k + 1/2) / B(1/2, 1/2) / (p^k (1 - p)^(n - k)) stays below 1 / alpha; by Ville's
    inequality the true one never leaves with probability 1 - alpha (Robbins 1970).
    """
    if trials == 0:
        return 0.0, 1.0
    k, n = float(successes), float(trials)
    mixture = betaln(k + 0.5, n - k + 0.5) - betaln(0.5, 0.5)
    room = mixture + np.log(alpha)

    def excess(p: float) -> float:
        return float(room - xlogy(k, p) - xlog1py(n - k, -p))

    best = k / n
    # an end that not even the last float before 0 or 1 reaches is 0 or 1 itself
    least, most = 1e-300, 1.0 - 2.0**-53
    low = 0.0 if k == 0 or excess(least) <= 0.0 else brentq(excess, least, best)
    high = 1.0 if k == n or excess(most) <= 0.0 else brentq(excess, best, most)
    return float(low), float(high)
