"""Tables of engines: their claims, how rows travel, evidence by enumeration, and the zoo."""

import itertools
import math
import tomllib
from typing import Any

import numpy as np
import pytest
from table_zoo import BROKEN, CORRECT
from table_zoo.shelf import GEOMETRIC, PUBLIC, UNUSUAL, VECTOR
from zoo_entry import Entry

from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.tables import Aggregate, Bounding, Rows
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.evidence.bins import Placing
from dpassay.verifiers.kinds.numbers.planning.asked import Batch, Draws
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tables.checks.contribution_bounding import ContributionBounding
from dpassay.verifiers.kinds.tables.evidence.linear import LinearEvidence
from dpassay.verifiers.kinds.tables.evidence.selected import SelectedEvidence
from dpassay.verifiers.kinds.tables.planning.asked import LACKING
from dpassay.verifiers.kinds.tables.served import ServedTable
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.replies import CallError
from dpassay.verifiers.targets.tables import TableRelease


def claim_of(text: str) -> Any:
    return parse_claim(tomllib.loads(f"[mechanism]\n{text}"))


RELEASE = TableRelease(["count", "sum"], ["a", "b"], "array")
ROWS = Rows.of([5, 5, 7], [0, 1, 1], [1.0, 2.0, 3.0])
GOOD = [[{"partition": "b", "count": 2, "sum": 5.5}]]


def test_a_release_is_read_by_partition_and_a_missing_one_is_no_zero() -> None:
    found = RELEASE.shaped(GOOD, ROWS, 1)
    assert found.shape == (1, 4)  # counts of a and b, then sums
    assert np.isnan(found[0, [0, 2]]).all()
    assert found[0, [1, 3]].tolist() == [2.0, 5.5]
    assert RELEASE.shaped([{"b": {"count": 2, "sum": 5.5}}], ROWS, 1)[0, 3] == 5.5


def test_the_noisy_sum_behind_a_mean_is_read() -> None:
    """As PipelineDP divides: centre + sum / max(1, count); catches counts below 1 that divide."""
    release = TableRelease(["count", "mean"], ["a", "b"], "array", 5.0)
    reply = [
        [
            {"partition": "a", "count": 4.0, "mean": 7.5},
            {"partition": "b", "count": -2.0, "mean": 4.0},
        ]
    ]
    found = release.shaped(reply, ROWS, 1)
    assert found[0].tolist() == [4.0, -2.0, 10.0, -1.0]
    assert release.tables(found) == reply


def test_the_noisy_squares_behind_a_variance_are_read() -> None:
    """As PipelineDP has it, of values less the centre; catches a mean that is not moved back."""
    release = TableRelease(["count", "mean", "variance"], ["a", "b"], "array", 5.0)
    reply = [[{"partition": "a", "count": 4.0, "mean": 3.0, "variance": 10.0}]]
    found = release.shaped(reply, ROWS, 1)
    assert found[0, ::2].tolist() == [4.0, -8.0, 4 * (10.0 + 4.0)]
    assert release.tables(found) == reply
    one = Aggregate("variance", parse_number_noise("laplace:1"), -1.0, 3.0, 2.0)
    assert one.totals(Rows.of([1, 1, 2], [0, 0, 0], [2.0, -7.0, 9.0]), 1).tolist() == [0 + 9 + 1]
    assert one.largest == 9.0


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ([], "expected 1 tables"),
        ([[{"partition": "b", "count": 2}]], "expected a list of"),
        ([[{"partition": "c", "count": 2, "sum": 1}]], "released the partition 'c'"),
        ([[*GOOD[0], *GOOD[0]]], "'b' twice"),
        ([[{"partition": "b", "count": float("nan"), "sum": 1}]], "expected a finite number"),
        ("abc", "expected 1 tables"),
    ],
)
def test_a_reply_that_is_no_table_is_told(reply, said) -> None:
    with pytest.raises(CallError, match=said):
        RELEASE.shaped(reply, ROWS, 1)


