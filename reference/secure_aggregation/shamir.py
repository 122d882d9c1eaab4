"""Shamir's sharing of a secret: any `threshold` of the shares give it back, fewer tell nothing.

Shamir 1979, "How to share a secret": the secret is the value at 0 of a random polynomial of degree
threshold - 1 over a prime field, a share its value elsewhere.
"""

import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache

PRIME = 2**521 - 1
"""Of the field: secrets of 64 bytes are below it."""


def split(secret: int, threshold: int, places: Sequence[int]) -> dict[int, int]:
    """Shares by place, which are distinct numbers from 1 on.

    Raises ValueError for a secret that is not in the field, for fewer places than the threshold,
    for a threshold below 1, and for places that are not distinct or not positive.
    """
    if not 0 <= secret < PRIME:
        raise ValueError("the secret is not in the field: expected 0 to 2^521 - 2")
    if not 1 <= threshold <= len(places):
        raise ValueError(f"threshold {threshold}: expected 1 to {len(places)}, a share for each")
    if len(set(places)) < len(places) or not all(0 < place < PRIME for place in places):
        raise ValueError(f"places {list(places)[:10]}: expected distinct numbers from 1 on")
    coefficients = [secret, *(secrets.randbelow(PRIME) for _ in range(threshold - 1))]
    shares = {}
    for place in places:
        value = 0
        for coefficient in reversed(coefficients):
            value = (value * place + coefficient) % PRIME
        shares[place] = value
    return shares


def combine(shares: Mapping[int, int]) -> int:
    """The secret behind shares by place, by Lagrange's formula at 0; wrong if they are too few.

    Raises ValueError where there is none.
    """
    if not shares:
        raise ValueError("no shares: expected as many as the threshold")
    weights = lagrange(tuple(shares))
    return sum(w * s for w, s in zip(weights, shares.values(), strict=True)) % PRIME


@lru_cache(maxsize=8)
def lagrange(places: tuple[int, ...]) -> list[int]:
    """The weights of shares at these places in the secret."""
    weights = []
    for place in places:
        above, below = 1, 1
        for other in places:
            if other != place:
                above, below = above * other % PRIME, below * (other - place) % PRIME
        weights.append(above * pow(below, -1, PRIME) % PRIME)
    return weights
