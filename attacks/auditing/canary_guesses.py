"""Guesses of which canaries a training had, from their scores: the highest in, the lowest out."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Vector

SHARES = (1.0, 0.5, 0.2, 0.1, 0.04)
"""Parts of the canaries that are guessed, half as in and half as out; each has an equal part of the
error. How many are guessed is fixed by these, and which by scores alone."""


class Guesses(NamedTuple):
    """How many canaries were guessed, and how many of the guesses were right."""

    number: int
    right: int


def guessed(scores: Vector, coins: NDArray[np.bool_]) -> list[Guesses]:
    """The guesses of each of the `SHARES`.

    scores (m,): higher where a canary seems to have been in; coins (m,): whether it was. Ties are
    broken by place, so that canaries must not stand in the order of their coins. Raises ValueError
    for fewer than two canaries, or scores that are no numbers.
    """
    canaries = len(scores)
    if canaries < 2 or len(coins) != canaries:
        raise ValueError(f"{canaries} scores and {len(coins)} coins: expected two or more of each")
    if np.isnan(scores).any():
        raise ValueError("a score is not a number")
    order = np.argsort(scores, kind="stable")
    found = []
    for share in SHARES:
        half = max(1, round(share * canaries / 2))
        last, first = order[len(order) - half :], order[: min(half, canaries - half)]
        right = int(coins[last].sum() + (~coins[first]).sum())
        found.append(Guesses(last.size + first.size, right))
    return found
