"""Rows that a run asks of an engine, a crowd near the selection, and causes that explain little."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from table_zoo.shelf import GEOMETRIC, OWN, PUBLIC, VECTOR, Entry

from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.tables import Aggregate, Bounding, NoisyTable, Rows, Threshold
from dpassay.verifiers.kinds.tables.evidence.crowd import CrowdEvidence, released_at_most
from dpassay.verifiers.kinds.tables.evidence.linear import LinearEvidence
from dpassay.verifiers.kinds.tables.evidence.mistakes import Mistakes
from dpassay.verifiers.kinds.tables.evidence.other_engines import numbers
from dpassay.verifiers.kinds.tables.planning.asked import Role
from dpassay.verifiers.kinds.tables.planning.plan import make_table_plan


def claim_of(text: str) -> Any:
    return Entry("", text, lambda claim, rng: None).claim


@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC, VECTOR])
def test_an_input_has_one_row_of_each_user_and_small_values(text) -> None:
    """Catches inputs all of which reach the bounds, so that a scale made of the data is right."""
    claim = claim_of(text)
    plan = make_table_plan(claim, 3)
    (rows,) = (asked.values for asked in plan.inputs if asked.role is Role.ONE_ROW)
    assert np.unique(rows.users).size == len(rows) > 0
    bound = claim.mechanism.aggregates["vector-sum" if text is VECTOR else "sum"]
    sizes = np.abs(rows.values.reshape(len(rows), -1)).sum(1)
    assert sizes.max() <= (bound.max_norm if text is VECTOR else bound.upper) / 4


@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC])
def test_some_crowds_have_users_that_single_floats_merge(text) -> None:
    """And that differ in their last digits alone; catches users who are all of small numbers."""
    plan = make_table_plan(claim_of(text), 3)
    merged = 0
    for asked in plan.inputs:
        users = np.unique(asked.values.users)
        assert users.max(initial=0) < 2**25
        merged += np.unique(users.astype(np.float32)).size < users.size
    assert merged >= 3


def test_one_crowd_is_asked_in_bulk() -> None:
    """Catches calls of at most 40, which an engine may take another way for."""
    plan = make_table_plan(claim_of(PUBLIC), 3)
    calls = itertools.islice(plan.calls(3), 200)
    assert any(size >= 100 for asked, size in calls if asked.role is Role.EVERYWHERE)


@pytest.mark.parametrize("kept", ["uniform", "first"])
@pytest.mark.parametrize("once", [True, False])
def test_a_crowd_is_released_no_more_than_its_bound(kept, once) -> None:
    """Enumerated over which partition of three users stays, of two partitions.

    Catches a bound of all users, or of one row a user, and a wager whose mean is above 1.
    """
    noise = parse_number_noise("laplace:0.3")
    bounding = Bounding(1, 2, None, kept)
    counted = "privacy-id-count" if once else "count"
    table = NoisyTable(
        bounding, (Aggregate(counted, noise),), None, Threshold(noise, 2.5, strict=True), counted
    )
    rows = Rows.of(np.repeat([1, 2, 3], 4), [0, 0, 1, 1] * 3, np.ones(12))
    ways = list(itertools.product((0, 1), repeat=3)) if kept == "uniform" else [(0, 0, 0)]
    each = 1.0 if once else 2.0
    rate, mean = 0.0, 0.0
    evidence = CrowdEvidence(table, rows, 2)
    for way in ways:
        counts = each * np.bincount(way, minlength=2)
        comes = np.exp(table.selection.log_kept(counts))
        for came in itertools.product((0.0, 1.0), repeat=2):
            chance = math.prod(q if c else 1 - q for q, c in zip(comes, came, strict=True))
            one = CrowdEvidence(table, rows, 2)
            one.observe(np.array([np.mean(came)]))
            mean += chance / len(ways) * math.exp(one.log_e_value)
        rate += comes.mean() / len(ways)
    assert rate <= released_at_most(table, rows, 2) == evidence.expected
    assert mean <= 1.0 + 1e-12


def test_a_bound_on_a_crowd_is_near_the_rate() -> None:
    """A bound of 1 would be right, and see nothing."""
    for text in (GEOMETRIC, OWN):
        claim = claim_of(text)
        (crowd,) = (a for a in make_table_plan(claim, 3).inputs if a.role is Role.CROWD)
        assert released_at_most(claim.mechanism.table, crowd.values, len(claim.keys)) < 0.01


def of_means(table: NoisyTable, rows: Rows, means: Any) -> Any:
    """What `Mistakes` names of 50 releases that have these numbers (columns, cells) each time."""
    cells = np.arange(10)
    seen = {}
    for column, one in enumerate(table.aggregates):
        evidence = LinearEvidence(table.bounding, one, rows, cells, means.shape[1])
        evidence.observe(np.tile(means[column], (50, 1)))
        seen["crowd", column] = evidence
    return Mistakes(table, cells, means.shape[1]).likeliest({"crowd": rows}, seen)


def test_a_cause_that_leaves_most_unexplained_is_not_named() -> None:
    """Catches the likeliest known mistake being named whatever it leaves: ten times the numbers of
    an engine without bounds are told better by that than by the claim, and it is not the cause.
    """
    claim = claim_of(PUBLIC)
    table, width = claim.mechanism.table, len(claim.keys)
    (crowd,) = (a for a in make_table_plan(claim, 3).inputs if a.role is Role.EVERYWHERE)
    rows = crowd.values
    loose = NoisyTable(Bounding(10**6, 10**6, None, "uniform"), table.aggregates, table.listed)
    unbounded = numbers(loose, rows, width, 1)
    named = of_means(table, rows, unbounded)
    assert named is not None
    assert named[0] == "contributions of a user are not bounded"
    assert of_means(table, rows, 10.0 * unbounded) is None
