"""What a pass of an engine's tables excludes: the same record in a plan and in a report."""

import itertools
import math
import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from runs import result
from table_zoo.correct import Reference
from table_zoo.shelf import GEOMETRIC, PUBLIC

from dpassay.reference.arrays import Vector
from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.tables import Aggregate, Bounding, Rows
from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.numbers.evidence.copula import CORRELATIONS, seen_correlation
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tables.checks.empty_partitions import EmptyPartitions
from dpassay.verifiers.kinds.tables.checks.joint import TableJoint
from dpassay.verifiers.kinds.tables.evidence.linear import LinearEvidence
from dpassay.verifiers.kinds.tables.evidence.selected import SelectedEvidence
from dpassay.verifiers.kinds.tables.planned import PlannedTable, planned_table
from dpassay.verifiers.kinds.tables.planning.asked import TableRole
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

QUERIES = 600
OF_AGGREGATES = ("noise-law", "noise-scale", "location", "independence", "joint")
SAYING = (*OF_AGGREGATES, "empty-partitions", "contribution-bounding")
"""Checks whose pass says what would have been seen, whatever partitions are."""


def planned(text: str, queries: int | None = QUERIES) -> PlannedTable:
    claim: Any = parse_claim(tomllib.loads(f"[mechanism]\n{text}"))
    return planned_table(claim, PlanRequest(queries, 1))


def run(
    text: str, refuses: Callable[[Rows], bool] = lambda _: False, made: str | None = None
) -> Report:
    """A report on the reference of a claim, or of another one that is `made`."""
    claim: Any = parse_claim(tomllib.loads(f"[mechanism]\n{text}"))
    other: Any = parse_claim(tomllib.loads(f"[mechanism]\n{made or text}"))
    engine = Reference(other, np.random.default_rng([1, 5]))

    def answered(rows: Any, size: int) -> Any:
        if refuses(rows):
            raise ValueError("no such rows")
        return engine(rows, size)

    target = InProcessTarget(answered, release=claim.release)
    return verify(target, claim, queries=QUERIES, seed=1)


@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC])
@pytest.mark.slow("over half a second")
def test_a_report_has_what_its_plan_foresaw_to_the_digit(text: str) -> None:
    """Catches a record that is made from answers, and one that a check makes only at its end."""
    report, foreseen = run(text), planned(text).excluded
    for found in report.checks:
        assert found.verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE), found.message
        assert found.excludes == foreseen.get(found.id, ()), found.id
    saying = (*SAYING, "partition-release") if "selection" in text else SAYING
    roles = {asked.role for asked in planned(text).plan.inputs}
    for check in saying:
        assert foreseen[check], check
        for one in foreseen[check]:
            assert one.code in codes()
            assert set(one.where) <= roles
            assert one.where
            assert one.queries > 0
            assert 0.99 <= one.probability < 1.0
            assert 0.0 < one.false_alarm < 1e-6


@pytest.mark.slow("over half a second")
def test_what_was_refused_falls_out() -> None:
    """Catches a record of all planned inputs: neither no rows nor thousands are answered."""
    whole = planned(PUBLIC).excluded
    report = run(PUBLIC, lambda rows: not 0 < len(rows) < 5_000)
    lost = {TableRole.EMPTY, TableRole.TEN_THOUSAND, TableRole.FAR_APART}
    for check in SAYING:
        found = result(report, check)
        assert found.verdict is Verdict.PASS, found.message
        assert not any(lost & set(one.where) for one in found.excludes), check
        before = {(one.code, *one.size.items()): set(one.where) for one in whole[check]}
        for one in found.excludes:  # nothing that a plan did not foresee
            assert set(one.where) == before[one.code, *one.size.items()] - lost
    assert any(lost & set(one.where) for one in whole["contribution-bounding"])


@pytest.mark.slow("over half a second")
def test_only_a_pass_excludes() -> None:
    report = run(PUBLIC, made=PUBLIC.replace('"laplace:18"', '"laplace:6"'))
    assert report.verdict is Verdict.FAIL
    for found in report.checks:
        assert found.verdict is Verdict.PASS or found.excludes == ()


@pytest.mark.slow("over half a second")
def test_each_aggregate_has_entries_of_its_own() -> None:
    """Catches those of the first one told for all, with its scale."""
    names = {"count", "privacy-id-count", "sum"}
    foreseen = planned(PUBLIC).excluded
    for check in ("noise-law", "noise-scale", "location", "independence"):
        assert {one.size["aggregate"] for one in foreseen[check]} == names
    off = {one.size["aggregate"]: float(str(one.size["offset"])) for one in foreseen["location"]}
    assert off["sum"] == pytest.approx(10 * off["count"])
    assert off["sum"] == pytest.approx(20 * off["privacy-id-count"])


@pytest.mark.slow("over half a second")
def test_fewer_releases_exclude_less() -> None:
    """Catches counts that are ignored: of a run of few, and of one that has ended early."""
    few, whole = planned(PUBLIC).excluded, planned(PUBLIC, None).excluded
    for check in ("empty-partitions", "joint", "independence"):
        assert few[check][0].queries < whole[check][0].queries
        size = next(iter(few[check][0].size))
        assert float(str(few[check][0].size[size])) > float(str(whole[check][0].size[size]))
    assert len(few["contribution-bounding"]) < len(whole["contribution-bounding"])
    plan = planned(PUBLIC, None)
    joint = TableJoint(plan.claim, plan.plan, 0)
    for one in joint.each:
        one.least = 240
    (before, *_) = joint.excluded
    for one in joint.each:
        one.evidence.releases.draws = 60
    (after, *_) = joint.excluded
    assert float(str(after.size["correlation"])) > 1.5 * float(str(before.size["correlation"]))


