"""What a person answers about themselves, before anybody collects it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def randomised_response(
    value: int, categories: int, epsilon: float, rng: np.random.Generator
) -> int:
    """The category of a person, or another one, each other as likely as any.

    It is kept with probability e^epsilon / (e^epsilon + categories - 1). value: from 0 to
    categories - 1. Raises ValueError for another value, and for an epsilon below 0. Warner 1965
    (JASA 60, 309) for two categories; Kairouz, Bonawitz and Ramage 2016 (arXiv 1602.07387), k-RR.
    """
    if not 0 <= value < categories or epsilon < 0.0:
        raise ValueError(f"value {value} of {categories}, epsilon = {epsilon:g}: see the docstring")
    odds = np.exp(epsilon)
    if rng.random() < odds / (odds + categories - 1.0):
        return value
    others = [other for other in range(categories) if other != value]
    return int(rng.choice(others))


def rappor(
    bits: Sequence[bool],
    f: float,
    rates: tuple[float, float],
    reports: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Reports (reports, bits) of one person: bits are randomised once for good, and once for each.

    For good, a bit becomes 1 with probability f / 2, 0 with f / 2, and stays otherwise; a report
    has a 1 where it is 1 with probability q, and where it is 0 with probability p. All reports of a
    person are of one call, so that what is drawn for good is kept. bits: (n,), the Bloom filter of
    the value; rates: p and q. Raises ValueError for a probability that is none. Erlingsson, Pihur
    and Korolova 2014 (arXiv 1407.6981v2), section 2; epsilon of all reports together: Theorem 1.
    """
    p, q = rates
    if not all(0.0 <= chance <= 1.0 for chance in (f, p, q)):
        raise ValueError(f"f = {f:g}, p = {p:g}, q = {q:g}: expected probabilities")
    coins = rng.random(len(bits))
    kept = np.where(coins < f / 2.0, True, np.where(coins < f, False, np.asarray(bits, bool)))
    return rng.random((reports, len(bits))) < np.where(kept, q, p)
