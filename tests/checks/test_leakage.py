"""`histogram-leakage`: what the claim's queries give away, and when that is a failure."""

import itertools

import numpy as np
import pytest
from claims import COARSE, gnmax
from runs import claimed, drawing_with, result

from dpassay.verifiers.evidence.same_law import log_e_value_above
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.histogram_leakage import (
    LabelsHistogramLeakage,
    attacker_queries,
)
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select

ALONE = select(["histogram-leakage"], of=SHARES)
"""For runs to their end: what other checks need is not asked for."""

LARGE = pytest.mark.slow("enumerates 729 sequences a law")


def claim(queries=286, **more):
    privacy = {"epsilon": 1.97, "delta": 1e-5, "queries": queries}
    return claimed(classes=5, privacy=privacy, **COARSE | more)


def run(made, noise="gaussian:40", selection=None):
    report = verify(drawing_with(noise), made, seed=0, selection=selection)
    return report, result(report, "histogram-leakage")


@pytest.mark.slow("whole runs; others are")
def test_leakage_is_a_pass_with_a_warning_where_no_gate_forbids_it() -> None:
    report, leakage = run(claim())
    assert report.verdict is Verdict.PASS
    assert leakage.verdict is Verdict.PASS
    assert leakage.queries == 286
    (told,) = (warning for warning in report.notes if warning.code == "votes-recoverable")
    assert told.fields["queries"] == 286
    assert 0.5 < told.fields["recovered"] < 1.0


@pytest.mark.slow("over half a second")
def test_leakage_above_the_gate_fails_and_says_on_which_histogram() -> None:
    report, leakage = run(claim(max_recoverable=0.6), selection=ALONE)
    assert report.verdict is Verdict.FAIL
    assert leakage.verdict is Verdict.FAIL
    assert leakage.code == "recoverable-above-limit"
    assert leakage.fields["limit"] == 0.6 < leakage.fields["recovered"]
    assert leakage.fields["queries"] == 286
    assert sum(leakage.histogram) == 250
    assert all(warning.code != "votes-recoverable" for warning in report.notes)


@pytest.mark.slow("thousands of simulated attacks")
@pytest.mark.parametrize("beside", [-0.01, 0.01])
def test_near_the_limit_no_estimate_above_it_passes(beside) -> None:
    """A hundredth to either side of what is recovered: simulation goes on until it is decided."""
    message = run(claim(max_recoverable=0.99))[1].message
    recovered = float(message.split("recovers ")[1].split(" %")[0]) / 100
    limit = round(recovered + beside, 4)
    verdict = run(claim(max_recoverable=limit))[1].verdict
    assert verdict is (Verdict.FAIL if beside < 0 else Verdict.PASS)


@pytest.mark.slow("over half a second")
def test_leakage_below_the_gate_passes() -> None:
    """Ten labels tell little: most of the votes stay unread."""
    made = claim(queries=10, max_recoverable=0.95)
    assert run(made, selection=ALONE)[1].verdict is Verdict.PASS


def test_caching_leaves_an_attacker_one_label() -> None:
    assert attacker_queries(claim()) == 286
    assert attacker_queries(claim(caching=True)) == 1
    plain = parse_claim({"mechanism": claim().mechanism.model_dump(mode="json", exclude_none=True)})
    assert attacker_queries(plain) == 10_000


@pytest.mark.slow("over half a second")
def test_a_histogram_that_one_label_lets_guess_is_not_attacked() -> None:
    """A correct deployment that keeps its answers must not fail for near-unanimous votes."""
    made = claim(caching=True, queries=1, max_recoverable=0.9, max_queries=400)
    leakage = run(made, selection=ALONE)[1]
    assert leakage.verdict is Verdict.PASS, leakage.message
    assert max(leakage.histogram) <= 0.9 * 250


@pytest.mark.slow("over half a second")
def test_nothing_is_said_of_leakage_when_the_labels_have_another_law() -> None:
    """The attacks are simulated under the claim, which is refuted here."""
    chosen = select(["class-probabilities", "histogram-leakage"], of=SHARES)
    report, leakage = run(claim(), noise="gaussian:20", selection=chosen)
    assert report.verdict is Verdict.FAIL
    assert leakage.verdict is Verdict.INCONCLUSIVE
    assert (leakage.code, leakage.cut_short) == ("cut-short", True)


@pytest.mark.parametrize("bound", [0.2, 0.7, 0.95])
@pytest.mark.parametrize(
    "values",
    [(0.0, 1.0), (0.1, 0.99), pytest.param((0.0, 0.5, 1.0), marks=LARGE)],
)
def test_the_mean_bet_has_mean_one_at_most(bound, values) -> None:
    """Exactly, over all sequences of six values, for every law on them with the bound as mean."""
    grid = np.linspace(0, 1, 6)
    for weights in itertools.product(grid, repeat=len(values) - 1):
        law = np.array([*weights, 1 - sum(weights)])
        if law[-1] < 0 or law @ values > bound:
            continue
        total = 0.0
        for sequence in itertools.product(range(len(values)), repeat=6):
            chance = np.prod(law[list(sequence)])
            total += chance * np.exp(log_e_value_above(np.array(values)[list(sequence)], bound))
        assert total <= 1 + 1e-9


def test_the_mean_bet_grows_beyond_the_bound() -> None:
    values = np.random.default_rng(0).beta(30, 2, 200)
    assert log_e_value_above(values, 0.8) > 16
    assert log_e_value_above(values, 0.97) < 0


@pytest.mark.slow("over half a second")
def test_votes_of_very_many_scales_are_attacked_less_often_unless_a_limit_is_to_be_decided() -> (
    None
):
    """Each fit takes twenty times the steps there: a hundred of them took most of a minute."""

    def attacks(teachers, **gate):
        mechanism = gnmax(40, 3, teachers)
        plan = make_plan(parse_claim({"mechanism": mechanism, "gate": gate}), 0)
        check = LabelsHistogramLeakage(plan, 0)
        check.run()
        return check.worst.misplaced.size

    assert attacks(1000) == 100
    assert 10 <= attacks(40_000) < 40
    assert attacks(40_000, max_recoverable=0.999) == 100
