"""Guesses of which canaries a training had, from their scores: the highest in, the lowest out."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...reference.arrays import Flags, Vector

SHARES = (1.0, 0.5, 0.2, 0.1, 0.04)
"""Parts of the canaries that are guessed, half as in and half as out (of all, about half); each has
an equal part of the error. How many are guessed is fixed by these, and which by scores alone."""

_SAME = 1e-9  # of sums of parts of a canary: room for their rounding errors


class Guesses(NamedTuple):
    """How many canaries were guessed, and how many of the guesses were right.

    tied: whether equal scores left it open which canaries to guess.
    """

    number: int
    right: int
    tied: bool = False


Refutes = Callable[[Guesses, int, float], bool]
"""Whether guesses, of so many canaries, refute a claim at an error."""


def guessed(scores: Vector, coins: Flags, shares: Sequence[float] = SHARES) -> list[Guesses]:
    """The guesses of each of the shares.

    scores (m,): higher where a canary seems to have been in; coins (m,): whether it was. Where all
    are guessed, the widest gap near the middle of the scores divides them, as coins seldom put
    just half of the canaries in. Where
    equal scores leave open which canaries are guessed, the count is the mean over all choices,
    rounded down: canaries that cannot be told apart count half. Raises ValueError for fewer than
    two canaries, or scores that are no numbers.
    """
    canaries = len(scores)
    if canaries < 2 or len(coins) != canaries:
        raise ValueError(f"{canaries} scores and {len(coins)} coins: expected two or more of each")
    if np.isnan(scores).any():
        raise ValueError("a score is not a number")
    _, score, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    among = np.bincount(score, coins)  # of the canaries of each score, how many were in
    below = np.concatenate([[0.0], np.cumsum(sizes)])
    found = []
    for share in shares:
        number_out, number_in = _halves(canaries, share)
        if share == 1.0:
            number_out = _widest_gap(np.sort(scores))
            number_in = canaries - number_out
        guessed_out = np.clip(number_out - below[:-1], 0.0, sizes)
        guessed_in = np.clip(below[1:] - (canaries - number_in), 0.0, sizes)
        right = (guessed_in * among + guessed_out * (sizes - among)) / sizes
        tied = bool(((guessed_in % sizes > 0) | (guessed_out % sizes > 0)).any())
        found.append(Guesses(number_out + number_in, int(right.sum() + _SAME), tied))
    return found


def _halves(canaries: int, share: float) -> tuple[int, int]:
    """How many canaries are guessed as out, and as in."""
    number = max(2, round(share * canaries))
    return number // 2, number - number // 2


def _widest_gap(ordered: Vector) -> int:
    """How many scores (m,) are below their widest gap, within 4 deviations of m coins of half."""
    canaries = len(ordered)
    far = int(2.0 * np.sqrt(canaries))
    first, last = max(1, canaries // 2 - far), min(canaries - 1, canaries // 2 + far)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        gaps = np.nan_to_num(np.diff(ordered[first - 1 : last + 1]), nan=0.0)
    return first + int(np.argmax(gaps)) if gaps.max() > 0.0 else canaries // 2


def all_right(canaries: int, share: float = 1.0) -> Guesses:
    """The guesses of a share of the canaries, were all of them right."""
    number = sum(_halves(canaries, share))
    return Guesses(number, number)


def useful_shares(refutes: Refutes, canaries: int, error: float) -> tuple[float, ...]:
    """The shares among which the error is divided, so that each of them could refute the claim.

    As many of `SHARES` as could, from the largest on, were all of their guesses right. They follow
    from the claim and the number of canaries, before any score is looked at. Empty where none
    could.
    """
    for kept in range(len(SHARES), 0, -1):
        if refutes(all_right(canaries, SHARES[kept - 1]), canaries, error / kept):
            return SHARES[:kept]
    return ()