def test_a_vector_is_one_list_in_a_table_and_its_numbers_have_columns_of_their_own() -> None:
    """Catches numbers of two partitions, or of two places, that are mixed up."""
    release = TableRelease(
        ["count", "vector-sum[0]", "vector-sum[1]"], ["a", "b"], "array", None, 2
    )
    reply = [[{"partition": "b", "count": 2.0, "vector-sum": [5.5, -1.0]}]]
    found = release.shaped(reply, ROWS, 1)
    assert found[0, 1::2].tolist() == [2.0, 5.5, -1.0]
    assert np.isnan(found[0, ::2]).all()
    assert release.tables(found) == reply
    made = release.shaped([{"b": {"count": 2, "vector-sum": np.array([5.5, -1.0])}}], ROWS, 1)
    assert made[0, 1::2].tolist() == [2.0, 5.5, -1.0]
    for wrong in ([5.5], 5.5, [5.5, "x"], None):
        with pytest.raises(CallError, match="vector-sum"):
            release.shaped([[{"partition": "b", "count": 2, "vector-sum": wrong}]], ROWS, 1)


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        (VECTOR, [1.0, 2.0], "a list of 3 numbers"),
        (VECTOR, 3.0, "a list of 3 numbers"),
        (PUBLIC, [1.0], "a number"),
    ],
)
def test_a_value_that_is_none_is_refused_by_the_served_reference(text, value, said) -> None:
    """Catches an IndexError of a vector that is too short, which a server answers by 500."""
    with pytest.raises(ValueError, match=f"and {said}"):
        ServedTable(claim_of(text)).input([[1, "a", value]])


@pytest.mark.parametrize("kept", ["first", "last", "uniform"])
def test_sums_have_expectation_1_under_the_claim(kept) -> None:
    """Enumerated over which partition of a user stays, and summed over whole noise.

    Catches moments of noise that is counted once for two partitions, and a draw of rows that is
    taken for independent between partitions.
    """
    bounding = Bounding(1, 2, None, kept)
    noise = parse_number_noise("discrete-laplace:1")
    one = Aggregate("count", noise)
    rows = Rows.of([1, 1, 1, 2], [0, 0, 1, 1], [1.0] * 4)
    evidence = LinearEvidence(bounding, one, rows, np.arange(2), 2)
    stays = {"first": [(2, 1)], "last": [(0, 2)], "uniform": [(2, 1), (0, 2)]}[kept]
    k = np.arange(-400.0, 401.0)
    p = np.exp(noise.log_mass(k, 0.0))
    expected = np.zeros(len(evidence.rates))
    for exact in stays:
        moments = [
            (np.exp(np.outer(evidence.rates[:, c], exact[c] + k)) * p).sum(1) for c in range(2)
        ]
        expected += moments[0] * moments[1] / len(stays)
    gains = np.log(expected) - evidence._log_moments
    assert gains.max() <= 1e-9
    assert gains.min() > -1e-6


@pytest.mark.parametrize(
    "text", ["laplace:1;cut", "gaussian:2;cut", "laplace:0.1;cut", "laplace:1;round"]
)
@pytest.mark.parametrize("count", [0, 1, 7])
def test_wagers_on_rounded_counts_expect_at_most_1(text: str, count: int) -> None:
    """Enumerated over a count's releases; catches a cut that is priced as half a step."""
    one = Aggregate("count", parse_number_noise(text))
    rows = Rows.of([*range(count)], [0] * count, [1.0] * count)
    expected = np.zeros(1)
    for released in np.arange(-60.0, 61.0):
        evidence = LinearEvidence(Bounding(1, 1), one, rows, np.arange(1), 1)
        evidence.observe(np.array([[released]]))
        expected = expected + np.exp(one.noise.log_mass(released, count) + evidence.gains)
    assert (expected <= 1.0 + 1e-9).all()
    assert (expected > 0.3).any()


