"""Evidence that two streams have different laws, or a larger probability or mean than they may.

Of two streams of one unknown law, of two probabilities, and of a mean and its bound.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, logsumexp

from .mixture import EvenMixture
from .outcomes import Outcomes

CONCENTRATIONS = (1.0, 30.0, 1e3, 3e4)
"""Prior labels of the pooled law in the predictors; many suit small differences."""

_CELLS = 1 << 20


class LevelsOfOneLaw:
    """Mean of two `SameLawEvidence`: with rare outcomes merged into one, and with all apart.

    rest: whether each outcome (o,) is merged. Where labels have the same law, merged ones have.
    """

    def __init__(self, rest: NDArray[np.bool_]) -> None:
        self._all = SameLawEvidence(rest.size)
        few = np.flatnonzero(~rest)
        self._few = SameLawEvidence(few.size + 1)
        self._place = np.full(rest.size, few.size)
        self._place[few] = np.arange(few.size)

    @property
    def pairs(self) -> int:
        """Pairs seen."""
        return self._all.pairs

    @property
    def counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Labels seen per outcome (o,) in each stream."""
        return self._all.counts

    @property
    def log_e_value(self) -> float:
        """Log of the mean of the two e-values."""
        both = np.logaddexp(self._few.log_e_value, self._all.log_e_value)
        return float(both - np.log(2.0))

    def observe(self, x: Outcomes, y: Outcomes) -> None:
        """Adds pairs in order: outcomes (n,) of the first stream and (n,) of the second."""
        self._all.observe(x, y)
        self._few.observe(self._place[x], self._place[y])


class SameLawEvidence(EvenMixture):
    """Bets on pairs (x, y), one label from each stream, with predictors from past pairs.

    outcomes: how many there are. The wager p1(x) p2(y) / (m(x) m(y)) with m = (p1 + p2)/2 has
    expectation a b under any common law P, where a = sum P p1/m, b = sum P p2/m and a + b = 2; so
    a b <= 1 (Turner, Ly, Gruenwald 2021, arXiv 2106.02693). The more obvious ratio of Dirichlet
    marginals is no e-value: its expectation is 2.4 to 3.7.
    """

    def __init__(self, outcomes: int) -> None:
        self._first = np.zeros(outcomes)
        self._second = np.zeros(outcomes)
        self.gains = np.zeros(len(CONCENTRATIONS))

    @property
    def pairs(self) -> int:
        """Pairs seen."""
        return int(self._first.sum())

    @property
    def counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Labels seen per outcome (o,) in each stream."""
        return self._first, self._second

    def observe(self, x: Outcomes, y: Outcomes) -> None:
        """Adds pairs in order: outcomes (n,) of the first stream and (n,) of the second."""
        step = max(1, _CELLS // self._first.size)
        for start in range(0, x.size, step):
            self._bet(x[start : start + step], y[start : start + step])

    def _bet(self, x: Outcomes, y: Outcomes) -> None:
        rows, outcomes = np.arange(x.size), np.arange(self._first.size)
        seen_x = (x[:, None] == outcomes).astype(np.float64)
        seen_y = (y[:, None] == outcomes).astype(np.float64)
        first = self._first + np.cumsum(seen_x, 0) - seen_x
        second = self._second + np.cumsum(seen_y, 0) - seen_y
        time = self._first.sum() + rows
        at = np.stack([x, y], 1)
        n1, n2 = first[rows[:, None], at], second[rows[:, None], at]
        pooled = (n1 + n2 + 0.5) / (2.0 * time + 0.5 * outcomes.size)[:, None]
        for i, concentration in enumerate(CONCENTRATIONS):
            total = (time + concentration)[:, None]
            p1 = (n1 + concentration * pooled) / total
            p2 = (n2 + concentration * pooled) / total
            mean = 0.5 * (p1 + p2)
            self.gains[i] += np.log(p1[:, 0] * p2[:, 1] / (mean[:, 0] * mean[:, 1])).sum()
        self._first = self._first + seen_x.sum(0)
        self._second = self._second + seen_y.sum(0)


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
