"""Rows that a run asks of an engine, a crowd near the selection, and causes that explain little."""

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from table_zoo.shelf import GEOMETRIC, OWN, PUBLIC, VECTOR, claimed
from table_zoo.singled_out import SIGNED

from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.tables import Aggregate, Bounding, NoisyTable, Rows, Threshold
from dpassay.verifiers.kinds.tables.evidence.linear import LinearEvidence
from dpassay.verifiers.kinds.tables.evidence.mistakes import Mistakes
from dpassay.verifiers.kinds.tables.evidence.other_engines import numbers, other_engines
from dpassay.verifiers.kinds.tables.evidence.selected import (
    CrowdEvidence,
    SelectedEvidence,
    released_at_most,
)
from dpassay.verifiers.kinds.tables.planning.asked import BEYOND, TableRole
from dpassay.verifiers.kinds.tables.planning.plan import make_table_plan


@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC, VECTOR])
def test_an_input_has_one_row_of_each_user_and_small_values(text) -> None:
    """Catches inputs all of which reach the bounds, so that a scale made of the data is right."""
    claim = claimed(text)
    plan = make_table_plan(claim, 3)
    (rows,) = (asked.values for asked in plan.inputs if asked.role is TableRole.ONE_ROW)
    assert np.unique(rows.users).size == len(rows) > 0
    bound = claim.mechanism.aggregates["vector-sum" if text is VECTOR else "sum"]
    sizes = np.abs(rows.values.reshape(len(rows), -1)).sum(1)
    assert sizes.max() <= (bound.max_norm if text is VECTOR else bound.upper) / 4


@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC])
def test_some_crowds_have_users_that_single_floats_merge(text) -> None:
    """And that differ in their last digits alone; catches users who are all of small numbers."""
    plan = make_table_plan(claimed(text), 3)
    merged = 0
    for asked in plan.inputs:
        users = np.unique(asked.values.users)
        assert users.max(initial=0) < 2**25 or asked.role is TableRole.WIDE
        merged += np.unique(users.astype(np.float32)).size < users.size
    assert merged >= 3


def test_one_crowd_is_asked_in_bulk() -> None:
    """Catches calls of at most 40, which an engine may take another way for."""
    plan = make_table_plan(claimed(PUBLIC), 3)
    calls = itertools.islice(plan.calls(3), 200)
    assert any(size >= 100 for asked, size in calls if asked.role is TableRole.EVERYWHERE)


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


@pytest.mark.slow("over half a second")
def test_a_bound_on_a_crowd_is_near_the_rate() -> None:
    """A bound of 1 would be right, and see nothing."""
    for text in (GEOMETRIC, OWN):
        claim = claimed(text)
        (crowd,) = (a for a in make_table_plan(claim, 3).inputs if a.role is TableRole.CROWD)
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


@pytest.mark.slow("over half a second")
def test_a_cause_that_leaves_most_unexplained_is_not_named() -> None:
    """Catches the likeliest known mistake being named whatever it leaves: ten times the numbers of
    an engine without bounds are told better by that than by the claim, and it is not the cause.
    """
    claim = claimed(PUBLIC)
    table, width = claim.mechanism.table, len(claim.keys)
    (crowd,) = (a for a in make_table_plan(claim, 3).inputs if a.role is TableRole.EVERYWHERE)
    rows = crowd.values
    loose = NoisyTable(Bounding(10**6, 10**6, None, "uniform"), table.aggregates, table.listed)
    unbounded = numbers(loose, rows, width, 1)
    named = of_means(table, rows, unbounded)
    assert named is not None
    assert named[0].code == "contributions-not-bounded"
    assert of_means(table, rows, 10.0 * unbounded) is None


MISTAKES: dict[str, list[dict[str, Any]]] = {
    "contributions-not-bounded": [{}],
    "bound-not-enforced": [{"bound": "max_partitions"}, {"bound": "max_per_partition"}],
    "bound-misapplied": [
        {"bound": "max_partitions and max_per_partition", "applied_to": "rows"},
        {"bound": "max_partitions", "applied_to": "rows"},
        {"bound": "max_per_partition", "applied_to": "rows of a value"},
        {"bound": "lower and upper", "applied_to": "a user in a partition"},
        {"bound": "lower and upper", "applied_to": "a partition"},
    ],
    "bound-too-high": [
        {"bound": "max_partitions", "claimed": 3, "kept": 4},
        {"bound": "max_per_partition", "claimed": 2, "kept": 3},
    ],
    "bound-too-low": [
        {"bound": "max_partitions", "claimed": 3, "kept": 2},
        {"bound": "max_per_partition", "claimed": 2, "kept": 1},
    ],
    "other-rows-kept": [
        {"kept": kept}
        for kept in (
            "first",
            "last",
            "first by name",
            "last by name",
            "partitions of more rows",
            "largest values",
        )
    ],
    "values-not-clipped": [{}],
    "clipped-at-zero": [{}],
    "rows-dropped": [{"of": "beyond the bounds"}, {"of": "below 0"}],
    "rows-multiplied": [{}],
    "equal-rows-merged": [{}],
    "users-merged": [{"by": "single floats"}, {"by": "first digits"}],
    "signs-lost": [{}],
    "counted-before-bounding": [{}],
    "values-counted-as-users": [{}],
    "rows-counted-as-users": [{}],
}


