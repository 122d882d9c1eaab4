"""Columns of votes in another order than the classes: named where no other law fits as well."""

from itertools import permutations

import numpy as np
import pytest
from drawn_rows import drawn
from small import small_claim

from dpassay.reference import Gaussian, probabilities
from dpassay.verifiers.kinds.labels.logs.column_order import ColumnOrder
from dpassay.verifiers.kinds.labels.logs.costs import Costs
from dpassay.verifiers.kinds.labels.logs.findings import log_results
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence, chunks

VOTES = [(20, 15, 5, 0), (4, 30, 2, 4), (13, 14, 0, 13), (0, 22, 18, 0), (3, 5, 8, 24)]


def judged(rows, claim=None):
    claim = claim or small_claim()
    evidence = LogEvidence(claim, 0)
    for chunk in chunks(rows, 500):
        evidence.observe(chunk)
    return {result.id: result for result in log_results(evidence, Costs(claim))}


def reordered(rows, order):
    """The rows with column k at the place that `order` says."""
    return [row._replace(histogram=tuple(row.histogram[k] for k in order)) for row in rows]


def test_another_order_is_named_and_stays_a_failure() -> None:
    """Catches the nearest of the known laws as the cause, and an order that is told backwards.

    Columns hold classes 2, 0, 1 and 3: label 0 has its votes in column 1, 1 in 2, and 2 in 0.
    """
    found = judged(reordered(drawn(1500, 1, histograms=VOTES), (2, 0, 1, 3)))
    told = found["class-probabilities"]
    assert (told.verdict, told.code) == ("fail", "columns-permuted")
    assert (told.fields["labels"], told.fields["columns"]) == ("0, 1, 2", "1, 2, 0")
    assert found["noise-scale"].code == "columns-permuted"
    assert found["input-contract"].verdict == "pass"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("scale", [1.0, 0.5, 2.0, 1000.0])
def test_a_log_in_order_is_not_said_to_be_in_another(scale) -> None:
    """Catches an order that fits by chance: noise so large that labels are uniform fits many."""
    found = judged(drawn(1500, 2, scale, histograms=VOTES))["class-probabilities"]
    assert found.code != "columns-permuted"
    assert "another order" not in (found.diagnosis or "")
    assert found.verdict == ("pass" if scale == 1.0 else "fail")


def test_the_smallest_count_is_no_order_unless_there_are_two() -> None:
    """Of two classes the smaller count is the other column's, so that both causes are told."""
    rng = np.random.default_rng(3)
    rows = [
        row._replace(label=int(np.argmin(np.array(row.histogram) + rng.normal(0, 10, 4))))
        for row in drawn(1500, 3, histograms=VOTES)
    ]
    found = judged(rows)["class-probabilities"]
    assert found.code == "smallest-count-released"
    assert "another order" not in (found.diagnosis or "")
    two = small_claim(
        mechanism={"name": "gnmax", "noise": "gaussian:10", "classes": 2, "teachers": 40}
    )
    votes = [(30, 10), (15, 25), (22, 18)]
    rows = reordered(drawn(800, 4, histograms=votes), (1, 0))
    found = judged(rows, two)["class-probabilities"]
    assert found.code == "smallest-count-released"
    assert "another order" in (found.diagnosis or "")


def test_the_likeliest_order_is_that_of_all() -> None:
    """By trying them all: catches an assignment of the wrong sense, or to the inverse."""
    rows = reordered(drawn(300, 5, histograms=VOTES), (3, 0, 1, 2))
    laws = {
        v: np.log(probabilities(np.array(v, float), Gaussian(10.0)))
        for v in {row.histogram for row in rows}
    }
    fits = {
        order: sum(float(laws[row.histogram][order[row.label]]) for row in rows)
        for order in permutations(range(4))
    }
    best = max(fits, key=fits.__getitem__)
    assert best == (1, 2, 3, 0)
    order = ColumnOrder(4)
    order.observe(
        np.array([laws[row.histogram] for row in rows]), np.array([r.label for r in rows])
    )
    log_ratio, note = order.likeliest([]) or (0.0, None)
    assert note is not None
    assert note.fields["columns"] == "1, 2, 3, 0"
    assert log_ratio == pytest.approx(fits[best] - fits[0, 1, 2, 3] - np.log(24))


def test_refusals_and_classes_without_evidence_stay_where_they_are() -> None:
    """Catches a class that is said to be moved because nothing tells where it belongs."""
    law = np.log([0.7, 0.1, 0.05, 0.05, 0.1])
    order = ColumnOrder(4)
    order.observe(np.tile(law, (60, 1)), np.array([1, 1, 4] * 20))
    assert order.likeliest([]) is not None
    _, note = order.likeliest([]) or (0.0, None)
    assert note is not None
    assert note.fields["labels"] == "0, 1"
    assert ColumnOrder(4).likeliest([]) is None
