"""The costliest pair against all pairs there are, where these can be counted."""

import numpy as np
import pytest

from dpassay.reference import ConfidentGNMax, Gaussian, Laplace, NoisyArgmax, neighbours
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.reference.accounting.worst_pair import worst_pair

ORDERS = (1.01, 1.5, 4.0, 16.0, 64.0, 300.0)


def rising(classes, teachers, least=0):
    """All histograms whose votes do not fall from class to class."""
    if classes == 1:
        yield (teachers,)
        return
    for first in range(least, teachers // classes + 1):
        for rest in rising(classes - 1, teachers - first, first):
            yield (first, *rest)


def largest(mechanism, classes, teachers, orders):
    """Over all pairs, both directions; the numbers of the classes do not matter."""
    pairs = [
        (here, there) for here in rising(classes, teachers) for there in neighbours(np.array(here))
    ]
    p, q = (
        mechanism.log_probabilities(np.array(side, dtype=float))
        for side in zip(*pairs, strict=True)
    )
    return np.maximum(renyi_divergence(p, q, orders), renyi_divergence(q, p, orders)).max(0)


def assert_found(mechanism, classes, teachers, orders=ORDERS):
    found = worst_pair(mechanism, classes, teachers, orders)
    assert found.here.sum(1).tolist() == [teachers] * len(orders)
    exact = largest(mechanism, classes, teachers, orders)
    np.testing.assert_allclose(found.divergence, exact, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(
    "mechanism",
    [
        *(NoisyArgmax(Gaussian(sigma)) for sigma in (0.38, 1.0, 4.0)),
        *(NoisyArgmax(Laplace(scale)) for scale in (0.43, 4.0)),
        *(ConfidentGNMax(Gaussian(4.0), t, Gaussian(s)) for t in (2.0, 8.0) for s in (0.66, 2.0)),
    ],
    ids=str,
)
def test_no_pair_of_few_votes_is_costlier(mechanism) -> None:
    for classes, teachers in ((2, 12), (3, 1), (3, 10), (4, 9), (5, 8)):
        assert_found(mechanism, classes, teachers)


@pytest.mark.parametrize(
    ("mechanism", "classes", "teachers", "order", "divergence"),
    [
        (ConfidentGNMax(Gaussian(4.0), 20.0, Gaussian(2.0)), 3, 30, 64.0, 2.5413),
        (NoisyArgmax(Laplace(0.4323)), 4, 9, 4.0, 3.2802),
        (NoisyArgmax(Gaussian(0.37756)), 4, 9, 1.01, 4.0741),
        (ConfidentGNMax(Gaussian(3.738), 8.926, Gaussian(0.6585)), 4, 11, 300.0, 12.906),
    ],
    ids=str,
)
def test_ties_of_three_are_found(mechanism, classes, teachers, order, divergence) -> None:
    """Pairs such as [9, 10, 11] and [10, 10, 10], which no two-sided search comes by."""
    assert_found(mechanism, classes, teachers, (order,))
    found = worst_pair(mechanism, classes, teachers, order)
    assert found.divergence[0] == pytest.approx(divergence, rel=1e-3)
