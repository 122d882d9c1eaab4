"""What `histogram-leakage` advises: simulated for the claim, short, deciding no verdict."""

import re
from datetime import datetime

import numpy as np
import pytest
from claims import COARSE
from runs import claimed, result

from dpassay.attacks import misplaced
from dpassay.verifiers.findings.figures import CheckFigures, Leakage, Mitigation
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.histogram_leakage import LabelsHistogramLeakage
from dpassay.verifiers.kinds.labels.checks.leakage_advice import advice, mitigations
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.reporting.page import page
from dpassay.verifiers.reporting.terminal import print_report

HISTOGRAM = (110, 60, 40, 30, 10)


def mitigation(kind, queries, noise, recovered, attacks, error=0.0):
    return Mitigation(
        kind=kind, queries=queries, noise=noise, recovered=recovered, attacks=attacks, error=error
    )


def claim(**more):
    return claimed(classes=5, **COARSE | more)


def simulated(made, asked=10_000):
    return mitigations(made, HISTOGRAM, asked, np.random.default_rng(0))


def test_other_noise_has_the_queries_that_cost_the_same():
    """Of Gaussian noise, as the square of its scale: catches an epsilon held by something else."""
    others = {one.noise: one for one in simulated(claim()) if one.kind == "other-noise"}
    assert {noise: one.queries for noise, one in others.items()} == {
        "gaussian:20": 2500,
        "gaussian:80": 40_000,
    }
    assert others["gaussian:20"].recovered < others["gaussian:80"].recovered


def test_limits_leave_less_the_tighter_they_are():
    found = [one for one in simulated(claim()) if one.kind == "query-limit"]
    assert [one.queries for one in found] == [1, 10, 100, 1000]
    shares = [one.recovered for one in found]
    assert shares == sorted(shares)
    assert [one.queries for one in simulated(claim(), 100) if one.kind == "query-limit"] == [1, 10]


def test_what_is_kept_is_asked_in_near_duplicates():
    made = claim(caching=True)
    found = simulated(made, 1)
    assert {one.kind for one in found} == {"near-duplicates"}
    (line,) = advice(made, found, 0.5)
    assert "identical inputs" in line
    assert "near-duplicates" in line
    (hundred,) = [one.recovered for one in found if one.queries == 100]
    assert f"100 give {100 * hundred:.1f} %" in line


def test_three_lines_at_most_say_what_was_simulated():
    found = (
        mitigation("query-limit", 1, "gaussian:40", 0.2, 20),
        mitigation("query-limit", 10, "gaussian:40", 0.7, 20),
        mitigation("query-limit", 20, "gaussian:40", 0.79, 20),
        mitigation("query-limit", 50, "gaussian:40", 0.81, 20),
        mitigation("query-limit", 100, "gaussian:40", 0.78, 20),
        mitigation("other-noise", 2500, "gaussian:20", 0.957, 20),
    )
    kept, limit, other = advice(claim(max_recoverable=0.8), found, 0.64)
    assert re.search(r"recovers 20\.0 % .*recovers 64\.0 %", kept)
    assert re.search(r"\b10 give 70\.0 %, 100 give 78\.0 %", limit)
    assert re.search(r"; 20 keep .*max_recoverable = 0\.8$", limit)
    assert re.search(r"gaussian:20 .*2,500 queries .*95\.7 %$", other)
    unkept = advice(claim(max_recoverable=0.1), found, 0.64)[1]
    assert re.search(r"\beven 1 .*max_recoverable", unkept)
    assert "keep" not in advice(claim(), found, 0.64)[1]
    assert advice(claim(), (), 0.64) == ()


def test_an_advised_limit_is_within_by_more_than_the_error_of_its_simulation():
    found = tuple(
        mitigation("query-limit", n, "gaussian:40", 0.7 + 0.008 * n, 20, error=0.01)
        for n in (1, 2, 5, 10, 20)
    )  # 10 recover 0.78, within 0.8, but three errors above it are not
    (_, limit) = advice(claim(max_recoverable=0.8), found, 0.64)
    assert "5 keep within max_recoverable = 0.8" in limit


def test_of_very_many_classes_nothing_is_simulated():
    made = claimed(classes=300, teachers=3000, **COARSE)
    assert mitigations(made, (10,) * 300, 10_000, np.random.default_rng(0)) == ()


def test_even_votes_have_right_what_they_share():
    figure = Leakage(
        histogram=HISTOGRAM,
        queries=1,
        attacks=1,
        misplaced=0.5,
        low=0.4,
        high=0.6,
        labels=0,
        reading=None,
        limit=0.0,
    )
    assert figure.guessed == pytest.approx(1 - misplaced([50] * 5, HISTOGRAM))


def concluded(made, advised=True):
    check = LabelsHistogramLeakage(make_plan(made, 0), 0)
    if not advised:
        check.advised = np.random.default_rng(99)
    return check.conclude(None)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("gate", "verdict"), [({}, "pass"), ({"max_recoverable": 0.6}, "fail")])
def test_advice_comes_with_a_warning_or_too_much_leakage_and_decides_nothing(gate, verdict):
    privacy = {"epsilon": 1.97, "delta": 1e-5, "queries": 286}
    found, other = (concluded(claim(privacy=privacy, **gate), way) for way in (True, False))
    assert found.verdict is other.verdict is Verdict(verdict)
    assert 1 <= len(found.finding.advice) <= 3
    assert found.finding.message == other.finding.message, "random numbers of its own"
    assert found.finding.figure.mitigations
    # those that are named are those of the figure
    ten = next(one for one in found.finding.figure.mitigations if one.queries == 10)
    assert f"10 give {100 * ten.recovered:.1f} %" in found.finding.advice[1]


def test_within_the_limit_there_is_nothing_to_advise():
    privacy = {"epsilon": 1.97, "delta": 1e-5, "queries": 10}
    found = concluded(claim(privacy=privacy, max_recoverable=0.95))
    assert found.verdict is Verdict.PASS
    assert found.finding.advice == found.finding.figure.mitigations == ()


@pytest.mark.slow("over half a second")
def test_reports_show_it(reports, capsys):
    report = reports["pass"]
    check = result(report, "histogram-leakage")
    leakage = check.figures.leakage.model_copy(
        update={"mitigations": (mitigation("query-limit", 10, "gaussian:4", 0.7, 20),)}
    )
    drawn = {"figures": CheckFigures(leakage=leakage), "advice": ("keep <b>answers",)}
    told = report.model_copy(update={"checks": (check.model_copy(update=drawn),)})
    print_report(told, "it")
    assert "advice: keep <b>answers" in capsys.readouterr().out
    html = page(told, "it", datetime(2026, 1, 1))
    assert "<li>keep &lt;b&gt;answers</li>" in html
    assert "one input</th><td>gaussian:4</td>" in html
    assert told.public()["checks"][0]["advice"] == ["keep <b>answers"]