def test_a_share_of_partitions_dropped_is_seen_as_often_as_told() -> None:
    """By the binomial law: catches a share of other releases than a pass needs."""
    for text in (PUBLIC, GEOMETRIC):
        plan = planned(text, None)
        check = EmptyPartitions(plan.claim, plan.plan, 0)
        (often, *_) = check.excluded
        share = float(str(often.size["share"]))
        assert 1.0 - (1.0 - share) ** often.queries == pytest.approx(often.probability)
        assert check.samples_needed() == often.queries * plan.plan.coordinates.size
        vacant = [asked for asked in check.inputs if asked.role in often.where]
        assert text is PUBLIC or all((check._counts(asked) == 0).any() for asked in vacant)


def test_releases_of_inputs_without_an_empty_partition_do_not_count() -> None:
    """Catches a pass by releases in which no empty partition could have come."""
    plan = planned(GEOMETRIC, None)
    check = EmptyPartitions(plan.claim, plan.plan, 0)
    assert TableRole.TYPICAL not in check.telling
    check.answered([TableRole.TYPICAL])
    assert check.excluded == ()
    assert check.samples_needed() == 0


def test_other_bounds_show_after_as_many_releases_as_enumeration_gives() -> None:
    """Of one user in three partitions of whom two stay, all three do: the least number of releases.

    Moments are summed over the three draws that there are, and a mistake's over its one.
    """
    noise = parse_number_noise("laplace:2")
    claimed, rows = Bounding(2, 1, None, "uniform"), Rows.of([1, 1, 1], [0, 1, 2], [1.0] * 3)
    cells = np.arange(3)
    evidence = LinearEvidence(claimed, Aggregate("count", noise), rows, cells, 3)
    draws = np.array([[0 if cell == lost else 1 for cell in range(3)] for lost in range(3)])
    of_noise = noise.family.log_moment(evidence.rates).sum(1)
    law = np.log(np.exp(draws @ evidence.rates.T).mean(0)) + of_noise
    for bounding, kept in ((Bounding(3, 1, None, "uniform"), [[1, 1, 1]]), (claimed, draws)):
        sums = np.array(kept) @ evidence.rates.T
        mean, variance = sums.mean(0) - law, sums.var(0) + 8.0 * np.square(evidence.rates).sum(1)
        nats = 20.0

        def shown(n: int, mean: Vector = mean, variance: Vector = variance) -> bool:
            gained = n * mean - 2.3263478740408408 * np.sqrt(n * variance)
            return bool((gained >= 20.0 + math.log(len(mean))).any())

        for n in (10, 100, 200, 300, 400, 1_000, 10_000):
            assert evidence.shows(bounding, rows, n, nats) == shown(n), n
        assert shown(10_000) == (bounding is not claimed)


@pytest.mark.slow("over half a second")
def test_what_a_selection_tells_is_what_all_outcomes_tell() -> None:
    """Mean and variance over all 2^3 outcomes of a release, each with what it gains."""
    table = planned(GEOMETRIC).claim.mechanism.table
    evidence = SelectedEvidence(table)
    users = np.array([3.0, 6.0, 9.0])
    mean, variance = evidence.moments(users, users)
    for place, other in enumerate(evidence.others):
        kept = np.exp(other.law(users, users)[0])
        first = second = 0.0
        for came in itertools.product((0, 1), repeat=3):
            chance = math.prod(k if c else 1.0 - k for k, c in zip(kept, came, strict=True))
            one = SelectedEvidence(table)
            one.observe(users, users, np.array(came), 1)
            first += chance * one.gains[place]
            second += chance * one.gains[place] ** 2
        assert mean[place] == pytest.approx(first, abs=1e-9)
        assert variance[place] == pytest.approx(second - first**2, abs=1e-9)


@pytest.mark.parametrize(("pairs", "nats"), [(500, 20.0), (2_400, 22.0), (20_000, 30.0)])
def test_a_correlation_is_seen_as_often_as_told(pairs: int, nats: float) -> None:
    """Gains are two weighted chi-squares, drawn: catches one that shows in half of the runs.

    A wager on r gains r (S - D) - ... of the squares of sums S and of differences D.
    """
    rng = np.random.default_rng(3)
    seen = seen_correlation(pairs, nats)
    assert seen is not None

    def often(true: float) -> float:
        both, apart = rng.chisquare(pairs, (2, 40_000))
        best = np.full(40_000, -np.inf)
        for rho in CORRELATIONS[CORRELATIONS > 0]:
            gained = 0.5 * both * (1.0 + true) * (1.0 - 1.0 / (1.0 + rho))
            gained += 0.5 * apart * (1.0 - true) * (1.0 - 1.0 / (1.0 - rho))
            best = np.maximum(best, gained - 0.5 * pairs * math.log(1.0 - rho * rho))
        return float((best >= nats).mean())

    assert often(seen) > 0.98
    assert often(0.8 * seen) < 0.9
