"""Calls in turn: what is asked, and what is known of each call beforehand."""

import numpy as np
import pytest
from plans import GNMAX, PLANS, SCREENED, plan

from dpassay.verifiers.kinds.labels.mechanism import LabelsMechanism
from dpassay.verifiers.kinds.labels.planning.features import (
    FAMILIES,
    earlier_calls,
    features,
    votes_moved,
)
from dpassay.verifiers.kinds.labels.planning.streams import Extent
from dpassay.verifiers.kinds.labels.planning.traffic import (
    CALLS,
    LEAST_CALLS,
    Traffic,
    calls_in_turn,
)
from dpassay.verifiers.kinds.reading import parse_claim

CLAIM = LabelsMechanism(**GNMAX)
FULL = Traffic(CLAIM, 0, CALLS)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("kind", PLANS)
def test_every_call_is_a_histogram_that_the_target_serves(kind) -> None:
    """Catches votes that went below 0, and other totals where they are refused."""
    made = plan(**PLANS[kind])
    asked = made.traffic.histograms
    mechanism = made.claim.mechanism
    if kind in ("coarse", "tiny"):  # whose effect is so large that few calls would see nothing
        assert asked.shape == (0, mechanism.classes)
        return
    assert asked.min() >= 0
    assert asked.shape[1] == mechanism.classes
    assert asked.sum(1).max() <= max(10 * mechanism.teachers, 10_000)
    if kind == "one-total":
        assert set(asked.sum(1)) == {mechanism.teachers}
    if mechanism.caching:
        assert len(np.unique(asked, axis=0)) == len(asked)
    else:
        assert len(asked) == made.traffic.calls


def test_related_queries_follow_each_other() -> None:
    """What noise may depend on holds in many calls: without related runs it holds in few."""
    asked = FULL.histograms[: int(0.6 * CALLS)]
    moved = votes_moved(asked)
    assert np.mean((moved >= 1) & (moved <= 8)) > 0.08
    assert np.mean((moved >= 9) & (moved <= 30)) > 0.02
    leaders = asked.argmax(1)
    assert np.mean(leaders[1:] == leaders[:-1]) > 0.2
    again = len(asked) - len(np.unique(asked, axis=0))
    assert again > 0.08 * len(asked)
    assert np.mean(asked.sum(1) < CLAIM.teachers) > 0.1


def test_a_slow_running_consensus_gets_high_and_stays_there() -> None:
    """Last come sure calls; among them some that are hard to predict."""
    last = FULL.histograms[-600:]
    share = last.max(1) / last.sum(1)
    law = np.exp(CLAIM.mechanism().log_probabilities(last.astype(float))).max(1)
    assert share.mean() > 0.82
    assert np.mean(law < 0.9) > 0.2


def test_own_histograms_come_first_as_they_stand() -> None:
    own = ((200, 50, *[0] * 8), (0, 125, 125, *[0] * 7))
    assert FULL.histograms[:2].tolist() != [list(votes) for votes in own]
    found = Traffic(CLAIM, 0, CALLS, own).histograms
    assert found[:2].tolist() == [list(votes) for votes in own]


def test_given_inputs_alone_are_asked() -> None:
    own = tuple(
        tuple(int(v) for v in np.roll([150 - i, 60 + i, 40] + [0] * 7, i)) for i in range(30)
    )
    found = Traffic(CLAIM, 0, 500, own, given=True).histograms
    assert {tuple(votes) for votes in found.tolist()} == set(own)
    assert (np.diff(found.argmax(1)) == 0).mean() > 0.2  # runs of one leader


def test_few_queries_and_many_classes_get_fewer_calls() -> None:
    claim = parse_claim({"mechanism": GNMAX})
    assert calls_in_turn(claim, Extent()) == CALLS
    assert calls_in_turn(claim, Extent(0.1)) == CALLS // 10
    assert calls_in_turn(claim, Extent(0.01)) == 0
    assert calls_in_turn(claim, Extent(symmetries=False)) == 0
    coarse = parse_claim({"mechanism": GNMAX, "gate": {"smallest_effect": 0.1}})
    assert calls_in_turn(coarse, Extent()) == CALLS // 5
    many = parse_claim({"mechanism": GNMAX | {"classes": 1000}})
    assert calls_in_turn(many, Extent()) == LEAST_CALLS


def test_features_are_what_their_fields_say() -> None:
    """On calls that can be checked by eye; catches a feature that looks at the call after."""
    a, b, c = (6, 4, 0), (5, 5, 0), (0, 1, 9)
    asked = np.array([a, a, b, c, c, a])
    all_features = features(asked, 10)

    def found(**fields):
        (one,) = (one for one in all_features if one.fields == fields)
        return one.holds.astype(int).tolist()

    assert found(call=2) == [0, 1, 0, 0, 1, 0]
    assert found(call=3) == [0, 0, 0, 0, 0, 1]
    assert found(same_leader=0) == [1, 0, 0, 1, 0, 1]
    assert found(same_leader=2) == [0, 0, 1, 0, 0, 0]
    assert found(votes_away_at_most=1) == [0, 0, 1, 0, 0, 0]
    assert found(votes_away_at_most=0) == [0, 1, 0, 0, 1, 0]
    assert found(leader_of_teachers=0.8, in_a_row=1) == [0, 0, 0, 1, 1, 0]
    assert found(leader_of_teachers=0.8, in_a_row=2) == [0, 0, 0, 0, 1, 0]
    assert {one.family for one in features(FULL.histograms, 250)} == set(FAMILIES)


def test_earlier_calls_are_those_that_the_fields_name() -> None:
    a, b, c = (6, 4, 0), (5, 5, 0), (0, 1, 9)
    all_calls = earlier_calls(np.array([a, b, a, c, a, a]))

    def found(**fields):
        return next(one for one in all_calls if one.fields == fields).places.tolist()

    assert found(calls_before=1, votes_away_at_most=2) == [-1, 0, 1, -1, -1, -1]
    assert found(of="first") == [-1, -1, 0, -1, 0, 0]
    assert found(of="latest") == [-1, -1, 0, -1, 2, 4]
    assert found(calls_before=2, votes_away_at_most=8) == [-1, -1, 0, -1, 2, -1]


def test_no_calls_are_no_features() -> None:
    none = np.zeros((0, 3), dtype=np.int64)
    assert features(none, 5) == []


@pytest.mark.slow("over half a second")
def test_plans_of_a_threshold_ask_in_turn_too() -> None:
    assert plan(GNMAX | SCREENED).traffic.calls == CALLS
