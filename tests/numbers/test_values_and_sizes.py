"""Counts of every size are asked, and one call for more than 1,000 releases."""

from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import COUNT, HISTOGRAM

from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.kinds.numbers.simplest import simple_inputs
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

GATE = "[gate]\nsmallest_effect = 0.3\ntolerance = 0.3\n"


@pytest.mark.parametrize("text", [COUNT, HISTOGRAM, HISTOGRAM.replace("10", "3")])
def test_counts_of_all_sizes_are_asked(text: str) -> None:
    """Faults at five digits, where all counts are large, or from ten million on, passed."""
    plan = claimed(text).inputs(1)
    counts = [asked.values for asked in plan.inputs]
    every = np.concatenate(counts)
    for digits in (2, 3, 4, 5, 7):
        found = every[(every >= 10 ** (digits - 1)) & (every < 10**digits)]
        assert (found % 10).any(), digits  # what is rounded to fewer digits moves
    assert max(c.sum() for c in counts) >= 10**7
    assert max(c.min() for c in counts) >= 10**6
    assert every.max() < 2**24
    assert len(plan.inputs) == 9


def test_simple_inputs_are_as_large() -> None:
    """Else a fault of large counts has no simplest input, though every one of 12,345 shows it."""
    for text in (COUNT, HISTOGRAM):
        found = [values.tolist() for values in simple_inputs(claimed(text))]
        assert found == sorted(found, key=lambda counts: (max(counts), sum(counts)))
        assert found[-1][0] > 10**7


def run(text: str, most: int | None = None, gate: str = "") -> tuple[Report, list[int]]:
    """A run of one check, and the sizes of its calls; above `most` a call is refused."""
    claim, sizes, rng = claimed(text, GATE + gate), [], np.random.default_rng(4)

    def aggregate(values: Any, size: int) -> Any:
        if most is not None and size > most:
            raise ValueError("at most 1,000")
        sizes.append(size)
        return sample(claim.mechanism.aggregation, values, size, rng)

    target = InProcessTarget(aggregate, release=claim.release)
    chosen = select(["joint"], of=SHARES)
    return verify(target, claim, seed=1, selection=chosen), sizes


def test_one_call_asks_for_more_than_a_thousand() -> None:
    report, sizes = run(HISTOGRAM)
    assert report.verdict is Verdict.PASS
    assert [size for size in sizes if size > 1_000] == [1_100]


def test_a_service_may_refuse_so_long_a_call() -> None:
    """It is a limit of the service, not a fault: the run says so and goes on."""
    report, sizes = run(HISTOGRAM, most=1_000)
    assert report.verdict is Verdict.PASS
    assert max(sizes) <= 1_000
    (noted,) = (warning for warning in report.notes if warning.code == "long-call-refused")
    assert noted.fields == {"releases": 1_100}


@pytest.mark.parametrize("limit", ["largest_call = 500", "max_queries = 1100", "timeout = 1e-6"])
def test_it_is_left_out_where_a_claim_leaves_no_room(limit: str) -> None:
    _, sizes = run(HISTOGRAM, gate=limit)
    assert max(sizes) <= 500


def test_of_wide_releases_it_would_cost_too_much() -> None:
    """A pass of 21 cells takes few releases: 1,100 more would be a price that the pages name."""
    _, sizes = run(HISTOGRAM.replace("10", "21"))
    assert max(sizes) <= 300
