"""Wagers on calls in turn: fair under the law of every call, and quick where noise depends."""

import math
from itertools import product

import numpy as np
import pytest

from dpassay.verifiers.evidence.dependence import COPIED, Conditional, Copies, Switching
from dpassay.verifiers.evidence.mixture import log_mean_of

LAWS = np.array([(0.7, 0.2, 0.1), (0.1, 0.6, 0.3), (0.4, 0.4, 0.2), (0.25, 0.05, 0.7)])
ALTERNATIVES = np.array(
    [[(0.9, 0.05, 0.05), (1 / 3, 1 / 3, 1 / 3)]] * 4
)  # (calls, laws, outcomes): what a label may have in place of its law
RATIOS = np.log(ALTERNATIVES / LAWS[:, None])
PATHS = list(product(range(3), repeat=4))


def chance(path):
    return math.prod(LAWS[i, y] for i, y in enumerate(path))


def seen(path):
    return np.stack([RATIOS[i, :, y] for i, y in enumerate(path)])


def expected(log_e_value):
    """The expectation over all labels of four calls, by a function from paths."""
    return sum(chance(path) * math.exp(log_e_value(path)) for path in PATHS)


def test_wagers_on_what_holds_beforehand_are_fair() -> None:
    """Catches a ratio that counts calls in which the feature does not hold, or counts one twice."""
    holds = np.array([(1, 0, 1), (0, 0, 1), (1, 1, 1), (1, 0, 0)], dtype=bool)

    def log_e_value(path):
        evidence = Conditional(3, 2)
        evidence.observe(holds[:3], seen(path)[:3])
        evidence.observe(holds[3:], seen(path)[3:])
        return log_mean_of(evidence.log_ratios)

    assert expected(log_e_value) == pytest.approx(1.0, abs=1e-12)


def test_a_hidden_chain_is_fair() -> None:
    """Catches a chain that forgets to give back what it risked while it was off."""

    def log_e_value(path):
        evidence = Switching(2)
        evidence.observe(seen(path)[:1])
        evidence.observe(seen(path)[1:])
        return log_mean_of(evidence.log_ratios)

    assert expected(log_e_value) == pytest.approx(1.0, abs=1e-12)


def test_copies_of_earlier_calls_are_fair() -> None:
    """Of the call before, and of the second before; catches a gain by the other call's law."""
    earlier = np.array([(-1, -1), (0, -1), (1, 0), (2, 1)])

    def log_e_value(path):
        labels = np.array(path)
        known = np.where(earlier >= 0, labels[earlier], -1)
        given = np.take_along_axis(LAWS, np.maximum(known, 0), 1)
        evidence = Copies(2)
        evidence.observe(known == labels[:, None], np.where(known >= 0, given, 0.0))
        return log_mean_of(evidence.log_ratios)

    assert expected(log_e_value) == pytest.approx(1.0, abs=1e-12)


def test_a_law_that_sets_in_now_and_then_is_followed() -> None:
    """Power: 400 calls, every other block of 50 from the second law; nothing from the first."""
    rng = np.random.default_rng(0)
    law, other = np.array((0.5, 0.3, 0.2)), np.array((0.9, 0.05, 0.05))
    ratio = np.log(other / law)
    for shown in (True, False):
        evidence = Switching(1)
        for block in range(8):
            drawn = other if shown and block % 2 else law
            evidence.observe(ratio[rng.choice(3, 50, p=drawn)][:, None])
        assert (log_mean_of(evidence.log_ratios) > 16.0) is shown


def test_no_earlier_call_is_no_wager() -> None:
    evidence = Copies(1)
    evidence.observe(np.array([[False]]), np.zeros((1, 1)))
    assert (evidence.log_ratios == 0.0).all()
    evidence.observe(np.array([[True]]), np.full((1, 1), 0.1))
    assert evidence.log_ratios[0, 0] == pytest.approx(math.log(0.1 + COPIED[0] * 10.0))
