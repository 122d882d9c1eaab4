"""`support`: events that one neighbour's releases have, and the other's lack."""

import math
import re
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed, made, outcome
from numeric_zoo import Make
from numeric_zoo.claims import BALL, COUNT, GAUSSIAN, GRADIENT, HISTOGRAM, MEAN, SUM
from numeric_zoo.correct import as_claimed
from numeric_zoo.families import truncated_at_the_true_count
from numeric_zoo.missing import empty_cells_without_noise
from numeric_zoo.privacy import empty_cells_never_negative, sums_cut_at_the_number_of_records
from scipy.stats import binom

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.checks.support import Support, support_events

REPLACED = SUM.replace("add-remove", "replace-one")


@pytest.mark.parametrize(
    ("text", "make", "event"),
    [
        (COUNT, truncated_at_the_true_count, "above 0"),
        (HISTOGRAM, empty_cells_without_noise, "exactly 0"),
        (HISTOGRAM, empty_cells_never_negative, "below 0"),
        (SUM, sums_cut_at_the_number_of_records, "above 8"),
    ],
)
def test_what_one_neighbour_alone_releases_is_found(text: str, make: Make, event: str) -> None:
    found = outcome(Support, claimed(text), made(make, claimed(text)))
    assert found is not None
    assert found.verdict is Verdict.FAIL
    assert found.queries < 1_000
    fields = found.finding.fields
    assert (found.finding.code, fields["event"]) == ("range-depends-on-data", event)
    assert fields["rarely"] == 0.0
    assert float(fields["often"] or 0.0) > 0.1
    if event == "exactly 0":
        assert fields["often"] == 1.0


@pytest.mark.parametrize("text", [HISTOGRAM, GAUSSIAN, COUNT, SUM, REPLACED, BALL, MEAN, GRADIENT])
def test_a_correct_one_passes(text: str) -> None:
    """With whole noise half of the mass is one number apart: an event alone is not told so."""
    claim = claimed(text.replace("discrete-laplace:1", "discrete-gaussian:0.8"))
    found = outcome(Support, claim, made(as_claimed, claim))
    assert found is not None
    assert found.verdict is Verdict.PASS, found.finding.message


@pytest.mark.slow("over half a second")
def test_a_pass_says_what_would_have_been_seen() -> None:
    claim = claimed(COUNT)
    found = outcome(Support, claim, made(as_claimed, claim))
    assert found is not None
    # ln(32e6) + ln 2 of two pairs + ln 120 of the mixture: 22.8 nats from 1,000 pairs, each hit
    # of which gives ln(1 + 0.98 / e): 74 hits, which come with probability 0.99
    hits = math.ceil((math.log(32e6) + math.log(240)) / math.log1p(0.98 / math.e))
    rate = next(r for r in np.arange(1e-3, 1.0, 1e-5) if binom.sf(hits - 1, 1_000, r) >= 0.99)
    (told,) = re.findall(r": share ([\d.]+)", found.finding.message)
    assert float(told) == pytest.approx(rate, abs=2e-5)  # the grid of rates, and the last digit


def test_it_does_not_apply_where_nothing_would_show() -> None:
    """At epsilon 20 of one count: nothing is asked, and it is no pass."""
    claim = claimed(COUNT.replace("discrete-laplace:1", "discrete-laplace:0.05"))
    found = outcome(Support, claim, made(as_claimed, claim))
    assert found is not None
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.queries == 0
    assert found.finding.code == "cannot-be-seen-here"


def test_events_are_those_of_their_names() -> None:
    events = support_events((1_000_000.0, 1_000_001.0))
    assert len(events) == 12
    numbers = np.array([-1.0, 0.5, 1_000_000.0, 1_000_000.5, 1_000_001.0])
    hits = {name: test(numbers).tolist() for name, test in events.items()}
    assert hits["above 1000000"] == [False, False, False, True, True]
    assert hits["below 1000001"] == [True, True, True, True, False]
    assert hits["exactly 1000001"] == [False, False, False, False, True]
    assert hits["a whole number"] == [True, False, True, False, True]
    assert hits["negative"] == [True, False, False, False, False]


def test_whole_noise_on_sums_of_any_numbers() -> None:
    """Records between whole bounds are taken to be whole, others are not."""
    whole = SUM.replace("laplace:2", "discrete-laplace:2")
    assert Support.not_applicable_to(claimed(whole)) is None
    lacking = Support.not_applicable_to(claimed(whole.replace("upper = 1.0", "upper = 1.5")))
    assert lacking is not None
    assert lacking.code == "whole-noise-on-fractions"


def test_a_count_of_diffprivlib_is_never_above_the_truth() -> None:
    """Version 0.6.6 cuts its noise at the array's length: nothing above n where all are counted."""
    # its models need an older scikit-learn than ours, and its tools do not need its models
    sys.modules.setdefault("diffprivlib.models", ModuleType("diffprivlib.models"))
    tools = pytest.importorskip("diffprivlib.tools")

    def aggregate(values: np.ndarray, size: int) -> Any:
        records = np.ones(int(values[0]), dtype=bool)
        return [[float(tools.count_nonzero(records, epsilon=1.0))] for _ in range(size)]

    found = outcome(Support, claimed(COUNT), aggregate)
    assert found is not None
    assert found.verdict is Verdict.FAIL, found.finding.message
