"""Confidence intervals for one proportion, and for all proportions of a law together."""

from typing import Any, Literal

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from ...reference.arrays import Integers, Matrix

_MOST_FOR_SISON_GLAZ = 20_000
_TIGHT: dict[str, Any] = {"xtol": 1e-300, "rtol": 1e-14, "maxiter": 2000}
"""Ends near 0 are found to a share of themselves, not to brentq's 2e-12."""


def anytime_interval(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """An interval for a probability, valid with 1 - alpha however often it is looked at.

    successes of trials so far. The proportions p at which the mixture e-value
    B(k + 1/2, n - k + 1/2) / B(1/2, 1/2) / (p^k (1 - p)^(n - k)) stays below 1 / alpha; by Ville's
    inequality the true one never leaves with probability 1 - alpha (Robbins 1970).
    """
    from scipy.optimize import brentq

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
    low = 0.0 if k == 0 or excess(least) <= 0.0 else brentq(excess, least, best, **_TIGHT)
    high = 1.0 if k == n or excess(most) <= 0.0 else brentq(excess, best, most, **_TIGHT)
    return float(low), float(high)


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Lower and upper bound of a probability, each of which fails with probability alpha at most.

    Both together form an interval of level 1 - 2 alpha (Clopper and Pearson 1934): exact for every
    number of trials fixed beforehand.
    """
    from scipy.stats import beta

    low = float(beta.ppf(alpha, successes, trials - successes + 1)) if successes else 0.0
    high = float(beta.isf(alpha, successes + 1, trials - successes)) if successes < trials else 1.0
    return low, high


Simultaneous = Literal["goodman", "sison-glaz"]


def simultaneous(counts: Integers, alpha: float, method: Simultaneous) -> Matrix:
    """Intervals (o, 2) that hold for all probabilities of a law together, for large samples.

    Goodman 1965 has a chi-square limit for each label, Sison and Glaz 1995 a truncated Poisson law
    for all of them; neither is exact, the latter too short where a label is nearly certain. Raises
    ValueError for Sison and Glaz's of more than 20,000 labels, where statsmodels loses the digits.
    """
    from statsmodels.stats.proportion import multinomial_proportions_confint  # an extra

    if method == "sison-glaz" and counts.sum() > _MOST_FOR_SISON_GLAZ:
        raise ValueError(
            f"{int(counts.sum())} labels: expected at most {_MOST_FOR_SISON_GLAZ} for the "
            "intervals of Sison and Glaz, whose moments cancel beyond"
        )
    with np.errstate(invalid="ignore"):  # its moments turn negative on the way
        found = np.asarray(multinomial_proportions_confint(counts, alpha, method=method))
    if not np.isfinite(found).all():
        raise ValueError(f"counts {counts.tolist()}: statsmodels has no {method} intervals")
    return np.clip(found.astype(np.float64), 0.0, 1.0)
