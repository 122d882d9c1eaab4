"""A log held to the budget: what its queries cost, and what it says was charged."""

import json

import numpy as np
import pytest
from claims import SMALL_TOML
from click.testing import CliRunner
from small import small_claim

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.analyses import query_cost, release_costs
from dpassay.reference.accounting.composed import sum_test
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.verifiers.cli import commands
from dpassay.verifiers.inputs.release_log import Row
from dpassay.verifiers.kinds.labels.claim import LabelsAccountant
from dpassay.verifiers.kinds.labels.logs import costs
from dpassay.verifiers.kinds.labels.logs.certain_total import CertainTotal, certain_total
from dpassay.verifiers.kinds.labels.logs.costs import Costs
from dpassay.verifiers.kinds.labels.logs.monitor import Monitor
from dpassay.verifiers.kinds.labels.registry import SHARES

VOTES = [(20, 15, 5, 0), (10, 10, 10, 10), (0, 22, 18, 0)]


def rows_of(number, charged=None, votes=VOTES, label=0):
    return [Row(votes[i % len(votes)], label, charged=charged) for i in range(number)]


def judged(rows, claim):
    """The results of the budget, by check."""
    counted = Costs(claim)
    number = sum(1 for _ in counted.count(rows))
    return {result.id: result for result in counted.results(number)}


def claimed(epsilon, queries=1000, name="gnmax", **mechanism):
    privacy = {"epsilon": epsilon, "delta": 1e-5, "queries": queries}
    claim = small_claim(name, privacy=privacy)
    return claim.model_copy(update={"mechanism": claim.mechanism.model_copy(update=mechanism)})


def upper(votes, number, mechanism):
    """What they cost at most, by Rényi accounting."""
    total = sum(number * query_cost(v, mechanism, ORDERS, "exact") for v in votes)
    return to_epsilon(ORDERS, total, 1e-5).epsilon


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ["gnmax", "confident-gnmax"])
def test_what_is_proved_is_below_every_account_and_near_it(name) -> None:
    """Catches a proof above what composition allows, and one that sees one histogram alone."""
    mechanism = small_claim(name).mechanism.mechanism()
    asked = dict.fromkeys(VOTES, 100)
    most = upper(VOTES, 100, mechanism)
    found = certain_total(mechanism, asked, 1e-5, 0.6 * most)
    assert 0.6 * most < found.proved <= found.epsilon * (1 + 1e-9) < most
    assert certain_total(mechanism, asked, 1e-5, most).proved == 0.0


@pytest.mark.slow("over half a second")
def test_a_log_that_costs_more_than_is_claimed_fails() -> None:
    """By the claim itself where it is for so many queries, else by what the log has of them."""
    most = upper(VOTES, 100, small_claim().mechanism.mechanism())
    found = judged(rows_of(300), claimed(0.5 * most, queries=300))["privacy-claim"]
    assert (found.verdict, found.code) == ("fail", "cost-above-claim")
    found = judged(rows_of(300), claimed(0.5 * most, queries=5))["privacy-claim"]
    assert (found.verdict, found.code) == ("fail", "log-above-claim")
    assert found.fields["cost"] > found.fields["epsilon"] == pytest.approx(0.5 * most)
    found = judged(rows_of(300), claimed(4 * most, queries=300))["privacy-claim"]
    assert found.verdict == "pass"
    assert found.code is None


@pytest.mark.slow("over half a second")
def test_more_queries_than_the_claim_is_for_are_told_and_lookups_are_none() -> None:
    """Catches a deployment that keeps its answers accused of the times it gave them again."""
    found = judged(rows_of(30), claimed(50.0, queries=20))["privacy-claim"]
    assert found.verdict == "fail"
    assert found.code == "queries-above-claim"
    assert (found.fields["queries"], found.fields["claimed"]) == (30, 20)
    kept = judged(rows_of(30), claimed(50.0, queries=20, caching=True))["privacy-claim"]
    assert kept.verdict == "pass"
    named = [row._replace(key=str(at)) for at, row in enumerate(rows_of(30))]
    assert judged(named, claimed(50.0, queries=20, caching=True))["privacy-claim"].verdict == "pass"
    other = [*named, Row(VOTES[0], 1, "x")]  # another label: each of 31 ids has a draw of its own
    found = judged(other, claimed(50.0, queries=20, caching=True))["privacy-claim"]
    assert found.verdict == "fail"
    assert dict(found.fields) == {"queries": 31, "claimed": 20}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(("share", "verdict"), [(0.5, "fail"), (1.0, "pass"), (None, None)])
