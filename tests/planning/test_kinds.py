"""Each size of support, and totals below the teachers, have histograms that show their faults."""

from itertools import pairwise

import numpy as np
import pytest
from runs import claimed

from dpassay.reference import Gaussian, probabilities
from dpassay.verifiers.evidence.power import ratios_to_see
from dpassay.verifiers.kinds.labels.planning.counting_faults import total_faults
from dpassay.verifiers.kinds.labels.planning.histograms import sizes
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Extent, Role
from dpassay.verifiers.kinds.labels.planning.telling import telling_supports

SIGMA = 40.0


def divergence(votes, fault_votes, sigma=SIGMA):
    """Nats per label of votes answered as others are, or with other noise, from the claim."""
    votes, others = (np.array(v, float) for v in (votes, fault_votes))
    p, q = probabilities(others, Gaussian(sigma)), probabilities(votes, Gaussian(SIGMA))
    return float((p * np.log(np.maximum(p, 1e-300) / q)).sum())


@pytest.mark.slow("over half a second")
def test_half_the_noise_on_any_size_of_support_has_a_stream_that_shows_it() -> None:
    """25 nats are expected on one stream at least; catches a size left out, or asked too little."""
    told = dict.fromkeys(range(2, 11), 0.0)
    for stream in make_plan(claimed(), 0).streams:
        size = int(np.count_nonzero(stream.histogram))
        if size in told:
            nats = stream.queries * divergence(stream.histogram, stream.histogram, SIGMA / 2)
            told[size] = max(told[size], nats)
    assert min(told.values()) > 25.0, told


def test_many_classes_have_fewer_and_fewer_sizes() -> None:
    assert sizes(4) == [1, 2, 3, 4]
    found = sizes(100)
    assert found[:10] == list(range(1, 11))
    assert found[-1] == 100
    assert len(found) < 22
    assert max(b / a for a, b in pairwise(found[9:])) < 1.4


def test_of_each_support_the_most_telling_lead_is_taken() -> None:
    """By brute force over all votes on two classes: catches a choice by another divergence."""
    claim = claimed(classes=4, teachers=100).mechanism
    votes = next(votes for votes, _ in telling_supports(claim) if np.count_nonzero(votes) == 2)
    best = max(divergence([n, 100 - n, 0, 0], [n, 100 - n, 0, 0], 20.0) for n in range(50, 100))
    assert divergence(votes, votes, 20.0) > 0.97 * best


@pytest.mark.slow("over half a second")
def test_votes_scaled_up_show_on_a_total_below_the_teachers() -> None:
    plan = make_plan(claimed(), 0)
    totals = {sum(plan.streams[i].histogram) for i in plan.of(Role.FEWER_VOTES)}
    assert totals == {200, 225}
    assert not make_plan(claimed(), 0, False).of(Role.FEWER_VOTES)
    best = max(
        s.queries * divergence(s.histogram, np.array(s.histogram) * 1.25)
        for s in plan.streams
        if sum(s.histogram) == 200
    )
    assert best > 25.0


def test_laws_by_the_total_leave_the_claimed_total_alone() -> None:
    claim = claimed().mechanism
    votes = np.array([[125.0, 60, 15], [150, 75, 25], [300, 150, 50]])
    right = probabilities(votes, Gaussian(SIGMA))
    always, below = (fault.law(votes) for fault in total_faults(claim))
    scaled = probabilities(votes * np.array([[1.25], [1.0], [0.5]]), Gaussian(SIGMA))
    assert np.allclose(always, scaled, atol=1e-9)
    assert np.allclose(below, [scaled[0], right[1], right[2]], atol=1e-9)


@pytest.mark.slow("over half a second")
def test_few_queries_and_kept_answers_have_none() -> None:
    few = make_plan(claimed(), 0, True, (), Extent(0.02)).of(Role.SUPPORT)
    assert not few
    assert not make_plan(claimed(caching=True), 0).of(Role.SUPPORT)


@pytest.mark.parametrize("votes", [(106, 48, 48, 48), (82, 84, 84, 0)])
def test_a_known_fault_shows_after_the_labels_that_it_takes(votes) -> None:
    """In 0.99 of 4,000 runs, or more; catches the bare mean, after which half of them show it."""
    votes, wanted = np.array(votes, float), 28.0
    law, q = (probabilities(votes, Gaussian(sigma)) for sigma in (SIGMA / 2, SIGMA))
    labels = ratios_to_see(np.log(law), np.log(q), wanted)
    counts = np.random.default_rng(0).multinomial(labels, law / law.sum(), 4_000)
    seen = (counts @ np.log(law / q) >= wanted).mean()
    assert seen > 0.985
    fewer = int(0.7 * labels)
    counts = np.random.default_rng(0).multinomial(fewer, law / law.sum(), 4_000)
    assert (counts @ np.log(law / q) >= wanted).mean() < 0.97  # and not many more than it takes
