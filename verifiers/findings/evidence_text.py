"""E-values and intervals in words."""

import math

NEAREST = "the nearest of the laws compared"
"""What a cause is that is a point of a list of laws."""

_MOST = 100_000.0  # decimal log from which an e-value is not told any closer
_MOST_LIKELIER = 30.0  # decimal log beyond which a ratio of likelihoods is not told


def power_of_ten(log10: float) -> str:
    """An e-value by its decimal log, such as `10^7.2`; one that is infinite as all that large."""
    return f"more than 10^{_MOST:.0f}" if log10 >= _MOST else f"10^{round(log10, 1) + 0.0:.1f}"


def an_e_value(log10: float) -> str:
    """An e-value as the end of a sentence, such as `an e-value of 10^7.2`."""
    return f"an e-value of {power_of_ten(log10)}"


def times_likelier(log10: float) -> str:
    """A ratio of likelihoods by its decimal log; how far beyond 10^30 it lies says no more."""
    return f"{power_of_ten(log10) if log10 <= _MOST_LIKELIER else 'more than 10^30'} times likelier"


def told_apart(end: float, claimed: float, digits: int = 4) -> str:
    """An end of an interval, with enough digits to show on which side of `claimed` it is."""
    if math.isinf(end):
        return f"{end:g}"
    first = max(digits, len(f"{end:.0f}"))  # whole numbers without an exponent
    texts = [f"{end:.{more}g}" for more in range(first, 18)]
    same = (text for text in texts if _side(float(text), claimed) == _side(end, claimed))
    return next(same, texts[-1])


def _side(end: float, claimed: float) -> int:
    """On which side of the claim an end lies: -1, 0 or 1."""
    return (end > claimed) - (end < claimed)
