"""The order of two labels in a call: a fair coin under any law of the labels."""

import math
from itertools import product

import numpy as np
import pytest

from dpassay.verifiers.evidence.dependence import OrderInCalls


@pytest.mark.parametrize("law", [(0.5, 0.3, 0.2), (0.1, 0.1, 0.8), (0.5, 0.5, 0.0)])
def test_order_is_fair_under_any_law(law) -> None:
    """Enumerated: all labels of calls of two, three and two; the mean of the e-value is 1."""
    total = 0.0
    for labels in product(range(3), repeat=7):
        evidence = OrderInCalls()
        for start, end in ((0, 2), (2, 5), (5, 7)):
            evidence.observe(np.array(labels[start:end]))
        total += math.prod(law[label] for label in labels) * math.exp(evidence.log_e_value)
    assert math.isclose(total, 1.0, rel_tol=1e-9)


@pytest.mark.parametrize("size", [2, 5, 40])
def test_sorted_labels_are_seen(size) -> None:
    """Power: 60 calls, sorted, of two classes that lead alike have some 30 pairs that differ.

    Fewer than 14 of them in any kind of pair have probability below 1e-5 at a size of 2; the pairs
    of longer calls are given in an order here. The same labels shuffled give no evidence: an
    e-value of 1e6 has probability below 1e-6.
    """
    rng = np.random.default_rng(7)
    told, right = OrderInCalls(), OrderInCalls()
    for _ in range(60):
        labels = rng.integers(2, size=size)
        right.observe(labels)
        first = np.sort(labels[:2])
        told.observe(np.concatenate([first, labels[2:]]))
    assert told.log_e_value > 14 * math.log(2.0) - 4.0
    assert right.log_e_value < math.log(1e6)