def test_charges_are_held_to_what_queries_cost(share, verdict) -> None:
    claim = claimed(100.0)
    each = None
    if share is not None:
        each = share * upper(VOTES, 100, claim.mechanism.mechanism()) / 300
    found = judged(rows_of(300, each), claim)["accountant-soundness"]
    assert found.verdict == (verdict or "not-applicable")


@pytest.mark.slow("over half a second")
def test_a_refusal_may_be_charged_its_screen_alone() -> None:
    """Realised charging, were all queries refused. Catches a sound account that is accused."""
    claim = claimed(100.0, name="confident-gnmax")
    mechanism = claim.mechanism.mechanism()
    screen = query_cost(
        VOTES[0], mechanism, ORDERS, "data-independent", charging="realised", refused=True
    )
    each = to_epsilon(ORDERS, 100 * screen, 1e-5).epsilon / 100
    rows = rows_of(100, each, votes=VOTES[:1], label=-1)
    assert judged(rows, claim)["accountant-soundness"].verdict == "pass"
    answered = rows_of(100, 0.1 * each, votes=VOTES[:1])
    assert judged(answered, claim)["accountant-soundness"].verdict == "fail"


def saying(claim, charges):
    accountant = LabelsAccountant(charges=charges)
    return claim.model_copy(update={"accountant": accountant if charges else None})


def half_refused(of_screen, of_answer):
    """200 rows of which every second is refused, charged shares of the bounds of what happened."""
    made = claimed(100.0, name="confident-gnmax")
    screen, answer = release_costs(made.mechanism.mechanism(), ORDERS)
    total = 200 * of_screen * screen + 100 * of_answer * answer
    each = to_epsilon(ORDERS, total, 1e-5).epsilon / 200
    votes = (20, 20, 0, 0)
    return made, [Row(votes, -(n % 2), charged=each) for n in range(200)]


@pytest.mark.parametrize(
    ("charges", "of_answer", "verdict"),
    [
        (None, 1.0, "pass"),
        ("realised", 1.0, "pass"),
        ("realised", 0.5, "fail"),
        (None, 0.5, "pass"),  # an account of any kind may charge so little
    ],
)
def test_realised_charges_pay_for_answers_by_themselves(charges, of_answer, verdict) -> None:
    """Half of the screening's bound too: both bounds lie above the cost of these votes."""
    made, rows = half_refused(0.5, of_answer)
    found = judged(rows, saying(made, charges))["accountant-soundness"]
    assert found.verdict == verdict, found.message


@pytest.mark.slow("over half a second")
def test_where_all_is_charged_a_refusal_is_too() -> None:
    """Catches refusals that are charged their screening alone, which only `realised` allows."""
    made = claimed(100.0, name="confident-gnmax")
    votes = (16, 16, 8, 0)
    screen, answer = release_costs(made.mechanism.mechanism(), ORDERS)
    for cost, verdict in ((screen, "fail"), (screen + answer, "pass")):
        each = to_epsilon(ORDERS, 200 * cost, 1e-5).epsilon / 200
        rows = [Row(votes, -1, charged=each)] * 200
        found = judged(rows, saying(made, "all"))["accountant-soundness"]
        assert found.verdict == verdict, found.message
        by_outcome = judged(rows, saying(made, "realised"))
        assert by_outcome["accountant-soundness"].verdict == "pass"
        assert by_outcome["privacy-claim"].verdict == "not-applicable"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("charges", "verdict"), [(None, "pass"), ("data-independent", "fail")])
def test_charges_that_are_data_independent_are_those_of_the_costliest_votes(
    charges, verdict
) -> None:
    """Rows that cost little, charged what they cost at these votes."""
    made, votes = claimed(100.0), (38, 2, 0, 0)
    each = upper([votes], 200, made.mechanism.mechanism()) / 200
    rows = rows_of(200, each, votes=[votes])
    found = judged(rows, saying(made, charges))["accountant-soundness"]
    assert found.verdict == verdict, found.message


def test_a_cost_in_floating_point_alone_accuses_nobody(monkeypatch) -> None:
    """Neither of the budget nor of the charges, and it is no pass."""
    unproved = CertainTotal(epsilon=60.0, proved=0.0, queries=30, histograms=3)
    monkeypatch.setattr(costs, "certain_total", lambda *_, **__: unproved)
    found = judged(rows_of(30, 0.01), claimed(50.0, queries=30))
    for check in ("privacy-claim", "accountant-soundness"):
        assert found[check].verdict == "inconclusive"
        assert (found[check].code, found[check].fields["cost"]) == ("cost-not-proved", 60.0)


