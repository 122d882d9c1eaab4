"""What is claimed of a teacher more or less, or of records behind several teachers, is held to."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from claims import gnmax

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.analyses import query_cost
from dpassay.reference.accounting.composition import epsilon_bracket
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.neighbourhood import MOVED_VOTE, ONE_MORE_OR_LESS, Neighbourhood
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.inputs.release_log import Row
from dpassay.verifiers.kinds.labels.checks.accountant_soundness import LabelsAccountantSoundness
from dpassay.verifiers.kinds.labels.checks.budget_allowed import BudgetAllowed
from dpassay.verifiers.kinds.labels.checks.budget_histograms import costliest
from dpassay.verifiers.kinds.labels.checks.privacy_audit import LabelsPrivacyAudit
from dpassay.verifiers.kinds.labels.checks.privacy_claim import PrivacyClaimCheck
from dpassay.verifiers.kinds.labels.logs.certain_total import certain_total
from dpassay.verifiers.kinds.labels.logs.costs import Costs
from dpassay.verifiers.kinds.labels.logs.running_costs import GRID, RunningCost
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Role
from dpassay.verifiers.kinds.labels.registry import CHECKS
from dpassay.verifiers.kinds.labels.served import ServedLabels
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import InProcessTarget

ADD_REMOVE = {"adjacency": "add-remove"}
OF_THREE = {"unit": "record", "max_teachers": 3}
GNMAX = gnmax(10, 3, 60)


def claimed(mechanism, privacy=None, **near):
    tables = {"mechanism": mechanism | near}
    return parse_claim(tables | ({"privacy": privacy} if privacy else {}))


# -- the claim itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["laplace:2", "gumbel:2", "exponential:2"])
def test_a_textbook_s_claim_holds_of_a_teacher_more_or_less_alone(noise) -> None:
    """Report-noisy-max at 1/scale a query, ten queries; a moved vote costs up to 2/scale."""
    textbook = {"name": "report-noisy-max", "noise": noise, "classes": 4, "teachers": 20}
    privacy = {"epsilon": 5.0, "delta": 1e-6, "queries": 10}
    kept = PrivacyClaimCheck(claimed(textbook, privacy, **ADD_REMOVE))
    assert not kept.refuted
    broken = PrivacyClaimCheck(claimed(textbook, privacy))
    assert broken.certified > privacy["delta"]
    found = broken.finding()
    assert found.code == "cost-above-claim"
    assert found.fields["delta"] == broken.certified
    assert found.fields["holds_for"].startswith("one vote more")


@pytest.mark.slow("over half a second")
def test_a_claim_too_small_for_a_teacher_more_or_less_is_refuted_too() -> None:
    """Catches an adjacency that excuses everything; and one vote of three, which is named."""
    privacy = {"epsilon": 0.3, "delta": 1e-6, "queries": 10}
    check = PrivacyClaimCheck(claimed(GNMAX, privacy, **ADD_REMOVE))
    assert check.refuted
    here, there = sum(check.best.of.here), sum(check.best.of.there)
    assert abs(here - there) == 1
    assert 60 in (here, there)
    privacy = {"epsilon": 1.0, "delta": 1e-5, "queries": 2}
    record = PrivacyClaimCheck(claimed(GNMAX, privacy, **OF_THREE))
    assert record.refuted
    assert record.finding().fields["holds_for"] == "one moved vote"


def test_histograms_of_a_file_are_held_to_the_claimed_neighbours(tmp_path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("30,30,0\n" * 4)
    privacy = {"epsilon": 0.35, "delta": 1e-5, "queries": 4, "scope": str(file)}
    refuted = []
    for near in ({}, ADD_REMOVE):
        check = PrivacyClaimCheck(claimed(GNMAX, privacy, **near))
        refuted.append(check.refuted)
    assert refuted == [True, False]


# -- charges ---------------------------------------------------------------------------------------


def soundness(near, charge):
    known = NoisyArgmax(Gaussian(10.0))

    class Charging:
        def sample(self, histogram, size):
            return known.sample(histogram, size)

        def rdp(self, histogram, orders):
            return charge(np.asarray(histogram), np.asarray(orders))

    check = LabelsAccountantSoundness(make_plan(claimed(GNMAX, **near), 0))
    assert check.run(InProcessTarget(Charging())) is None
    return check


def analysed(near, analysis):
    known = NoisyArgmax(Gaussian(10.0))
    return lambda h, a: query_cost(h, known, a, analysis, neighbourhood=near)


@pytest.mark.parametrize("analysis", ["data-independent", "data-dependent", "exact"])
@pytest.mark.parametrize(
    ("near", "neighbourhood"),
    [(ADD_REMOVE, ONE_MORE_OR_LESS), (OF_THREE, Neighbourhood(votes=3))],
    ids=["add-remove", "records"],
)
@pytest.mark.slow("over half a second")
def test_sound_accounts_of_the_claimed_neighbours_pass(near, neighbourhood, analysis) -> None:
    check = soundness(near, analysed(neighbourhood, analysis))
    assert check.proved is None
    assert len(check.charged) > 10
    assert check.finding().excludes == check.foreseen != ()


@pytest.mark.parametrize(
    ("near", "charge", "code", "name", "value"),
    [
        ({}, lambda h, a: a / 200, "fewer-votes-charged", "counts_moved", 1),
        (ADD_REMOVE, lambda h, a: a / 400, "charge-too-low", "fraction", 0.5),
        (OF_THREE, lambda h, a: a / 100, "fewer-votes-charged", "counts_moved", 2),
    ],
    ids=["moved", "add-remove", "records"],
)
@pytest.mark.slow("over half a second")
def test_charges_of_fewer_votes_are_proved_and_named(near, charge, code, name, value) -> None:
    check = soundness(near, charge)
    assert check.proved is not None
    found = check.finding()
    assert (found.code, found.fields[name]) == (code, value)


# -- the audited pair ------------------------------------------------------------------------------

PRIVACY = {"epsilon": 1.0, "delta": 1e-5, "queries": 3}


@pytest.mark.parametrize(
    ("near", "neighbourhood"),
    [({}, MOVED_VOTE), (ADD_REMOVE, ONE_MORE_OR_LESS), (OF_THREE, Neighbourhood(votes=3))],
    ids=["moved", "add-remove", "records"],
)
@pytest.mark.parametrize("teachers", [1, 3, 40, 41])
@pytest.mark.quick_cases(1)
def test_the_audited_pair_is_one_of_neighbours(near, neighbourhood, teachers) -> None:
    if neighbourhood.votes > teachers:
        return
    plan = make_plan(claimed(GNMAX | {"teachers": teachers}, PRIVACY, **near), 0)
    here, there = (plan.streams[i].histogram for i in plan.pair(Role.PAIR).streams)
    assert neighbourhood.holds(here, there)
    assert sum(here) == teachers


@pytest.mark.slow("over half a second")
def test_a_target_of_one_total_has_no_pair_of_a_teacher_more_or_less() -> None:
    made = claimed(GNMAX, PRIVACY, **ADD_REMOVE)
    reason = CHECKS.lacking(made, make_plan(made, 0, False))[LabelsPrivacyAudit.id]
    assert reason.code == "no-neighbours-asked"
    assert LabelsPrivacyAudit.id not in CHECKS.lacking(made, make_plan(made, 0, True))
    moved = claimed(GNMAX, PRIVACY)
    assert LabelsPrivacyAudit.id not in CHECKS.lacking(moved, make_plan(moved, 0, False))


# -- budgets and logs ------------------------------------------------------------------------------


def test_a_budget_allows_twice_the_answers_of_a_teacher_more_or_less() -> None:
    """And a ninth where three votes move: costs are sums, and those are in these proportions."""
    privacy = {"epsilon": 3.0, "delta": 1e-5, "queries": 1}
    moved, less, three = (
        BudgetAllowed(claimed(gnmax(60, 3, 60), privacy, **near))
        for near in ({}, ADD_REMOVE, OF_THREE)
    )
    for analysis in ("sound", "exactly_gaussian"):
        allowed = getattr(moved, analysis)
        assert abs(getattr(less, analysis) - 2 * allowed) <= 1
        assert abs(getattr(three, analysis) - allowed // 9) <= 1


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("near", [ADD_REMOVE, OF_THREE], ids=["add-remove", "records"])
def test_the_costliest_histogram_has_all_teachers(near) -> None:
    """Others may be refused, and a budget would then not be tested."""
    made = claimed(GNMAX, PRIVACY, **near)
    cost, answers = costliest(made)
    assert cost.here.sum() == 60
    proof = cost.certified(answers)
    assert proof.epsilon > PRIVACY["epsilon"]
    assert made.mechanism.neighbourhood.holds(cost.here, proof.there)


@pytest.mark.slow("over half a second")
def test_a_log_is_held_to_one_teacher_who_comes_or_goes_on_every_query() -> None:
    """What is proved lies below the larger exact cost of all added, and of all removed."""
    votes, times = [(6, 5), (7, 4)], 12
    known = NoisyArgmax(Gaussian(2.0))
    asked = dict.fromkeys(votes, times)
    best = 0.0
    for change, classes in product((1, -1), product(range(2), repeat=2)):
        laws = [
            (
                known.log_probabilities(np.array(v, dtype=float)),
                known.log_probabilities(np.array(v) + change * np.eye(2)[k]),
            )
            for v, k in zip(votes, classes, strict=True)
        ]
        p, q = (np.add.outer(one, other).ravel() for one, other in zip(*laws, strict=True))
        best = max(best, epsilon_bracket(p, q, times, 1e-5).high)  # of both directions
    found = certain_total(known, asked, 1e-5, 0.8 * best, ONE_MORE_OR_LESS)
    assert 0.8 * best < found.proved <= best
    moved = certain_total(known, asked, 1e-5, 0.8 * best, MOVED_VOTE)
    assert moved.proved > best


@pytest.mark.slow("over half a second")
def test_charges_of_a_log_are_held_to_the_claimed_neighbours() -> None:
    """What forty ties cost a teacher more or less falls short where a vote moves."""
    privacy = {"epsilon": 50.0, "delta": 1e-5, "queries": 1000}
    cost = 40 * query_cost(
        (30, 30, 0), NoisyArgmax(Gaussian(10.0)), GRID, "exact", neighbourhood=ONE_MORE_OR_LESS
    )
    spent = RunningCost(NoisyArgmax(Gaussian(10.0)), 3, ONE_MORE_OR_LESS)
    spent.add({(30, 30, 0): 40}, set())
    np.testing.assert_allclose(spent.totals["exact"], cost)
    charged = spent.epsilon("exact", 1e-5) / 40
    verdicts = []
    for near in (ADD_REMOVE, {}):
        costs = Costs(claimed(GNMAX, privacy, **near))
        rows = sum(1 for _ in costs.count([Row((30, 30, 0), 0, charged=charged)] * 40))
        found = {result.id: result for result in costs.results(rows)}
        verdicts.append(found["accountant-soundness"].verdict)
    assert verdicts == [Verdict.PASS, Verdict.FAIL]


def test_the_reference_served_charges_the_claimed_neighbours() -> None:
    made = partial(claimed, GNMAX, {"epsilon": 50.0, "delta": 1e-5, "queries": 1000})
    orders = np.array([2.0, 10.0])
    for near, share in (({}, 1.0), (ADD_REMOVE, 0.5), (OF_THREE, 9.0)):
        served = ServedLabels(made(**near))
        np.testing.assert_allclose(served.rdp(np.array([30, 30, 0]), orders), share * orders / 100)
        served.charge([0] * 10)
        cost = 10 * share * ORDERS / 100
        assert served.spent(1e-5) == pytest.approx(to_epsilon(ORDERS, cost, 1e-5).epsilon)
