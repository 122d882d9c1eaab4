"""Labels with a law of their connection: fair whatever the law of all, and found soon."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.evidence.kept_noise import OfConnections
from dpassay.verifiers.evidence.outcomes import log_supremum_ratio

LAWS: list[Any] = [
    *[(p, 1 - p) for p in (0.02, 0.3, 0.5, 0.9)],
    *[(0.2, 0.2, 0.6), (0.05, 0.9, 0.05)],
]
CLAIMED: dict[int, Any] = {
    2: [(0.5, 0.5), (0.9, 0.1)],
    3: [(1 / 3, 1 / 3, 1 / 3), (0.9, 0.08, 0.02)],
}
ORDERS = ["aaaaaa", "ababab", "aabbca"]
"""Over which connection each label comes."""


def log_e(labels, connections, claimed):
    """Of labels over kept connections, all of which a stream has; see `FreshNoise._parts`."""
    log_q = np.log(claimed)
    evidence = OfConnections(log_q)
    evidence.observe(np.array(labels), connections)
    counts = np.bincount(labels, minlength=len(claimed)).astype(float)
    return evidence.log_e_value - log_supremum_ratio(counts, log_q)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("order", ORDERS)
def test_the_expectation_is_at_most_one_under_every_law(law, order) -> None:
    """Exactly, over all sequences of six labels. Catches predictions that sum to more than 1 (an
    urn whose pull is not counted below), and a first label that is wagered on by nothing before."""
    for claimed in CLAIMED[len(law)]:
        found = sum(
            math.prod(law[k] for k in labels) * math.exp(log_e(labels, order, claimed))
            for labels in product(range(len(law)), repeat=len(order))
        )
        assert found <= 1.0 + 1e-9, claimed


@pytest.mark.parametrize("claimed", [(0.6, 0.3, 0.1), (0.5, 0.5)], ids=str)
@pytest.mark.parametrize("order", ORDERS)
def test_under_the_claim_no_weight_is_lost(claimed, order) -> None:
    """The mixture alone has the expectation 1."""

    def mixture(labels):
        evidence = OfConnections(np.log(claimed))
        for label, connection in zip(labels, order, strict=True):  # one at a time, as all at once
            evidence.observe(np.array([label]), [connection])
        return evidence.log_e_value

    labels = product(range(len(claimed)), repeat=len(order))
    found = sum(math.prod(claimed[k] for k in each) * math.exp(mixture(each)) for each in labels)
    assert math.isclose(found, 1.0, rel_tol=1e-9)


WANTED = math.log(8e6 / 0.04)
"""A share of 1/8 of 1e-6, and the weight of the wager."""


@pytest.mark.parametrize(("several", "labels"), [(1, 40), (4, 60)])
def test_one_draw_a_connection_shows_within_some_dozens(several, labels) -> None:
    """Beside 128 labels of connections of their own, in which nothing is amiss."""
    log_q = np.full(10, -np.log(10.0))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        other, kept = rng.integers(10, size=128), rng.integers(10, size=several)
        places = np.arange(labels) % several
        evidence = OfConnections(log_q)
        evidence.observe(kept[places], places.tolist())
        counts = np.bincount(np.concatenate([other, kept[places]]), minlength=10).astype(float)
        assert evidence.log_e_value - log_supremum_ratio(counts, log_q) > WANTED
