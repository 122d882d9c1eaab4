"""Evidence that one probability is larger than another that should be at least as large."""

import numpy as np
from scipy.special import betainc, betaln


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
