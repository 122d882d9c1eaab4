"""Evidence that the order of two labels in a call is not random."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from .outcomes import Outcomes

_WAYS = 3
"""Kinds of pairs: the first two labels of a call, calls of two, all pairs of a call."""


class OrderInCalls:
    """Wagers on which of two different labels of a call comes first.

    Under the null, labels of one histogram are independent draws of one law: of two that differ,
    either comes first with probability 1/2. Where noise is sorted, or an order encodes a vote, one
    comes first more often. The wager is the mixture over all probabilities by the prior of
    Krichevsky and Trofimov (1981), a function of the two counts.
    """

    def __init__(self) -> None:
        self._counts: NDArray[np.int64] = np.zeros((_WAYS, 2), dtype=np.int64)

    def observe(self, of_call: Outcomes) -> None:
        """Adds the labels (n,) of a whole call, in the order in which they were given."""
        pairs = of_call[: of_call.size // 2 * 2].reshape(-1, 2)
        falls, rises = pairs[:, 0] > pairs[:, 1], pairs[:, 0] < pairs[:, 1]
        self._counts[0] += falls[:1].sum(), rises[:1].sum()
        self._counts[1] += (falls.sum(), rises.sum()) if of_call.size == 2 else (0, 0)
        self._counts[2] += falls.sum(), rises.sum()

    @property
    def log_e_value(self) -> float:
        """Log of the mean over the three kinds of pairs."""
        falls, rises = self._counts.T
        logs = betaln(falls + 0.5, rises + 0.5) - betaln(0.5, 0.5)
        logs += (falls + rises) * np.log(2.0)
        return float(np.logaddexp.reduce(logs) - np.log(_WAYS))
