"""Each aggregator of the zoo is told as the cause that it has, by its code and what it names."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo import BROKEN, Aggregate, entry
from numeric_zoo.claims import GRADIENT, HISTOGRAM, PRIVATE
from numeric_zoo.keys import COARSE, SELECTED
from numeric_zoo.shelf import Rng, noisy
from zoo_entry import Entry

from dpassay.reference.numbers import Aggregation, ThresholdedHistogram
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds.numbers.checks.histogram_leakage import HistogramLeakage
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select

ENTRIES = {one.name: one for one in BROKEN}


def alone(one: Entry, check: str) -> CheckResult:
    """What one check says of it, in a run that has no other."""
    claim = one.claim
    chosen = select([check], of=claim.kind.checks.ids)
    report = verify(one.target(1, 99), claim, seed=1, selection=chosen)
    return next(found for found in report.checks if found.id == check)


@pytest.mark.parametrize(
    ("name", "check", "code", "fields"),
    [
        ("no-noise", "noise-law", "noise-missing", {}),
        ("one-release-in-200-wholly-bare", "joint", "noise-missing-at-times", {}),
        ("the-last-record-left-out", "location", "record-left-out", {"record": "last"}),
        ("contributions-left-out", "noise-scale", "sensitivity-too-small", {"factor": 1 / 3}),
        ("not-clipped", "clipping", "records-not-clipped", {}),
        ("one-draw-for-all-cells", "independence", "noise-shared-within-release", {}),
        ("seeded-anew-for-each-call", "fresh-noise", "seed-set-each-call", {}),
        ("exact-noise-on-a-sum-off-its-grid", "floating-point", "sums-off-grid", {}),
        ("a-fifth-of-the-keys-left-out", "partition-release", "keys-left-out", {"share": 0.2}),
        ("gaussian-of-equal-variance", "noise-law", "noise-family-differs", {"family": "gaussian"}),
        ("cast-to-integers", "noise-law", "rounding-differs", {"rounding": "towards zero"}),
        ("no-noise-now-and-then", "noise-law", "noise-missing-at-times", {"share": 0.05}),
        ("one-bare-cell-of-a-thousand", "joint", "noise-missing-in-places", {"coordinate": 615}),
        ("one-cell-without-noise", "noise-law", "noise-missing", {"where": "coordinate 7"}),
        ("one-sided-noise", "noise-law", "noise-one-sided", {"above": True, "held": False}),
        *(
            (name, "noise-law", "noise-tails-cut", {})
            for name in (
                "drawn-anew-beyond-eight-scales",
                "whole-noise-drawn-anew-beyond-fourteen",
                "held-at-three-and-a-half-sigma",
            )
        ),
        ("noise-cut-to-integers", "noise-law", "noise-cut", {"step": 1.0}),
        ("rounded-laplace-for-discrete", "noise-law", "noise-not-discrete", {"step": 1.0}),
        ("laplace-of-equal-variance", "noise-law", "noise-family-differs", {"family": "laplace"}),
        ("rounded-without-saying", "noise-law", "rounding-differs", {"rounding": "nearest"}),
        (
            "rounded-where-it-is-said-to-be-cut",
            *("noise-law", "rounding-differs", {"rounding": "nearest"}),
        ),
        (
            "rounded-down-where-it-is-said-to-be-cut",
            *("noise-law", "rounding-differs", {"rounding": "down"}),
        ),
        ("rounding-forgotten", "noise-law", "release-impossible", {}),
        ("clamped-without-saying", "noise-law", "clamped-unclaimed", {"low": 0.0}),
        ("noise-truncated", "noise-law", "noise-tails-cut", {"reach": 6.0}),
        ("a-tenth-of-a-scale-too-high", "location", "releases-off-centre", {}),
        ("the-second-cell-counted-twice", "location", "sums-multiplied", {"coordinate": 1}),
        ("clipped-by-the-sum-of-sizes", "location", "clipped-otherwise", {"by": "the L1 norm"}),
        ("outliers-left-out", "clipping", "records-changed", {}),
        ("one-draw-for-all-cells", "fresh-noise", "noise-shared-within-release", {}),
        ("every-other-release-repeated", "fresh-noise", "noise-shared-across-releases", {}),
        ("seeded-from-a-pool", "fresh-noise", "noise-reused", {}),
        ("releases-in-opposite-pairs", "fresh-noise", "noise-in-opposite-pairs", {}),
        ("one-seed-for-every-input", "fresh-noise", "noise-shared-across-inputs", {}),
    ],
)
@pytest.mark.quick_cases(2)
def test_a_cause_has_its_code(name: str, check: str, code: str, fields: dict[str, Any]) -> None:
    found = alone(ENTRIES[name], check)
    assert (found.verdict, found.code) == (Verdict.FAIL, code), found
    assert {key: found.fields[key] for key in fields} == pytest.approx(fields)


def begins_from_a_pool(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    """The first release of a call has one of few seeds, and what follows noise of its own."""
    released = noisy(of, rng, values, size)
    released[:1] = noisy(of, np.random.default_rng(int(rng.integers(20))), values, 1)
    return released


def test_calls_that_begin_as_others_have_seeds_of_a_pool() -> None:
    """Of a single number; of several that come again, the run of noise is told."""
    single = HISTOGRAM.replace("cells = 10", "cells = 1")
    pooled = entry("", single, lambda of, rng: partial(begins_from_a_pool, of, rng))
    found = alone(pooled, "fresh-noise")
    assert (found.verdict, found.code) == (Verdict.FAIL, "seeds-come-again"), found


def by_total(of: Aggregation, rng: Rng) -> Aggregate:
    """Twice the scale where all counts are large."""
    return lambda counts, size: (
        counts + rng.laplace(scale=4.0 if counts.min() >= 17 else 2.0, size=(size, len(counts)))
    )


def by_place(of: Aggregation, rng: Rng) -> Aggregate:
    """Less noise in the last cells."""
    return lambda counts, size: (
        counts
        + rng.laplace(
            scale=np.where(np.arange(len(counts)) < 5, 2.0, 1.0), size=(size, len(counts))
        )
    )


@pytest.mark.parametrize(
    ("make", "check", "code", "inputs"),
    [
        (by_total, "shift-invariance", "noise-depends-on-size", ("typical", "moved by 17")),
        (by_place, "permutation-equivariance", "noise-depends-on-order", ("typical", "reversed")),
    ],
)
def test_noise_of_two_laws_is_told_by_its_inputs(
    make: Any, check: str, code: str, inputs: tuple[str, str]
) -> None:
    found = alone(entry("", HISTOGRAM, make), check)
    assert (found.verdict, found.code) == (Verdict.FAIL, code), found
    assert (found.fields["one"], found.fields["other"]) == inputs
    assert 0 < int(found.fields["pairs"] or 0) <= found.queries


def at_rates(change: Any) -> Any:
    """Keys that are released at changed rates, by their counts and the claimed rates."""

    def make(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
        def aggregate(counts: Any, size: int) -> Any:
            rates = change(counts, np.exp(of.log_released(np.asarray(counts, dtype=float))))
            there = rng.random((size, rates.size)) < rates
            return [[{"key": int(key)} for key in np.flatnonzero(row)] for row in there]

        return aggregate

    return make


def at_threshold(moved: float) -> Any:
    """Noisy counts as claimed, held to another threshold."""

    def make(of: ThresholdedHistogram, rng: Rng) -> Aggregate:
        def aggregate(counts: Any, size: int) -> Any:
            exact = np.asarray(counts, dtype=float)
            there = of.noise.sample(exact, size, rng) >= of.threshold + moved
            there &= np.asarray(counts) > 0
            return [[{"key": int(key)} for key in np.flatnonzero(row)] for row in there]

        return aggregate

    return make


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("make", "code", "fields"),
    [
        (at_threshold(-1.0), "threshold-too-low", {"threshold": 2.0, "claimed": 3.0}),
        (at_threshold(1.0), "threshold-too-high", {"threshold": 4.0, "claimed": 3.0}),
        (
            at_rates(lambda counts, rates: np.where(counts == 1, 3.0 * rates, rates)),
            *("released-too-often", {"rate": 3.0}),
        ),
        (
            at_rates(lambda counts, rates: np.where(counts == 1, 0.0, rates)),
            *("released-too-seldom", {"rate": 0.0}),
        ),
    ],
    ids=["low", "high", "often", "seldom"],
)
def test_keys_at_other_rates_are_told_as_they_are(
    make: Any, code: str, fields: dict[str, float]
) -> None:
    low = SELECTED.replace("threshold = 8", "threshold = 3")  # where keys of one record are many
    found = alone(entry("", low + COARSE, make), "partition-release")
    assert (found.verdict, found.code) == (Verdict.FAIL, code), found
    assert {key: found.fields[key] for key in fields} == pytest.approx(fields)
    counted, expected = int(found.fields["released"] or 0), float(found.fields["expected"] or 0)
    assert (counted > expected) is (code in ("threshold-too-low", "released-too-often"))


def test_releases_of_batches_are_not_averaged() -> None:
    lacking = HistogramLeakage.not_applicable_to(claimed(GRADIENT + PRIVATE.format(3.0, 4)))
    assert lacking is not None
    assert lacking.code == "nothing-to-average"
