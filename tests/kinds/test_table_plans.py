"""Plans of tables: for few releases, in which order, and which mistakes they would show."""

import math
import tomllib
from itertools import takewhile
from typing import Any

import numpy as np
import pytest
from table_zoo.correct import Reference
from table_zoo.engine import Engine
from table_zoo.shelf import GATE, GEOMETRIC, PUBLIC

from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.tables import Aggregate, Bounding, Rows
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tables.evidence.linear import LinearEvidence
from dpassay.verifiers.kinds.tables.foreseen import foreseen
from dpassay.verifiers.kinds.tables.planned import planned_table
from dpassay.verifiers.kinds.tables.planning.asked import BEYOND, NUMERIC
from dpassay.verifiers.run.precision import TooFewError
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget


def claim_of(text: str, gate: str = "") -> Any:
    return parse_claim(tomllib.loads(f"[mechanism]\n{text}{gate}"))


def planned(text: str, queries: int | None, gate: str = "") -> Any:
    return planned_table(claim_of(text, gate), PlanRequest(queries, 1))


def judged(text: str, made: Any, queries: int) -> Any:
    claim = claim_of(text)
    engine = made(claim, np.random.default_rng([1, 5]))
    return verify(InProcessTarget(engine, release=claim.release), claim, queries=queries, seed=1)


@pytest.mark.parametrize("text", [GEOMETRIC, PUBLIC])
@pytest.mark.slow("over half a second")
def test_a_pass_fits_the_queries_that_it_is_planned_for(text) -> None:
    """Catches an estimate that leaves out the inputs between those that a check waits for."""
    least = 600
    plan = planned(text, least)
    assert plan.queries <= least
    assert 0.0 < plan.extent < 1.0
    report = judged(text, Reference, least)
    assert report.verdict is Verdict.PASS, [(c.id, c.message) for c in report.checks]
    assert report.queries <= least


@pytest.mark.slow("over half a second")
def test_a_finer_plan_takes_more_and_what_is_written_binds() -> None:
    plans = [planned(PUBLIC, n, GATE) for n in (600, 1_000, 2_000)]
    assert [plan.claim.gate.smallest_effect for plan in plans] == [0.1] * 3
    assert [plan.claim.gate.tolerance for plan in plans] == [0.2] * 3
    asked = [plan.extent for plan in plans]
    assert asked == sorted(asked)
    free = [planned(PUBLIC, n).claim.gate.smallest_effect for n in (600, 1_000, 2_000)]
    assert free == sorted(free, reverse=True)


def test_queries_for_which_there_is_no_pass_are_told_with_the_least() -> None:
    with pytest.raises(TooFewError, match="100 queries") as error:
        planned(PUBLIC, 100)
    assert planned(PUBLIC, error.value.least).queries <= error.value.least


def test_single_calls_come_first_and_then_the_inputs_that_show_most() -> None:
    """Catches rows within the bounds that are asked in fives while others wait for their second."""
    plan = planned(PUBLIC, None).plan
    calls = [(asked.role, size) for asked, size in takewhile(lambda c: c[1] < 8, plan.calls(1))]
    first_large = next(n for n, (_, size) in enumerate(calls) if size > 1)
    assert {role for role, _ in calls[:first_large]} == {asked.role for asked in plan.inputs}
    later = [role in NUMERIC for role, _ in calls[first_large:]]
    assert later == sorted(later)
    beyond = {role: sum(s for r, s in calls if r == role) for role in BEYOND}
    assert set(beyond.values()) == {9}


def test_evidence_of_the_mean_is_enough_after_the_releases_foreseen() -> None:
    """Catches a gain that leaves out the noise, and wagers that are not paid for."""
    noise = parse_number_noise("laplace:3")
    rows = Rows.of([1] * 4 + [2], [0, 0, 1, 1, 1], [1.0] * 5)
    bounding, one = Bounding(1, 2, None, "uniform"), Aggregate("count", noise)
    wrong = np.array([4.0, 6.0])

    def gained(releases: int) -> float:
        evidence = LinearEvidence(bounding, one, rows, np.arange(2), 2)
        evidence.observe(np.tile(wrong, (releases, 1)))
        return evidence.log_e_value

    evidence = LinearEvidence(bounding, one, rows, np.arange(2), 2)
    needed = evidence.releases_until(15.0, wrong)
    assert gained(math.ceil(needed)) >= 15.0
    assert gained(math.floor(0.6 * needed)) < 15.0
    assert evidence.releases_until(15.0, np.array([1.0, 2.0])) == math.inf  # as claimed


class Unbounded(Engine):
    def some_partitions(self, partitions, most):
        return set(partitions)


class Half(Engine):
    def scale(self, name):
        return 0.5


@pytest.mark.parametrize(
    ("made", "words"),
    [(Half, "half the claimed scale"), (Unbounded, "max_partitions is not enforced")],
)
@pytest.mark.slow("over half a second")
def test_a_mistake_is_found_about_when_the_plan_says(made, words) -> None:
    """By then or before twice as many; checks that the plan does not count may find it earlier."""
    told = foreseen(planned(PUBLIC, 600))
    (needed,) = [n for mistake, n in told.items() if words in mistake]
    report = judged(PUBLIC, made, 600)
    assert report.verdict is Verdict.FAIL
    assert report.found_after <= 2 * needed


@pytest.mark.slow("over half a second")
def test_what_no_release_shows_is_not_foreseen() -> None:
    """Where any rows may stay, none of them is the wrong one; no norm is claimed."""
    told = foreseen(planned(PUBLIC.replace('kept = "uniform"', 'kept = "any"'), 600))
    largest = next(n for mistake, n in told.items() if "largest values" in mistake)
    unbounded = next(n for mistake, n in told.items() if "are not bounded" in mistake)
    assert largest is None
    assert unbounded is not None
    assert not any("norm" in mistake for mistake in told)
