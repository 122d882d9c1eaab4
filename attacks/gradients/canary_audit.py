"""What releases of a canary prove of epsilon.

In the worst case of DP-SGD the adversary knows every other record of the batch. A release along the
canary's direction is then Gaussian, with one of two means: their distance over the noise's standard
deviation is the separation mu, and nothing else of a release tells the worlds apart. So everything
about a canary is exact: its epsilon (Balle and Wang 2018), and the law of what an audit counts.

`Counts` here are of releases above a threshold, and of the others, in either world. The threshold
is in units of the noise, from halfway between the worlds; it is fixed before anything is counted.
"""

from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from ...reference.accounting.counting import costliest_count
from ...reference.arrays import Matrix
from ...reference.numbers.families import Gaussian
from ...reference.numbers.moves import move_epsilon
from ..auditing import Counts
from ..auditing.two_cut import Separated, separated

HALFWAY = 0.0
"""The threshold between the worlds, the best one for many releases."""

ABOVE = np.array([True, False])
_UNIT = Gaussian(1.0)
_THRESHOLDS = np.linspace(-2.0, 5.0, 141)  # tried, from halfway, in units of the noise


def epsilon_of(mu: float, delta: float) -> float:
    """Epsilon at delta of two Gaussians of one width, mu widths apart."""
    return move_epsilon(_UNIT, mu, delta)


@lru_cache(maxsize=64)  # of many audits of one claim
def fixed_threshold(
    mu: float, releases: int, delta: float, alpha: float, *, times: int = 1, anytime: bool = False
) -> float:
    """Where to count, for `proved_epsilon` to be largest if all comes as expected.

    mu: of the worlds by the claim; releases: of each world. Nothing is looked at, so that the
    bounds hold as for any threshold fixed beforehand. Arguments else as of `proved_epsilon`.
    """
    proved = [
        proved_epsilon(_expected(mu, threshold, releases), delta, alpha, times, anytime=anytime)
        for threshold in _THRESHOLDS
    ]
    best = int(np.argmax(proved))
    return float(_THRESHOLDS[best]) if proved[best] > 0.0 else HALFWAY


def proved_epsilon(
    counts: Counts, delta: float, alpha: float, times: int = 1, *, anytime: bool = False
) -> float:
    """A lower bound of the epsilon at delta of `times` releases, whatever the mechanism.

    alpha: probability that it exceeds the true one. By Clopper and Pearson where the number of
    releases was fixed beforehand, or at whatever number they stopped (`anytime`). Of several
    releases, the best test that counts those above the threshold.
    """
    return proved_by(separated(counts, ABOVE, alpha, anytime=anytime), delta, times)


def proved_by(found: Separated, delta: float, times: int = 1) -> float:
    """`proved_epsilon` from probabilities of the event, the closest that are not refuted."""
    sides = (found.here, found.there), (1.0 - found.there, 1.0 - found.here)
    return max(costliest_count(p, q, times, delta)[1] for p, q in sides)


def mu_by(found: Separated) -> float:
    """A lower bound of the separation of *Gaussian* noise, or of what is made of it afterwards.

    Any event has Phi^-1(P) - Phi^-1(Q) <= mu (Dong, Roth and Su 2022, Theorem 2.7); `found`: its
    probabilities, the closest that are not refuted. With `epsilon_of` it bounds an epsilon from
    below only where the noise is Gaussian indeed: such a bound refutes a claim of DP-SGD, and says
    nothing of a mechanism of which no more is known.
    """
    if not found.here > found.there:
        return 0.0
    return float(ndtri(min(found.here, 1.0 - 2.0**-53)) - ndtri(max(found.there, 1e-300)))


def laws_above(mu: float, threshold: float) -> Matrix:
    """Laws (2, 2) of a release above a threshold, or not, in either world."""
    above = ndtr(np.array([0.5 * mu - threshold, -0.5 * mu - threshold]))
    return np.stack([above, 1.0 - above], axis=1)


def _expected(mu: float, threshold: float, releases: int) -> Counts:
    above = np.rint(releases * laws_above(mu, threshold)[:, 0]).astype(np.int64)
    return Counts(*(np.array([count, releases - count]) for count in above))
