"""What a pass of numbers excludes: the same record in a plan and in a report."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from claims import KEYS
from numeric_zoo.claims import PRIVATE, SUM
from runs import result

from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.numbers.checks.noise_scale import NoiseScale
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.numbers.planned import PlannedNumbers
from dpassay.verifiers.kinds.numbers.planning.asked import InputRole
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

HISTOGRAM = 'name = "noisy-histogram"\nnoise = "laplace:2"\nadjacency = "add-remove"\ncells = 4'
GATE = "\n[gate]\nsmallest_effect = 0.1\ntolerance = 0.1\n"
ALL_INPUTS = ("noise-law", "noise-scale", "location")
SAYING = (
    *ALL_INPUTS,
    "shift-invariance",
    "permutation-equivariance",
    "joint",
    "independence",
    "fresh-noise",
    "clipping",
    "sensitivity",
    "support",
)
"""Checks whose pass says what would have been seen."""

CLAIMS = {
    "counts": claimed(HISTOGRAM, PRIVATE.format(1.0, 1) + GATE),
    "records": claimed(SUM, PRIVATE.format(2.0, 1) + GATE),
}


def run(
    claim: NumbersClaim, scale: float = 1.0, refuses: Callable[[Any], bool] = lambda _: False
) -> Report:
    """A report on so many times the claimed noise, of a target that refuses some inputs."""
    aggregation, rng = claim.mechanism.aggregation, np.random.default_rng(5)

    def aggregate(values: Any, size: int) -> Any:
        if refuses(values):
            raise ValueError("too large")
        drawn = sample(aggregation, values, size, rng)
        if scale == 1.0:  # as it is, to its last bit
            return drawn
        exact = aggregation.exact(values)
        return exact + scale * (drawn - exact)

    return verify(InProcessTarget(aggregate, release=claim.release), claim, seed=0)


def foreseen(claim: NumbersClaim) -> dict[str, tuple[Excluded, ...]]:
    return dict(PlannedNumbers(claim, 0).excluded)


@pytest.fixture(scope="module", params=CLAIMS)
def passed(request: pytest.FixtureRequest) -> tuple[NumbersClaim, Report]:
    claim = CLAIMS[request.param]
    return claim, run(claim)


@pytest.mark.slow("over half a second")
def test_a_report_has_what_its_plan_foresaw_to_the_digit(
    passed: tuple[NumbersClaim, Report],
) -> None:
    """Catches a record made from what was drawn: of numbers, of pairs, or of bare releases.

    And an entry that a plan has and a report lacks, or the other way round.
    """
    claim, report = passed
    planned = foreseen(claim)
    for found in report.checks:
        assert found.verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE), found.message
        if found.verdict is Verdict.NOT_APPLICABLE:  # such as an accountant that is not offered
            assert found.excludes == ()
        elif claim.mechanism.takes == "counts" or found.id != "clipping":  # part of it is refused
            assert found.excludes == planned.get(found.id, ()), found.id
    for check in SAYING:
        assert planned[check], check
        for one in planned[check]:
            assert one.code in codes()
            assert 0.99 <= one.probability < 1.0
            assert 0.0 < one.false_alarm < claim.gate.false_alarm
            assert one.where
            assert one.queries > 0


@pytest.mark.slow("over half a second")
def test_a_report_of_keys_has_what_its_plan_foresaw() -> None:
    """Catches rates by the keys that were seen, of which a run has more than a pass needs."""
    gate = {"smallest_effect": 0.1, "tolerance": 0.2}
    claim = parse_claim({"mechanism": KEYS, "gate": gate})
    report, planned = verify(claim.kind.reference(claim), claim, seed=0), foreseen(claim)
    for check in ("partition-release", "independence", "fresh-noise"):
        found = result(report, check)
        assert found.verdict is Verdict.PASS
        assert found.excludes == planned[check] != ()
    found = result(report, "partition-release")
    often, near = found.excludes
    assert often.size["rate"] == pytest.approx(1.25 * often.size["claimed"], rel=0.01)
    assert (near.size, near.where) == ({"rate_off": 0.1}, ("near the threshold",))


@pytest.mark.slow("over half a second")
def test_what_is_measured_lies_within_what_is_excluded(
    passed: tuple[NumbersClaim, Report],
) -> None:
    """Catches an interval in factors of the scale, and an excluded offset that a pass leaves open.

    Both are refuted at their ends, so that the interval may reach them.
    """
    claim, report = passed
    scale = claim.mechanism.added.family.scale
    for check, unit, size, true in (
        ("noise-scale", scale, "factor", scale),
        ("location", 1.0, "offset", 0.0),
    ):
        found = result(report, check)
        below, above = (unit * one.size[size] for one in found.excludes)
        assert found.measured is not None
        assert found.measured.high is not None
        assert below <= found.measured.low < true < found.measured.high <= above
    assert all(one.measured is None for one in report.checks if one.id not in ALL_INPUTS)


@pytest.mark.slow("over half a second")
def test_what_was_refused_falls_out() -> None:
    """Catches a record of all planned inputs: nothing of over a million is answered."""
    claim = CLAIMS["counts"]
    report = run(claim, refuses=lambda counts: bool((counts > 10**6).any()))
    lost = {InputRole.MILLIONS, InputRole.ONE_LARGE_COUNT}
    planned = foreseen(claim)
    for check in ALL_INPUTS:
        found = result(report, check)
        assert found.verdict is Verdict.PASS
        for whole, fewer in zip(planned[check], found.excludes, strict=True):
            assert set(whole.where) - set(fewer.where) == lost
            assert whole.model_copy(update={"where": fewer.where}) == fewer
    unmoved = result(report, "shift-invariance")  # its first two inputs are answered
    assert unmoved.excludes == planned["shift-invariance"]


@pytest.mark.slow("over half a second")
def test_altered_records_that_are_refused_fall_out() -> None:
    """Catches a record of clipping that has records which are no numbers, all of them refused."""
    claim = CLAIMS["records"]
    whole, fewer = foreseen(claim)["clipping"][0], result(run(claim), "clipping").excludes[0]
    lost = set(whole.where) - set(fewer.where)
    assert lost == {name for name in whole.where if "NaN" in name or "infinity" in name}
    assert lost
    assert fewer.queries < whole.queries
    assert fewer.size == whole.size


@pytest.mark.slow("over half a second")
def test_low_bits_are_excluded_only_where_they_are_not_allowed() -> None:
    """Catches a record of what would pass all the same."""
    exact, ideal = (
        foreseen(claimed(f'{HISTOGRAM}\nfloating_point = "{kind}"'))["floating-point"]
        for kind in ("exact", "ideal")
    )
    assert [one.code for one in exact] == ["low-bits-tell"]
    assert ideal == ()


@pytest.mark.slow("over half a second")
def test_only_a_pass_excludes() -> None:
    """Catches a record that is made before the verdict."""
    report = run(CLAIMS["counts"], scale=0.5)
    assert result(report, "noise-scale").verdict is not Verdict.PASS
    for found in report.checks:
        assert found.verdict is Verdict.PASS or found.excludes == ()


def test_a_coarser_claim_foresees_less() -> None:
    """Catches sizes that do not follow the gate, and draws that do not follow the size."""
    fine, coarse = (
        claimed(HISTOGRAM, f"\n[gate]\nsmallest_effect = {effect}\ntolerance = {effect}\n")
        for effect in (0.1, 0.2)
    )
    law, rough_law = (foreseen(claim)["noise-law"][0] for claim in (fine, coarse))
    sizes = [law.size["total_variation"], rough_law.size["total_variation"]]
    assert sizes == pytest.approx([0.1, 0.2])
    assert law.queries == pytest.approx(4 * rough_law.queries, rel=0.01)
    scale, rough_scale = (foreseen(claim)[NoiseScale.id][0] for claim in (fine, coarse))
    assert (scale.size["factor"], rough_scale.size["factor"]) == (0.9, 0.8)
    assert scale.queries > 3 * rough_scale.queries
