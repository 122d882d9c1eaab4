"""Wagers on pairs of neighbours: fair under every law that epsilon and delta allow."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.reference.numbers import DiscreteGaussian, DiscreteLaplace
from dpassay.reference.numbers.families import Additive, Gaussian, Laplace
from dpassay.reference.numbers.moves import move_epsilon
from dpassay.verifiers.kinds.numbers.evidence.two_events import Level, TwoEvents, both_ways

LEVELS = [Level(0.0, 0.1), Level(0.5, 0.0), Level(1.5, 0.01), Level(8.0, 1e-5)]


def worst(level: Level) -> list[tuple[float, float]]:
    """Probabilities (P(A), P'(A)) with as much of A at the first input as the level allows."""
    there = np.concatenate([[0.0], np.geomspace(1e-9, 1.0, 40)])
    return [(min(1.0, math.exp(level.epsilon) * q + level.delta), float(q)) for q in there]


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_expectation_is_at_most_one_under_the_whole_null(level: Level) -> None:
    """By enumeration of two pairs; a wager without delta, or on a ratio of rates, exceeds it."""
    for p, q in worst(level):
        total = 0.0
        for outcome in itertools.product((0, 1), repeat=4):
            chance = 1.0
            for place, hit in enumerate(outcome):
                rate = p if place < 2 else q
                chance *= rate if hit else 1.0 - rate
            wagers = TwoEvents(1, (level,))
            hits = np.array(outcome, dtype=bool).reshape(2, 2, 1)
            wagers.count(hits[0], hits[1])
            total += chance * math.exp(wagers.log_e_value)
        assert total <= 1.0 + 1e-12, (p, q, total)


def test_expectation_where_all_levels_hold_of_two_events() -> None:
    """A mixture over events and levels, both ways, of two coins that obey all of them."""
    levels = (Level(0.7, 0.0), Level(0.2, 0.2))
    p, q = 0.5, 0.3  # 0.5 <= e^0.7 0.3 and 0.7 <= e^0.2 0.5 + 0.2, and the other way round
    total = 0.0
    for here, there in itertools.product((False, True), repeat=2):
        wagers = TwoEvents(2, levels)
        wagers.count(*both_ways(np.array([[here]]), np.array([[there]])))
        chance = (p if here else 1 - p) * (q if there else 1 - q)
        total += chance * math.exp(wagers.log_e_value)
    assert total <= 1.0 + 1e-12


@pytest.mark.parametrize("level", [Level(0.5, 0.0), Level(1.0, 1e-3), Level(0.1, 0.02)])
def test_an_event_that_one_input_lacks_shows_as_often_as_announced(level: Level) -> None:
    """At the rate said to be needed, it comes often enough with probability 0.99.

    It was the rate of the hits needed themselves, which come in half of all runs.
    """
    threshold, pairs = 17.0, 1_000
    share = TwoEvents(10, (level,)).share_needed(threshold, pairs)

    def shown(hits: int) -> bool:
        wagers = TwoEvents(10, (level,))
        here = np.zeros((pairs, 10), dtype=bool)
        here[:hits, 3] = True
        wagers.count(here, np.zeros_like(here))
        return wagers.log_e_value >= threshold and wagers.best[0] == 3

    least = next(hits for hits in range(pairs) if shown(hits))
    assert 0.99 <= binom.sf(least - 1, pairs, share) < 0.9975  # other stakes help a little
    assert TwoEvents(10, (level,)).share_needed(1e4, 50) > 1.0


FAMILIES = [Laplace(2.0), DiscreteLaplace(0.7), Gaussian(1.3), DiscreteGaussian(0.8)]


def hockey_stick(family: Additive, move: float, epsilon: float) -> float:
    """Delta by summation over narrow cells, or over whole numbers."""
    step = 1.0 if family.whole else 1e-3
    cells = np.arange(-60.0, 60.0, step)
    p, q = (np.exp(family.log_mass(cells - shift, 0.5 * step)) for shift in (0.0, move))
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@pytest.mark.parametrize("delta", [1e-5, 1e-2])
def test_epsilon_of_a_move_by_summation(family: Additive, delta: float) -> None:
    """A tenth less epsilon does not hold at that delta; sqrt(2 ln(1.25 / delta)) / sigma would."""
    pure = isinstance(family, Laplace | DiscreteLaplace)
    epsilon = move_epsilon(family, 2.0, 0.0 if pure else delta)
    assert hockey_stick(family, 2.0, epsilon) <= (1e-9 if pure else 1.001 * delta)
    assert hockey_stick(family, 2.0, 0.98 * epsilon) > (1e-4 if pure else 1.01 * delta)


def test_what_epsilon_of_a_move_does_not_take() -> None:
    for family, move, delta, said in [
        (Gaussian(1.0), 1.0, 0.0, "delta 0: .*between 0 and 1 .*gaussian:1"),
        (Laplace(1.0), 1.0, 0.1, "delta 0.1: .* 0 .*laplace:1"),
        (DiscreteLaplace(1.0), 0.5, 0.0, "discrete-laplace:1 .*by 0.5"),
    ]:
        with pytest.raises(ValueError, match=said):
            move_epsilon(family, move, delta)
    with pytest.raises(ValueError, match=r"laplace:1: .*Gaussian"):
        Laplace(1.0).move_delta(1.0, 1.0)
