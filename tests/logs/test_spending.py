"""One log has one table of costs: each command names analysis and charging, and digits agree."""

import re

import numpy as np
import pytest
from claims import SMALL_TOML
from drawn_rows import drawn
from small import small_claim
from typed import typed

from dpassay.reference import Laplace, NoisyArgmax
from dpassay.reference.accounting.analyses import CountedCost
from dpassay.verifiers.kinds.labels.logs.costs import Costs
from dpassay.verifiers.kinds.labels.logs.findings import log_results
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence
from dpassay.verifiers.kinds.labels.logs.monitor import Monitor
from dpassay.verifiers.text import epsilon_text

ROWS = 400
DELTA = 1e-5


def claim_of(epsilon=30.0, queries=ROWS):
    return small_claim(privacy={"epsilon": epsilon, "delta": DELTA, "queries": queries})


def judged(rows, claim):
    """The result on the claimed privacy."""
    evidence, costs = LogEvidence(claim, 0), Costs(claim)
    evidence.observe(list(costs.count(rows)))
    return next(r for r in log_results(evidence, costs) if r.id == "privacy-claim")


def timed(rows):
    return [row._replace(time=60.0 * at, time_text=f"{60 * at}") for at, row in enumerate(rows)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A log of four classes, and its claim."""
    folder = tmp_path_factory.mktemp("costs")
    lines = [",".join(map(str, (*row.histogram, row.label))) for row in drawn(ROWS, 1)]
    (folder / "log.csv").write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
    privacy = f"\n[privacy]\nepsilon = 30.0\ndelta = {DELTA}\nqueries = {ROWS}\n"
    (folder / "claim.toml").write_text(SMALL_TOML + privacy)
    return folder / "log.csv", folder / "claim.toml"


def accounted(files, analysis):
    """The epsilon that `account` prints."""
    log, claim = map(str, files)
    how = ("--claim", claim, "--delta", str(DELTA), "--analysis", analysis)
    return re.match(r"epsilon (\S+) at", typed("account", log, *how).stdout).group(1)


@pytest.mark.slow("over half a second")
def test_the_data_independent_cost_is_one_figure_in_every_command(files, tmp_path):
    """Catches a grid of orders of one's own, and digits of one's own.

    400 answers under sigma 10 cost 400 a / 100 at order a. By Balle et al. 2020, the least over a
    fine grid is the figure, to a ten-thousandth.
    """
    log, claim = files
    a = 1.0 + np.geomspace(1e-2, 1e2, 2_000_001)
    by_hand = (4.0 * a + np.log1p(-1 / a) - (np.log(DELTA) + np.log(a)) / (a - 1)).min()
    told = epsilon_text(float(by_hand))
    assert accounted(files, "data-independent") == told
    monitor = Monitor(str(log), claim_of(), str(tmp_path), once=True)
    while monitor.step():
        pass
    for last in (False, True):
        assert epsilon_text(monitor.snapshot(last=last).spent["data-independent"]) == told
    monitor.close()
    costs = judged(drawn(ROWS, 1), claim_of()).figures.spending.costs
    assert {one.analysis: epsilon_text(one.epsilon) for one in costs}["data-independent"] == told
    counted = CountedCost(claim_of().mechanism.mechanism())
    assert epsilon_text(counted.least_epsilon(ROWS, 0, DELTA)) == told
    assert told in typed("verify", "--log", str(log), "--claim", str(claim)).stdout
    state = ("--claim", str(claim), "--state", str(tmp_path / "state"), "--once")
    assert told in typed("monitor", str(log), *state).stderr


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("analysis", ["data-dependent", "exact"])
def test_costs_that_depend_on_votes_are_those_of_account_once_the_log_ends(
    files, tmp_path, analysis
):
    """Catches the orders of a monitor that goes on, 43 of them, by which exact costs are higher."""
    monitor = Monitor(str(files[0]), claim_of(), str(tmp_path), once=True)
    while monitor.step():
        pass
    going_on, ended = monitor.snapshot(), monitor.snapshot(last=True)
    monitor.close()
    assert epsilon_text(ended.spent[analysis]) == accounted(files, analysis)
    assert (going_on.refined, ended.refined) == (False, True)
    assert going_on.spent[analysis] >= ended.spent[analysis]


def test_each_cost_says_which_it_is():
    """A guarantee from above, a test from below, what was charged. Catches a bound mistaken."""
    rows = [row._replace(charged=0.1) for row in drawn(ROWS, 2)]
    costs = {one.analysis: one for one in judged(rows, claim_of()).figures.spending.costs}
    assert list(costs) == ["data-independent", "certain", "charged"]
    assert [one.bound for one in costs.values()] == ["above", "below", None]
    assert [one.charging for one in costs.values()] == ["all", "all", None]
    assert [one.depends_on_votes for one in costs.values()] == [False, True, False]
    assert costs["certain"].epsilon < costs["data-independent"].epsilon
    assert costs["charged"].epsilon == pytest.approx(0.1 * ROWS)
    part = [rows[0], *(row._replace(charged=None) for row in rows[1:])]
    spent = judged(part, claim_of()).figures.spending
    assert "charged" not in {one.analysis for one in spent.costs}


def test_the_row_and_time_at_which_a_budget_ended_are_told():
    """Catches the first row beyond for the last within, and the time of another row."""
    found = judged(timed(drawn(ROWS, 3)), claim_of(queries=300))
    assert (found.verdict, found.code) == ("fail", "queries-above-claim")
    assert (found.fields["last_row"], found.fields["last_time"]) == (300, str(60 * 299))


def test_the_guaranteed_budget_ends_with_the_last_row_whose_cost_fits():
    counted = CountedCost(claim_of().mechanism.mechanism())
    budget = (counted.least_epsilon(250, 0, DELTA) + counted.least_epsilon(251, 0, DELTA)) / 2.0
    found = judged(timed(drawn(ROWS, 4)), claim_of(epsilon=budget)).figures.spending
    (end,) = found.ends
    assert (end.by, end.last_row, end.last_time) == ("data-independent", 250, str(60 * 249))
    (untimed,) = judged(drawn(ROWS, 4), claim_of(epsilon=budget)).figures.spending.ends
    assert untimed.last_time is None


def test_a_log_within_its_budget_has_no_end_of_it():
    assert judged(timed(drawn(ROWS, 5)), claim_of()).figures.spending.ends == ()


def test_answers_with_laplace_noise_cost_no_more_than_pure_privacy():
    """Few answers: 2 a scale each, added up, is less than any order gives. Catches orders alone."""
    counted = CountedCost(NoisyArgmax(Laplace(10.0)))
    assert counted.least_epsilon(3, 0, 1e-12) == pytest.approx(0.6)
    assert counted.epsilon(3, 0, 1e-12) > 0.6
