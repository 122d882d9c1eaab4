"""Quantiles of common laws by `scipy.special`: `scipy.stats` takes half a second to load."""

import math

from scipy.special import bdtr, bdtrik, betainc, gammaincinv, nbdtrik


def binomial_quantile(chance: float, times: int, share: float) -> int:
    """The least count of `times` draws of probability `share` that is no less with this chance."""
    if times == 0 or share <= 0.0:
        return 0
    if share >= 1.0:
        return times
    if times * math.log1p(-share) >= math.log(chance):  # none come: bdtrik has no answer there
        return 0
    found = math.ceil(bdtrik(chance, times, share))
    return found - 1 if found and bdtr(found - 1, times, share) >= chance else found


def waiting_quantile(chance: float, wanted: int, share: float) -> int:
    """The least number of misses before so many hits, of probability `share`, with this chance."""
    if wanted == 0 or share >= 1.0 or wanted * math.log(share) >= math.log(chance):
        return 0
    found = math.ceil(nbdtrik(chance, wanted, share))
    # P(misses < found), by the incomplete beta function: nbdtr takes no counts beyond 64 bits
    return found - 1 if found and betainc(wanted, float(found), share) >= chance else found


def chi_squared_quantile(chance: float, degrees: float) -> float:
    """The value below which chi squared of so many degrees of freedom lies with this chance."""
    return float(2.0 * gammaincinv(0.5 * degrees, chance))
