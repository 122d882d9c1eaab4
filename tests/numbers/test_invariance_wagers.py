"""Wagers that noise has one law for two inputs: their expectation, by enumeration of all draws."""

import itertools

import numpy as np
import pytest

from dpassay.verifiers.kinds.numbers.checks.invariance import _Comparison

Laws = tuple[np.ndarray, np.ndarray]
Order = tuple[tuple[str, int], ...]

SYMBOLS = (0, 3, 15)  # cells that the laws below use, of sixteen
LAWS = (
    np.array([1.0, 1.0, 1.0]) / 3.0,
    np.array([0.98, 0.01, 0.01]),
    np.array([0.5, 0.5, 0.0]),
    np.array([0.7, 0.2, 0.1]),
)
ORDERS = (
    (("one", 2), ("other", 2)),
    (("one", 1), ("other", 1), ("one", 1), ("other", 1)),
    (("other", 1), ("one", 2), ("other", 1)),
    (("one", 1), ("one", 1), ("other", 2)),
)
"""In which releases come, so many of an input at a look: some wait for those of the other."""

COORDINATES = RELEASES = 2


def expectation(laws: Laws, order: Order, *, reversed_: bool) -> float:
    """The expected wealth after two releases of each input.

    laws: of two numbers by the value behind them; the inputs hold them in opposite orders where
    `reversed_`.
    """
    of_one = [*laws] * RELEASES
    of_other = [*(laws[::-1] if reversed_ else laws)] * RELEASES
    total, places = 0.0, range(len(SYMBOLS))
    for drawn in itertools.product(places, repeat=2 * COORDINATES * RELEASES):
        half = len(drawn) // 2
        chance = np.prod([law[d] for law, d in zip(of_one + of_other, drawn, strict=True)])
        if chance == 0.0:
            continue
        cells = {
            "one": np.array([SYMBOLS[d] for d in drawn[:half]]).reshape(RELEASES, COORDINATES),
            "other": np.array([SYMBOLS[d] for d in drawn[half:]]).reshape(RELEASES, COORDINATES),
        }
        comparison = _Comparison("one", "other", reversed_=reversed_)
        for role, number in order:
            comparison.add(role, cells[role][:number])
            cells[role] = cells[role][number:]
        assert comparison.evidence.pairs == COORDINATES * RELEASES
        total += chance * np.exp(comparison.evidence.log_e_value)
    return total


def test_the_expectation_is_at_most_one() -> None:
    """Releases that wait for each other.

    Catches predictors that have seen the number they bet on: 1.39.
    """
    assert expectation((LAWS[0], LAWS[0]), ORDERS[2], reversed_=False) <= 1.0 + 1e-12


def test_of_counts_in_the_opposite_order_too() -> None:
    """A law may go with the count: the places are turned, so that a pair has one law."""
    assert expectation((LAWS[1], LAWS[2]), ORDERS[1], reversed_=True) <= 1.0 + 1e-12


@pytest.mark.slow("more laws, by the same enumeration")
@pytest.mark.parametrize("laws", list(itertools.combinations_with_replacement(LAWS, 2)))
@pytest.mark.parametrize("reversed_", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_over_a_grid_of_laws(laws: Laws, reversed_: bool, order: Order) -> None:
    assert expectation(laws, order, reversed_=reversed_) <= 1.0 + 1e-12


def test_inputs_of_two_laws_are_beyond_it() -> None:
    """So that the bound above says something: here the wagers gain."""
    one, other = LAWS[1], LAWS[1][::-1]
    total = 0.0
    for drawn in itertools.product(range(3), repeat=6):
        laws = [one] * 3 + [other] * 3
        comparison = _Comparison("one", "other")
        comparison.add("one", np.array(drawn[:3])[:, None])
        comparison.add("other", np.array(drawn[3:])[:, None])
        chance = np.prod([law[d] for law, d in zip(laws, drawn, strict=True)])
        total += chance * np.exp(comparison.evidence.log_e_value)
    assert total > 1.2
