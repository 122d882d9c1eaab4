"""Evidence that a probability is larger than another, or a mean than a bound, as it must not be."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, logsumexp

_BETS = np.linspace(0.0, 1.0, 22)[1:-1]


def log_e_value_larger(only_first: int, only_second: int) -> float:
    """Log e-value against "the first event is at most as likely as the second".

    only_first, only_second: independent pairs of trials, one of each event, in which only the first
    or only the second happened. Given that exactly one happened, it is the first with probability
    at most 1/2 under the null, so that the likelihood ratio of any larger probability to 1/2 is a
    supermartingale. These are mixed by a uniform law on (1/2, 1).
    """
    a, b = only_first + 1.0, only_second + 1.0
    above = float(betainc(b, a, 0.5))  # the beta law's mass above 1/2
    if above <= 0.0:
        return -np.inf
    return float(betaln(a, b) + np.log(2.0 * above) + (a + b - 2.0) * np.log(2.0))


def log_e_value_above(values: NDArray[np.float64], bound: float) -> float:
    """Log e-value against "independent values (n,) in [0, 1] have a mean of at most `bound`".

    Capital starts at 1 and is multiplied by 1 + stake (x - bound) for each value, and averaged over
    stakes up to 1 / bound (Waudby-Smith and Ramdas 2024, arXiv 2010.09686v8, section 4). Each
    factor has mean at most 1 under the null, and is never negative.
    """
    stakes = _BETS / bound
    gains = np.log1p(stakes[:, None] * (values - bound)).sum(-1)
    return float(logsumexp(gains) - np.log(stakes.size))