@pytest.mark.slow("whole runs; test_codes_of_causes has each cause")
def test_each_known_mistake_is_named_by_its_code() -> None:
    """Of the numbers that it gives for all that a run asks; catches one taken for another."""
    claim = claimed(SIGNED)
    table, width = claim.mechanism.table, len(claim.keys)
    inputs = {a.role: a.values for a in make_table_plan(claim, 3).inputs if a.role in BEYOND}
    comparing, made = Mistakes(table, np.arange(10), width), list(other_engines(table))
    for code, each in MISTAKES.items():
        for fields in each:
            wrong = next(m for cause, m in made if (cause.code, cause.fields) == (code, fields))
            seen: dict[Any, Any] = {}
            for role, rows in inputs.items():
                for column, means in enumerate(wrong(rows, width)):
                    seen[role, column] = SimpleNamespace(releases=50, total=50 * means)
            named = comparing.likeliest(inputs, seen)
            assert named is not None
            assert (named[0].code, named[0].fields) == (code, fields)


def test_a_bound_over_all_partitions_has_mistakes_of_its_own() -> None:
    text = PUBLIC.replace("max_partitions = 3\nmax_per_partition = 2\n", "max_rows = 4\n")
    found = [cause for cause, _ in other_engines(claimed(text).mechanism.table)]
    misapplied = {"bound": "max_rows", "applied_to": "rows in a partition"}
    assert misapplied in [cause.fields for cause in found if cause.code == "bound-misapplied"]
    kept = {cause.code: cause.fields["kept"] for cause in found if "kept" in cause.fields}
    assert (kept["bound-too-low"], kept["bound-too-high"]) == (3, 5)


GRID = OWN.replace('"users"\nnoise = "laplace:3"', '"users"\nnoise = "laplace:3;grid=0.25"')
"""Of whole noise a threshold that is compared otherwise is another threshold."""


@pytest.mark.parametrize(
    ("text", "code", "fields"),
    [
        (OWN, "selection-counts-differ", {"counts": "rows", "claimed": "users"}),
        (OWN, "partitions-always-released", {}),
        (OWN, "released-too-seldom", {"odds": 0.1}),
        (OWN, "scale-too-small", {"of": "selection", "factor": 0.5}),
        (OWN, "scale-too-large", {"of": "selection", "factor": 2.0}),
        (OWN, "selection-budget-undivided", {"undivided": "delta", "max_partitions": 3}),
        (OWN, "threshold-too-low", {"threshold": 37.0, "claimed": 40.0}),
        (OWN, "threshold-too-high", {"threshold": 43.0, "claimed": 40.0}),
        (GRID, "threshold-compared-otherwise", {"sign": ">"}),
        (OWN, "noise-missing", {"of": "selection"}),
        (GEOMETRIC, "released-too-often", {"odds": 10.0}),
        (GEOMETRIC, "selection-budget-undivided", {"undivided": "epsilon", "max_partitions": 3}),
        (GEOMETRIC, "selection-budget-undivided", {"undivided": "delta", "max_partitions": 3}),
        (GEOMETRIC, "selection-budget-undivided", {"undivided": "both", "max_partitions": 3}),
        (GEOMETRIC, "selection-budget-too-large", {"of": "epsilon", "factor": 2.0}),
        (GEOMETRIC, "selection-budget-too-large", {"of": "delta", "factor": 2.0}),
        (GEOMETRIC, "selection-budget-too-small", {"of": "epsilon", "factor": 0.5}),
        (GEOMETRIC, "selection-budget-too-small", {"of": "delta", "factor": 0.5}),
    ],
)
def test_each_known_selection_is_named_by_its_code(text, code, fields) -> None:
    """As many of 10^7 partitions come as it gives; catches one that is taken for another."""
    table = claimed(text).mechanism.table
    evidence = SelectedEvidence(table)
    (other,) = (o for o in evidence.others if (o.cause.code, o.cause.fields) == (code, fields))
    users = np.arange(1.0, 60.0)
    kept = np.exp(table.selection.log_kept(users))
    some = (kept > 0) & (kept < 1)
    users = users[some]
    for rows in (users, 2.0 * users):
        comes = np.exp(other.law(users, rows)[0])
        evidence.observe(users, rows, np.round(1e7 * comes).astype(np.int64), 10**7)
    named, nats = evidence.likeliest
    assert (named.code, named.fields) == (code, fields)
    assert nats > 100.0
