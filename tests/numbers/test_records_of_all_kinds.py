"""Which records are asked, what a correct sum of them may be, and what is said of them."""

import json
import math
import re

import numpy as np
import pytest
from checked_alone import claimed, outcome
from numeric_zoo import BROKEN, CORRECT
from numeric_zoo.claims import GRADIENT, SUM
from numeric_zoo.records import ALL, SHARE

from dpassay.reference.numbers import NoisyGradient, parse_number_noise
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.numbers.checks.clipping import ClippingCheck
from dpassay.verifiers.kinds.numbers.evidence.moved import MovedTooFar, taken_for_two_things
from dpassay.verifiers.kinds.numbers.planning.neighbours import Neighbour, neighbours
from dpassay.verifiers.kinds.numbers.planning.placed import placed, places_of, skewed
from dpassay.verifiers.targets.numbers import argument_of_values


def rows(neighbour: Neighbour) -> np.ndarray:
    """Records (n, d), tensors side by side."""
    values = neighbour.values
    if not isinstance(values, list):
        return np.asarray(values, dtype=np.float64)
    return np.concatenate([np.reshape(t, (len(t), -1)) for t in values], axis=1).astype(float)


@pytest.mark.parametrize("text", ALL)
def test_what_a_correct_sum_may_be_lies_within_what_is_allowed(text: str) -> None:
    """Clipped, left out or taken for 0: catches bounds of one side, and of too few records."""
    claim = claimed(text)
    of = claim.mechanism.aggregation
    for found in [*neighbours(claim.mechanism, 1), *placed(claim.mechanism, 1)]:
        records = rows(found)
        if isinstance(of, NoisyGradient):
            of = of._sum
        kept = records[np.isfinite(records).all(1)]
        zeros = np.where(np.isfinite(records), records, 0.0)
        for taken in (kept, zeros):
            if len(taken) < len(records) and claim.mechanism.adjacency == "replace-one":
                continue  # a record that is left out may be none that is replaced
            moved = np.abs(of.exact(taken) - found.exact)
            assert moved.max() <= found.allowed * (1 + 1e-9), found.name


@pytest.mark.parametrize("text", ALL)
def test_skewed_records_lie_within_the_bounds(text: str) -> None:
    """Else who leaves out what lies beyond would be accused."""
    claim = claimed(text)
    of = claim.mechanism.aggregation
    clipping = (of._sum if isinstance(of, NoisyGradient) else of).clipping  # type: ignore[attr-defined]
    found = list(skewed(claim.mechanism, 1))
    assert {30, 100, 1_000, 3_000} <= {each.records for each in found}
    for each in found:
        np.testing.assert_array_equal(clipping.clipped(rows(each)), rows(each), each.name)


def test_extremes_stand_in_each_tensor_and_in_the_last_number() -> None:
    claim = claimed(GRADIENT)
    seen = set()
    for seed in range(200):
        places = places_of(claim.mechanism, seed)
        assert places[-1] == 14
        assert (places < 12).any()
        assert (places >= 12).any()
        seen.update(places.tolist())
    assert seen == set(range(15))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("at", [-2.0, -0.5, 0.0, 0.3, 2.0])
@pytest.mark.parametrize("text", ["discrete-laplace:2", "discrete-gaussian:1.5"])
def test_the_same_replacement_is_no_evidence(text: str, at: float) -> None:
    """By enumeration of both releases, whatever stands in the place of what is missing.

    Catches the larger of the two wagers, or their average: above 1 off the middle.
    """
    noise = parse_number_noise(text)
    drawn = np.arange(-40.0, 41.0)
    law = np.exp(noise.family.log_mass(drawn, 0.25))
    wagers = MovedTooFar(noise, drawn.size)
    y = (drawn + at)[None, :]
    wagers.observe(y, np.zeros(drawn.size), 0.0, noise.half_width(y))
    total = 0.0
    for k, probability in enumerate(law):
        one = MovedTooFar(noise, 1)
        one.gains = wagers.gains[:, k : k + 1]
        for j in np.flatnonzero(law > 1e-12):
            other = MovedTooFar(noise, 1)
            other.gains = wagers.gains[:, j : j + 1]
            total += probability * law[j] * math.exp(taken_for_two_things(one, other))
    assert total <= 1.0 + 1e-9


def test_types_travel_to_a_target_in_python() -> None:
    """JSON tells whole numbers from others, and neither single nor half precision."""
    release = claimed(SUM).release
    for kind in (np.int64, np.float16, np.float32, np.float64):
        values = np.ones((4, 3), dtype=kind)
        assert release.argument(values).dtype == kind
        travelled = json.loads(json.dumps(release.content(values) | release.typed(values)))
        given = argument_of_values(travelled["values"], release.word, travelled.get("type"))
        assert given.dtype == kind


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "name",
    [
        "half-precision-taken-as-it-is",
        "norm-of-the-first-tensor",
        "missing-taken-for-the-mean",
        "whole-sums-of-32-bits",
    ],
)
def test_what_is_wrong_with_some_records_alone_shows(name: str) -> None:
    entry = next(entry for entry in BROKEN if entry.name == name)
    found = outcome(ClippingCheck, entry.claim, entry.made(np.random.default_rng([1, 99])))
    assert found is not None
    assert found.verdict is Verdict.FAIL
    imputed = name == "missing-taken-for-the-mean"
    codes = {"imputed-from-others"} if imputed else {"records-not-clipped", "records-changed"}
    assert found.finding.code in codes, found.finding


def test_a_pass_says_which_records_it_has_seen_and_what_was_refused() -> None:
    entry = next(entry for entry in CORRECT if entry.name == "other-types-not-taken-0")
    found = outcome(ClippingCheck, entry.claim, entry.made(np.random.default_rng([1, 99])))
    assert found is not None
    assert found.verdict is Verdict.PASS
    sizes = re.findall(r"of ([0-9]+ to [0-9,]+) records", found.finding.message)
    assert sizes in ([["9 to 3,000", "30 to 3,000"], ["1 to 3,000", "30 to 3,000"]])
    noted = found.finding.warnings
    assert {note.code for note in noted} == {"target-failed"}  # it raises there
    assert any("expected float64" in note.message for note in noted)


def test_a_lower_bound_of_zero_is_told_from_what_is_allowed_upwards() -> None:
    """Sums of numbers from 0 to 1 fall by nothing, though they may rise by 1."""
    claim = claimed(SHARE)
    found = next(n for n in neighbours(claim.mechanism, 1) if n.name.endswith("of -1,000"))
    base = found.exact - 0.5
    assert found.allowed == 0.5
    np.testing.assert_array_equal(base, np.full(3, 0.5 * (found.records - 1)))
