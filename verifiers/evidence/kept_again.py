"""Evidence that answers come again once those that were kept are forgotten."""

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mixture_of
from .repetition import SHARES

_LOG_WEIGHTS = np.log([0.7, 0.1, 0.1, 0.1])  # an answer made of its input comes again every time
assert _LOG_WEIGHTS.size == SHARES.size


def log_e_value_again(log_q: Vector, same: Vector) -> float:
    """Log e-value that a share of answers is not drawn anew, against draws of the claimed law.

    log_q: claimed log-probabilities (n,) of the answers that were kept, each of another input;
    same: whether (n,) the answer after they were forgotten is that one. With share s a new answer
    is a copy: 1 - s + s [same] / q for each, whose expectation is 1 - s + s q / q = 1 where the new
    answer has the claimed law and is independent of the kept one, whatever that was. The product
    over inputs is averaged over the shares, with weights fixed beforehand.
    """
    shares = SHARES[:, None]
    gains = np.where(same, shares / np.maximum(np.exp(log_q), 1e-300), 0.0)
    return log_mixture_of(np.log(1.0 - shares + gains).sum(-1), _LOG_WEIGHTS)
