"""How many calls prove that a refusal depends on the data: the bound, by enumeration."""

import itertools
import math

import numpy as np
import pytest

from dpassay.verifiers.evidence.refusals import calls_that_prove, log_fits

GRID = np.linspace(0.0, 1.0, 401)
"""Probabilities of a refusal on one input, and on its neighbour."""


def private(p: np.ndarray, q: np.ndarray, epsilon: float, delta: float) -> np.ndarray:
    """Which pairs of probabilities of a refusal are (epsilon, delta)-private, all four ways."""
    e, room = math.exp(epsilon), 1e-12
    refused = (p <= e * q + delta + room) & (q <= e * p + delta + room)
    answered = (1 - p <= e * (1 - q) + delta + room) & (1 - q <= e * (1 - p) + delta + room)
    return np.asarray(refused & answered)


@pytest.mark.parametrize("epsilon", [0.0, 0.25, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.1])
def test_no_private_refusal_fits_the_coins_more_often(epsilon: float, delta: float) -> None:
    """The largest (p + 1 - q) / 2 of all private pairs is the bound, up to the grid.

    Catches a bound of e^epsilon / (1 + e^epsilon) alone, which delta exceeds, and one of epsilon
    alone that none attains.
    """
    p, q = np.meshgrid(GRID, GRID)
    most = float(((p + 1.0 - q) / 2.0)[private(p, q, epsilon, delta)].max())
    bound = math.exp(log_fits(epsilon, delta))
    assert most <= bound + 1e-12
    assert most >= bound - 2.0 / (len(GRID) - 1)


@pytest.mark.parametrize("turn", [(True, False), (False, True)])
def test_whoever_refuses_in_turn_fits_by_the_coins_alone(turn: tuple[bool, bool]) -> None:
    """Enumerated: a refusal of every other call, whatever is given, fits in 2^-n of all coins.

    Catches calls of each input in strict turns, all of which it would fit.
    """
    calls = 10
    coins = list(itertools.product([True, False], repeat=calls))
    refused = [turn[place % 2] for place in range(calls)]
    assert sum(list(one) == refused for one in coins) / len(coins) == 2.0**-calls
    assert 2.0**-calls <= math.exp(calls * log_fits(0.1, 0.0))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("epsilon", "delta", "releases"), [(1.0, 0.0, 4), (3.0, 1e-6, 20), (10.0, 1e-6, 100)]
)
def test_releases_together_leave_each_as_much(epsilon: float, delta: float, releases: int) -> None:
    """Enumerated: all (p, q) whose m calls, all refused or all answered, are private for any m."""
    p, q = np.meshgrid(GRID, GRID)
    fit = np.ones_like(p, dtype=bool)
    e = math.exp(epsilon)
    for m in range(1, releases + 1):
        fit &= (p**m <= e * q**m + delta) & ((1 - q) ** m <= e * (1 - p) ** m + delta)
    most = float(((p + 1.0 - q) / 2.0)[fit].max())
    assert most <= math.exp(log_fits(epsilon, delta, releases)) + 1e-12
    assert log_fits(epsilon, delta, releases) < log_fits(epsilon, delta)


@pytest.mark.parametrize(("epsilon", "each"), [(0.25, 12), (1.0, 23), (2.0, 55)])
def test_so_many_calls_prove(epsilon: float, each: int) -> None:
    """The least for which the power is at most the error, and half of it of each input."""
    fits = log_fits(epsilon, 0.0)
    calls = calls_that_prove(fits, 1e-6)
    assert calls is not None
    assert math.ceil(calls / 2) == each
    assert math.exp(calls * fits) <= 1e-6 < math.exp((calls - 1) * fits)


def test_nothing_is_proven_where_all_may_fit() -> None:
    assert calls_that_prove(log_fits(1.0, 1.0), 1e-6) is None
    assert calls_that_prove(0.0, 1e-6) is None
    assert calls_that_prove(log_fits(10_000.0, 0.0), 1e-6) is None
    assert log_fits(20.0, 0.0) == pytest.approx(-math.exp(-20.0), rel=1e-6)
