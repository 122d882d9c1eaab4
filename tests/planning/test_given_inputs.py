"""Among a claim's inputs: those that tell most, and those that are related, against brute force."""

import json
from itertools import combinations

import numpy as np
import pytest
from claims import SMALL, gnmax

from dpassay.verifiers.kinds.labels.planning.given_inputs import GivenInputs, coverage
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Role
from dpassay.verifiers.kinds.labels.registry import CHECKS
from dpassay.verifiers.kinds.reading import parse_claim

GATE = {"smallest_effect": 0.1, "tolerance": 0.2}


def claim_of(rows, tmp_path, scale=4):
    path = tmp_path / "inputs.jsonl"
    path.write_text("\n".join(json.dumps({"histogram": list(map(int, row))}) for row in rows))
    teachers, classes = int(sum(rows[0])), len(rows[0])
    mechanism = gnmax(scale, classes, teachers)
    return parse_claim({"mechanism": mechanism, "gate": GATE, "inputs": {"file": str(path)}})


def of(rows, tmp_path):
    return GivenInputs(claim_of(rows, tmp_path))


def are_neighbours(one, other):
    return sorted(np.subtract(one, other).tolist()) == [-1, *[0] * (len(one) - 2), 1]


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_are_found_where_there_are_any(seed, tmp_path) -> None:
    """Catches pairs two votes apart, pairs that share a hash alone, and pairs that are missed."""
    rng = np.random.default_rng(seed)
    rows = rng.multinomial(6, [0.4, 0.3, 0.2, 0.1], 5)
    found = of(rows, tmp_path).neighbours()
    if any(are_neighbours(*pair) for pair in combinations(rows, 2)):
        assert found is not None
        assert are_neighbours(*found)
        assert all(any((votes == row).all() for row in rows) for votes in found)
    else:
        assert found is None


@pytest.mark.parametrize("seed", range(20))
def test_permuted_inputs_are_found_with_their_order(seed, tmp_path) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.multinomial(6, [0.4, 0.3, 0.3], 4)
    found = of(rows, tmp_path).permuted()
    related = [
        pair
        for pair in combinations(rows, 2)
        if sorted(pair[0]) == sorted(pair[1]) and pair[0].argmax() != pair[1].argmax()
    ]
    assert (found is not None) == bool(related)
    if found is not None:
        histogram, order = found
        moved = histogram[order]
        assert any((moved == row).all() for row in rows)
        assert sorted(order) == [0, 1, 2]
        assert moved.argmax() != histogram.argmax()


def test_a_raised_input_has_more_of_the_leader_alone(tmp_path) -> None:
    rows = [(5, 3, 2), (6, 4, 0), (8, 1, 1), (7, 2, 1), (0, 5, 5)]
    found = of(rows, tmp_path).raised([(0, 5, 5), (5, 3, 2)])
    assert found is not None
    place, leader, histogram = found
    assert (place, leader, tuple(histogram)) == (1, 0, (7, 2, 1))
    assert of(rows, tmp_path).raised([(8, 1, 1)]) is None  # (6, 4, 0) has fewer, others no more


def test_a_plan_asks_the_inputs_and_nothing_else(tmp_path) -> None:
    """Whatever their kinds: none of them is renumbered, shifted or made up."""
    rng = np.random.default_rng(1)
    rows = np.r_[rng.multinomial(40, [0.5, 0.3, 0.1, 0.1], 300), [(0, 40, 0, 0), (20, 20, 0, 0)]]
    plan = make_plan(claim_of(rows, tmp_path, 10), 3)
    known = {tuple(map(int, row)) for row in rows}
    assert {stream.histogram for stream in plan.streams} <= known
    assert not any(stream.rotated for stream in plan.streams)
    assert set(plan.compared_streams) == {"permutation-equivariance", "vote-monotonicity"}
    compared_streams = plan.compared_streams["permutation-equivariance"]
    base, other = plan.streams[compared_streams.base], plan.streams[compared_streams.other]
    assert other.histogram == tuple(base.histogram[k] for k in other.relabel)
    every = np.ones(len(plan.streams), dtype=bool)
    (told,) = coverage(plan, every)
    assert told.code == "only-given-inputs"
    assert (told.fields["histograms"], told.fields["rows"]) == (len(known), 302)
    (first, *_) = coverage(plan, np.arange(len(plan.streams)) == 0)
    assert first.fields["asked"] == 1


def told_of(claim):
    plan = make_plan(claim, 0)
    return list(coverage(plan, np.ones(len(plan.streams), dtype=bool)))


def told_as(notes, code):
    """The fields of the one note with this code."""
    (found,) = (note for note in notes if note.code == code)
    return found.fields


def test_kinds_that_no_input_is_are_named(tmp_path) -> None:
    tied = told_of(claim_of([(3, 3, 2), (4, 2, 2)], tmp_path))
    assert 0.3 < told_as(tied, "no-clear-winner")["probability"] < 0.999
    clear = told_of(claim_of([(40, 0, 0), (39, 1, 0)], tmp_path))
    assert told_as(clear, "no-near-tie")["lead"] == 38
    assert told_of(parse_claim(claim_table())) == []


def test_the_nearest_to_a_tie_stands_for_one(tmp_path) -> None:
    """Not the one that tells most of the scale, which is further from it."""
    rows = [(130, 120, 0), (155, 95, 0), (200, 50, 0), (250, 0, 0)]
    claim = claim_of(rows, tmp_path, 40)
    plan = make_plan(claim, 0)
    near = plan.streams[plan.first(Role.NEAR_TIE)]
    assert near.histogram == (130, 120, 0)
    assert told_as(told_of(claim), "no-near-tie")["lead"] == 10


def test_twins_that_the_budget_has_no_labels_for_are_left_out(tmp_path) -> None:
    path = tmp_path / "inputs.jsonl"
    path.write_text('{"histogram": [150, 100]}\n{"histogram": [100, 150]}')
    mechanism = gnmax(40, 2)
    claim = parse_claim({"mechanism": mechanism, "inputs": {"file": str(path)}})
    plan = make_plan(claim, 0)
    assert plan.queries <= claim.gate.max_queries
    assert CHECKS.lacking(claim, plan)["permutation-equivariance"].code == "no-related-inputs"


def claim_table():
    mechanism = SMALL
    return {"mechanism": mechanism, "gate": GATE}


def test_an_input_alone_is_a_plan(tmp_path) -> None:
    plan = make_plan(claim_of([(20, 12, 8)], tmp_path, 10), 0)
    assert {stream.histogram for stream in plan.streams} == {(20, 12, 8)}
