"""Evidence that the mean of bounded values exceeds a bound, by betting on it."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

_BETS = np.linspace(0.0, 1.0, 22)[1:-1]


def log_e_value_above(values: NDArray[np.float64], bound: float) -> float:
    """Log e-value against "independent values (n,) in [0, 1] have a mean of at most `bound`".

    Capital starts at 1 and is multiplied by 1 + stake (x - bound) for each value, and averaged over
    stakes up to 1 / bound (Waudby-Smith and Ramdas 2024, arXiv 2010.09686v8, section 4). Each
    factor has mean at most 1 under the null, and is never negative.
    """
    stakes = _BETS / bound
    gains = np.log1p(stakes[:, None] * (values - bound)).sum(-1)
    return float(logsumexp(gains) - np.log(stakes.size))
