"""What one run of training could refute, said before it: how many canaries that takes at least.

Guesses refute most where all of them are right, so what these would refute is the limit of any
scores. Of (epsilon, delta) the probability that theorem 5.2 allows for all right guesses is
p^m + 2 m delta alpha (`one_run.chance`), which tends to 2 delta (1 + e^epsilon) as the number m of
canaries grows, and is about .7 of that at the best m. Below it no number of canaries refutes. No
test of one training refutes (epsilon, delta) at an error below delta, whatever it measures: a
training that publishes everything with probability delta keeps the claim. A curve without such a
jump has no floor, so that more canaries always reach a lower error.

Several trainings, each audited at an error fixed beforehand, refute together at the product of the
errors if each of them refutes.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from .canary_guesses import Refutes, all_right
from .one_run import chance

MOST_OF_CURVE = 100_000
"""Canaries that are tried for a curve, which takes a step for each."""

_MOST_OF_POINT = 10_000_000
_PAST_THE_BEST = 1000.0  # times 1 + e^epsilon canaries: p^m is far below any delta by then
_MOST_TRAININGS = 10
_FINER, _NEAR, _TRIED = 1.05, 0.2, 1000  # how the number of canaries is searched
_LOWEST, _HALVINGS = 1e-300, 40


@dataclass(frozen=True)
class Lowest:
    """The lowest error at which guesses can refute, and with how many canaries."""

    error: float
    canaries: int


@dataclass(frozen=True)
class Trainings:
    """So many trainings, each with so many canaries and audited at `error`, refute together."""

    number: int
    canaries: int
    error: float


def most_of_point(epsilon: float) -> int:
    """How many canaries are tried for a claimed epsilon: more only reach less, or are never had."""
    return int(min(_MOST_OF_POINT, _PAST_THE_BEST * (1.0 + math.exp(min(epsilon, 50.0)))))


def lowest_error_of_point(epsilon: float, delta: float) -> Lowest:
    """The lowest error at which all right guesses refute (epsilon, delta), of any number.

    Found in steps of a thousandth near the best number, so that its first three digits are right.
    """

    def likely(canaries: int) -> float:
        return chance(canaries, canaries, canaries, epsilon, delta)

    most = most_of_point(epsilon)
    best = min(_numbers(most), key=likely)
    width = int(_NEAR * best) + 2
    near = range(max(2, best - width), min(most, best + width) + 1, 1 + width // _TRIED)
    best = min([best, *near], key=likely)
    return Lowest(likely(best), best)


def lowest_error(refutes: Refutes, canaries: int) -> float:
    """The lowest error at which these canaries refute, were all guesses right; up to 1e-6 of it.

    1 where they refute at none, and 1e-300 where they would at any.
    """
    low, high = math.log(_LOWEST), 0.0
    guesses = all_right(canaries)
    if not refutes(guesses, canaries, 1.0):
        return 1.0
    if refutes(guesses, canaries, _LOWEST):
        return _LOWEST
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        refuted = refutes(guesses, canaries, math.exp(middle))
        low, high = (low, middle) if refuted else (middle, high)
    return math.exp(high)


def fewest_canaries(
    refutes: Refutes, error: float, most: int, known: int | None = None
) -> int | None:
    """The fewest canaries that refute at `error`, were all guesses right; None where none do.

    most: up to which is searched; known: a number that is tried where none of these do.
    """
    below = 1
    for number in _numbers(most):
        if refutes(all_right(number), number, error):
            return _first(refutes, error, below, number)
        below = number
    return known if known and refutes(all_right(known), known, error) else None


def _first(refutes: Refutes, error: float, low: int, high: int) -> int:
    """The fewest canaries that refute, of which `low` do not, and `high` do."""
    while high - low > 1:
        middle = (low + high) // 2
        if refutes(all_right(middle), middle, error):
            high = middle
        else:
            low = middle
    return high


def several_trainings(refutes: Refutes, error: float, most: int) -> Trainings | None:
    """The fewest trainings, two or more, that refute together at `error`; None where ten do not."""
    for number in range(2, _MOST_TRAININGS + 1):
        each = error ** (1.0 / number)
        canaries = fewest_canaries(refutes, each, most)
        if canaries is not None:
            return Trainings(number, canaries, each)
    return None


def _numbers(most: int) -> Iterator[int]:
    """Numbers of canaries from 2 to `most`, each a twentieth more than the one before."""
    number = 2
    while number < most:
        yield number
        number = max(number + 1, int(number * _FINER))
    yield most
