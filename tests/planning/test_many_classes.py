"""A thousand classes: histograms that are drawn soon, laws by groups of equal votes, a plan."""

import numpy as np
import pytest
from claims import gnmax

from dpassay.reference import Gaussian, probabilities
from dpassay.verifiers.kinds.labels.planning.class_faults import race_with_bare
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.strategies import examples, histograms


def test_histograms_of_many_classes_have_their_votes_and_leaders_anywhere() -> None:
    found = examples(histograms(1000, 250), 60, 3)
    assert all(votes.shape == (1000,) for votes in found)
    assert all(votes.sum() == 250 and votes.min() >= 0 for votes in found)
    leaders = {int(votes.argmax()) // 100 for votes in found}
    assert len(leaders) >= 5  # of ten hundreds; all draws of the first 48 classes would be one


def test_equal_votes_have_equal_chances_in_a_race() -> None:
    """Each class by itself against its group: a multiplicity left out shows."""
    votes = np.array([9.0, 9.0, 9.0, 4.0, 4.0, 12.0])
    bare = np.array([False, False, False, False, False, True])
    grouped = race_with_bare(Gaussian(3.0), votes, bare)
    apart = race_with_bare(Gaussian(3.0), votes + 1e-9 * np.arange(6), bare)
    assert grouped == pytest.approx(apart, rel=1e-6)
    assert grouped[0] == grouped[1] == grouped[2]
    rng = np.random.default_rng(0)
    noisy = np.where(bare, votes, votes + rng.normal(0.0, 3.0, (400_000, 6)))
    shares = np.bincount(noisy.argmax(1), minlength=6) / 400_000
    assert np.abs(grouped - shares).max() < 6.0 * np.sqrt(0.25 / 400_000)
    none = race_with_bare(Gaussian(3.0), votes, np.zeros(6, dtype=bool))
    assert none == pytest.approx(np.asarray(probabilities(votes, Gaussian(3.0))))


@pytest.mark.slow("a plan of a thousand classes")
def test_a_thousand_classes_are_planned_within_the_means_of_a_run() -> None:
    mechanism = gnmax(40, 1000)
    plan = make_plan(parse_claim({"mechanism": mechanism}), 0)
    assert plan.queries < 300_000
