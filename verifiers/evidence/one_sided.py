"""Evidence that one probability is larger than another that should be at least as large."""

import numpy as np
from scipy.special import betainc, betaln


def log_e_value_larger(only_first: int, only_second: int) -> float:
    """Log e-value against "the first event is at most as likely as the second".

    Of independent pairs of trials, one of each event, `only_first` had the first event alone and
    `only_second` the second alone. Given that just one of them happened it is the first with
    probability at most 1/2 under the null, and the ratio of any larger one to 1/2 is a
    supermartingale; all of them are mixed by a uniform law on (1/2, 1).
    """
    a, b = only_first + 1.0, only_second + 1.0
    above = float(betainc(b, a, 0.5))  # the beta law's mass above 1/2
    if above <= 0.0:
        return -np.inf
    return float(betaln(a, b) + np.log(2.0 * above) + (a + b - 2.0) * np.log(2.0))