@pytest.mark.parametrize("text", [GEOMETRIC, PUBLIC.split("partitions = [")[0]])
def test_selections_have_expectation_1_under_the_claim(text) -> None:
    """Enumerated over which of three partitions come; catches a ratio that is not of two laws."""
    if text is not GEOMETRIC:
        text = (
            text
            + '[mechanism.aggregates]\nprivacy-id-count = {noise = "laplace:3"}\n'
            + '[mechanism.selection]\nstrategy = "threshold"\ncounts = "users"\n'
            + 'draw = "released"\nthreshold = 20.0\ncompare = ">"\n'
        )
    table = claim_of(text).mechanism.table
    users = np.array([2.0, 5.0, 19.0])
    kept = np.exp(table.selection.log_kept(users))
    total = 0.0
    for came in itertools.product((0, 1), repeat=3):
        evidence = SelectedEvidence(table)
        evidence.observe(users, users, np.array(came), 1)
        chance = math.prod(q if c else 1 - q for q, c in zip(kept, came, strict=True))
        total += chance * math.exp(evidence.log_e_value)
    assert total == pytest.approx(1.0, abs=2e-3)
    assert total <= 1.0 + 1e-9


def test_inputs_that_are_refused_are_not_waited_for() -> None:
    """Catches a pass that a target which refuses rows, as it claims, can never have."""
    claim = claim_of(UNUSUAL.replace('"dropped"', '"refused"'))
    plan = claim.inputs(1)
    check = ContributionBounding(claim, plan, 1)
    served = [asked for asked in plan.inputs if asked.role not in LACKING]
    check.answered([asked.role for asked in served])
    assert check.samples_needed() > 0
    placing = Placing(claim.mechanism.added, np.random.default_rng(1))
    exact = np.zeros((60, plan.inputs[0].exact.size))
    check.observe(Draws(tuple(Batch(a, exact, (60,)) for a in served), placing, plan.coordinates))
    assert check.samples_needed() == 0


def judged(entry: Entry, seed: int) -> Any:
    claim = entry.claim

    def made() -> Any:
        return entry.make(claim, np.random.default_rng([seed, 5]))

    again = made if entry.name.startswith("one seed") else None
    target = InProcessTarget(made(), again=again, release=claim.release)
    chosen = select(entry.caught, of=claim.kind.checks.ids) if entry.name == QUICK else None
    return verify(target, claim, seed=seed, selection=chosen)


QUICK = "selected by rows"
"""What the quick suite runs, with its checks alone.

Bounds that are not enforced are found in test_sql_tables, and by the tutorial's test.
"""


def shelf(entries: list[Entry]) -> list[Any]:
    slow = pytest.mark.slow("seconds each; others show the same")
    return [
        pytest.param(
            entry, id=entry.name.replace(" ", "-"), marks=() if entry.name == QUICK else slow
        )
        for entry in entries
    ]


@pytest.mark.parametrize("entry", shelf(BROKEN))
def test_a_broken_one_is_found_by_a_check_named_for_it(entry: Entry) -> None:
    report = judged(entry, 2)
    failed = {c.id: (c.code, c.fields) for c in report.checks if c.verdict is Verdict.FAIL}
    assert {*failed} & set(entry.caught), (report.verdict, failed)
    assert any(entry.tells(*told) for told in failed.values()), failed


@pytest.mark.parametrize("entry", shelf(CORRECT))
@pytest.mark.slow("whole runs; what a plan allows passes in test_table_plans")
def test_a_correct_one_passes(entry: Entry) -> None:
    """A correct one fails with probability 1e-6 at most."""
    report = judged(entry, 2)
    messages = [(c.id, c.message) for c in report.checks if c.verdict is not Verdict.PASS]
    assert report.verdict is Verdict.PASS, messages
