"""The evidence of same-as: by exact enumeration, what it learns, and which faults it would show."""

import itertools
import math
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from dpassay.verifiers.kinds.same_as import evidence
from dpassay.verifiers.kinds.same_as.evidence import Learnt
from dpassay.verifiers.kinds.same_as.faults import shown_faults
from dpassay.verifiers.kinds.same_as.statistics import MOST_STATISTICS, Middles, statistics

LAW = (0.3, 0.7)
THREE = list(itertools.product(itertools.product((0, 1), repeat=2), repeat=3))


def expectations(calls: int = 1, *, few: bool = True) -> list[float]:
    """Of the evidence after one, two and three units, over all replies of one law, few or not."""
    total = [0.0] * 3
    with patch.object(evidence, "FIRST", 1):
        for units in THREE:
            pairs = np.array(units, dtype=np.float64)
            numbers = np.zeros((3, 2, calls, 2))
            numbers[:, :, :, 0] = pairs[:, :, None]
            names = np.array(units)[:, :, None][..., : int(few)]
            chance = math.prod(LAW[reply] for unit in units for reply in unit)
            learnt = Learnt(1)
            for place, done in enumerate((1, 2, 3)):
                inputs = np.zeros((done, calls), dtype=np.int64)
                learnt.observe(numbers[:done], inputs, names[:done])
                total[place] += chance * math.exp(learnt.log_e_value)
    return total


@pytest.mark.parametrize("calls", [1, pytest.param(3, marks=pytest.mark.slow("the same of lives"))])
def test_the_evidence_has_the_expectation_1_whatever_is_learnt(calls) -> None:
    assert expectations(calls) == pytest.approx([1.0] * 3, abs=1e-9)
    assert expectations(calls, few=False) == pytest.approx([1.0] * 3, abs=1e-9)


def test_numbers_that_come_again_are_counted_by_side_and_input() -> None:
    """A number that the target gave to this input before tells, and one of another input nothing.

    Catches counts of units that are still to be wagered on, and of inputs together.
    """
    again = np.zeros((3, 2, 1, 1))
    again[:, :, 0, 0] = [[7.0, 1.0], [7.0, 2.0], [7.0, 3.0]]
    told = evidence.Recurring()
    told.observe(again, np.array([[0], [0], [1]]), 1)
    (gained,) = {float(part) for part in np.round(told.logs[:1], 12)}
    pseudo = 3.0 * 1.5 / 3.0
    odds = math.log((1.0 + pseudo) / pseudo)
    assert gained == pytest.approx(math.log(2.0 / (1.0 + math.exp(-odds))))


def test_ranks_are_counted_by_side_in_cells_that_narrow_outwards() -> None:
    """Of one unit done and two that are wagered on, the wagers as they follow by hand.

    Catches counts of units that are still to be wagered on, and last cells that take in what lies
    farther inwards, where cut tails would not show.
    """
    told = evidence.Celled(1)
    told.observe(np.array([[0.3, 0.999], [0.3, 0.999], [0.3, 0.99]])[:, :, None], 1)
    pseudo = 3.0 * 1.5 / 3.0
    odds = math.log((1.0 + pseudo) / pseudo)
    wanted = sum(math.log(2.0 / (1.0 + math.exp(-gap))) for gap in (2.0 * odds, odds))
    assert told.logs[0] == pytest.approx([wanted])


def test_the_first_units_together_have_the_expectation_1() -> None:
    """Over all ways to exchange the replies of seven units. Catches wagers by ranks among them all.

    These depend on later units, so that the mean was up to 1.008.
    """
    replies = np.random.default_rng(1).normal(size=(7, 2))
    inputs, names = np.zeros((7, 1), dtype=np.int64), np.zeros((7, 2, 0), dtype=np.int64)
    found = []
    with patch.object(evidence, "FIRST", 7):
        for sides in itertools.product((0, 1), repeat=7):
            numbers = np.zeros((7, 2, 1, 2))
            exchanged = np.array(sides, dtype=bool)[:, None]
            numbers[:, :, 0, 0] = np.where(exchanged, replies[:, ::-1], replies)
            learnt = Learnt(1)
            learnt.observe(numbers, inputs, names)
            found.append(math.exp(learnt.log_e_value))
    assert np.mean(found) == pytest.approx(1.0, abs=1e-9)
    assert np.ptp(found) > 0.1


def test_a_predictor_that_treats_sides_unlike_has_another_expectation() -> None:
    """What the test before would catch: waves of the target's reply alone."""

    def of_one_side(ranks: Any) -> Any:
        return np.concatenate([np.cos(math.pi * ranks[:, 0]), 1.0 + 0.0 * ranks[:, 0]], axis=-1)

    with patch.object(evidence, "waves", of_one_side):
        assert abs(expectations()[2] - 1.0) > 1e-3


@pytest.mark.parametrize("calls", [1, 12])
def test_there_are_as_many_statistics_as_shares_are_reckoned_for(calls) -> None:
    """Of 24 numbers and of two inputs; catches a share of each that is taken too large."""
    rng = np.random.default_rng(0)
    numbers, inputs = rng.normal(size=(20, 2, calls, 25)), rng.integers(0, 2, (20, calls))
    found, _ = statistics(numbers, inputs, Middles.of(numbers, inputs, 2))
    assert found.shape[-1] == MOST_STATISTICS[calls > 1]


def replies_of_a_reference(change: float, withheld: int) -> Any:
    """Of 400 calls, the last 200 by so much higher, and so many of these not answered."""
    numbers = np.zeros((400, 2, 1, 2))
    numbers[:, 1, 0, 0] = np.random.default_rng(3).normal(size=400)
    numbers[200:, 1, 0, 0] += change
    if withheld:
        numbers[-withheld:, 1, 0] = [0.0, 1.0]
    none = np.zeros((400, 2, 0), dtype=np.int64)
    inputs = np.zeros((400, 1), dtype=np.int64)
    return SimpleNamespace(numbers=numbers, inputs=inputs, names=none)


@pytest.mark.slow("over half a second")
def test_faults_are_told_of_what_a_budget_let_through() -> None:
    """Catches answers before its end beside refusals after it, which tell by themselves.

    A pair gains a factor of 2 at most, so that of a fault in one reply of a hundred 2,000 pairs are
    the least; 276 were told.
    """
    rng, wanted = np.random.default_rng(1), math.log(1e6)
    found = shown_faults(replies_of_a_reference(0.0, 200), wanted, rng)
    assert {one.fault for one in found if one.units is not None} <= {"half the noise"}
    assert shown_faults(replies_of_a_reference(0.0, 390), wanted, rng) == []


@pytest.mark.slow("over half a second")
def test_no_fault_is_told_of_replies_that_change_as_the_run_goes_on() -> None:
    """As they can be told from others of the reference's own without any fault."""
    rng = np.random.default_rng(1)
    assert shown_faults(replies_of_a_reference(50.0, 0), math.log(1e6), rng) == []
    assert shown_faults(replies_of_a_reference(0.0, 0), math.log(1e6), rng)
