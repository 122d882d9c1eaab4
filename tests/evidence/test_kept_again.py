"""Kept answers that come again: fair under the claimed laws, exactly, and found where they are."""

import math
from itertools import product

import numpy as np
import pytest

from dpassay.verifiers.evidence.repetition import log_e_value_again

LAWS = [(0.5, 0.5), (0.9, 0.1), (0.6, 0.3, 0.1), (0.97, 0.02, 0.01), (1 / 3, 1 / 3, 1 / 3)]


@pytest.mark.parametrize("laws", [*product(LAWS, repeat=1), *product(LAWS, LAWS[2:], LAWS[:2])])
def test_the_expectation_is_one_whatever_was_kept(laws) -> None:
    """Over all new answers of one and of three inputs, for every answer that may have been kept.

    Catches a ratio that is not divided by the chance of the kept label, and weights that do not
    sum to 1.
    """
    for kept in product(*(range(len(law)) for law in laws)):
        log_q = np.log([law[label] for law, label in zip(laws, kept, strict=True)])
        expectation = 0.0
        for again in product(*(range(len(law)) for law in laws)):
            chance = math.prod(law[label] for law, label in zip(laws, again, strict=True))
            same = np.equal(again, kept)
            expectation += chance * math.exp(log_e_value_again(log_q, same))
        assert expectation == pytest.approx(1.0, rel=1e-9)


def test_answers_that_all_come_again_refute_soon() -> None:
    """The evidence is nearly the chance of what was seen: 20 nats for nine answers of ten classes.

    One impossible label that comes again is beyond doubt, and never a division by zero.
    """
    log_q = np.log(np.full(9, 0.1))
    found = log_e_value_again(log_q, np.ones(9, dtype=bool))
    assert 20.0 < found < 9 * math.log(10.0)
    assert log_e_value_again(log_q, np.zeros(9, dtype=bool)) < 0.0
    assert 600.0 < log_e_value_again(np.array([-np.inf]), np.array([True])) < 700.0