def test_charges_that_begin_later_are_not_judged() -> None:
    found = judged([Row(VOTES[0], 0), *rows_of(3, 0.1)], claimed(2.0))["accountant-soundness"]
    assert (found.verdict, found.code) == ("not-applicable", "charges-not-logged")


def test_without_a_budget_nothing_is_held_to_it() -> None:
    found = judged(rows_of(300, 0.0), small_claim())
    assert {result.verdict for result in found.values()} == {"not-applicable"}
    assert {result.code for result in found.values()} == {"no-privacy-claimed"}


@pytest.mark.slow("over half a second")
def test_the_monitor_raises_both_alarms_once(tmp_path) -> None:
    """In a log that a monitor reads in two starts; sound charges raise none."""
    rng = np.random.default_rng(1)
    votes = np.array(VOTES)[np.arange(600) % 3]
    labels = (votes + rng.normal(0.0, 10.0, votes.shape)).argmax(-1)
    lines = [",".join(map(str, (*v, y))) for v, y in zip(votes.tolist(), labels, strict=True)]
    most = upper(VOTES, 200, small_claim().mechanism.mechanism())
    for name, epsilon, charge, expected in (
        ("short", 0.4 * most, 0.4 * most / 600, ["accountant-soundness", "privacy-claim"]),
        ("sound", 3.0 * most, 1.1 * most / 600, []),
    ):
        log = tmp_path / f"{name}.csv"
        log.write_text("a,b,c,d,label,charged\n" + "".join(f"{x},{charge}\n" for x in lines))
        for _ in range(2):
            monitor = Monitor(str(log), claimed(epsilon), str(tmp_path / name), once=True)
            while monitor.step() or not monitor.source.ended:
                pass
            monitor.close()
            assert sorted(alarm.check for alarm in monitor.alarms) == expected


def test_what_does_not_apply_is_one_line(tmp_path) -> None:
    """At the terminal; the JSON lists every id."""
    (tmp_path / "claim.toml").write_text(SMALL_TOML)
    (tmp_path / "log.csv").write_text("a,b,c,d,label\n20,15,5,0,0\n10,10,10,10,1\n")
    files = ["--log", str(tmp_path / "log.csv"), "--claim", str(tmp_path / "claim.toml")]
    told = CliRunner().invoke(commands, ["verify", *files]).output
    assert sum(line.startswith("not-applicable") for line in told.splitlines()) == 1
    report = json.loads(CliRunner().invoke(commands, ["verify", *files, "--json"]).stdout)
    assert [found["id"] for found in report["checks"]] == list(SHARES)


@pytest.mark.slow("over half a second")
def test_clear_winners_cost_nothing_that_can_be_shown() -> None:
    """Catches a grid of 2^35 sums, for outcomes too rare to count and far more telling than all."""
    mechanism = NoisyArgmax(Gaussian(20.0))
    assert certain_total(mechanism, {(1000, 0, 0): 300}, 1e-5, 5.0).epsilon == 0.0
    some = certain_total(mechanism, {(250, 0, 0): 1, (240, 10, 0): 1}, 1e-16, 5.0)
    assert 0.0 < some.epsilon < 5.0
    rare = np.log([[1e-10, 1.0 - 1e-10]]), np.log([[1e-14, 1.0 - 1e-14]])
    found = sum_test(*rare, np.array([1.0]), 1e-12)
    assert found is not None
    assert np.abs(found.scores).max() <= 10_000


def test_charges_are_judged_from_the_first_row_on() -> None:
    """Epsilon grows ever slower: what later rows charge is less than they cost by themselves.

    Catches charges that are summed wherever they stand, by which a correct account failed.
    """
    claim, votes = claimed(50.0, 5000), (20, 20, 0, 0)
    mechanism = claim.mechanism.mechanism()
    cost = query_cost(votes, mechanism, ORDERS, "data-independent")
    spent = [to_epsilon(ORDERS, n * cost, 1e-5).epsilon if n else 0.0 for n in range(401)]
    for first, verdict in ((0, "pass"), (200, "not-applicable")):
        rows = [
            Row(votes, 0, charged=spent[n + 1] - spent[n] if n >= first else None)
            for n in range(400)
        ]
        found = judged(rows, claim)["accountant-soundness"]
        assert found.verdict == verdict, found.message
