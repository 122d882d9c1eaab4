"""Evidence that answers are repeated after the store of kept answers was emptied."""

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mixture_of
from .repetition import SHARES

_LOG_WEIGHTS = np.log([0.7, 0.1, 0.1, 0.1])  # noise seeded by the input repeats every answer
assert _LOG_WEIGHTS.size == SHARES.size


def log_e_value_again(log_q: Vector, same: Vector) -> float:
    """Log e-value for "a share of answers is not drawn anew" against draws of the claimed law.

    log_q: claimed log-probabilities (n,) of the kept answers, one per input; same: whether (n,)
    the answer after the store was emptied equals the kept one. If a new answer is a copy with
    probability s, the ratio is 1 - s + s [same] / q. Its expectation is 1 - s + s q / q = 1 where
    the new answer has the claimed law, independently of the kept one. The product over inputs is
    averaged over shares s with fixed weights.
    """
    shares = SHARES[:, None]
    gains = np.where(same, shares / np.maximum(np.exp(log_q), 1e-300), 0.0)
    return log_mixture_of(np.log(1.0 - shares + gains).sum(-1), _LOG_WEIGHTS)
