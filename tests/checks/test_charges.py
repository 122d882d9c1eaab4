"""`[accountant] charges`: what `rdp` and `spent` are held to under each value."""

from itertools import pairwise

import numpy as np
import pytest
from runs import result
from small import small_claim

from dpassay.reference import BudgetExhausted, ConfidentGNMax, Gaussian
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.gnmax import gnmax_data_dependent, threshold_data_dependent
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks import privacy_audit, privacy_claim
from dpassay.verifiers.kinds.labels.checks.accountant_soundness import LabelsAccountantSoundness
from dpassay.verifiers.kinds.labels.checks.budget_asking import Rises
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

SHARP = ConfidentGNMax(Gaussian(100.0), 150.0, Gaussian(20.0))
LARGE = ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(150.0))


def claim(mechanism, charges, classes=4, **tables):
    table = {
        "name": "confident-gnmax",
        "noise": str(mechanism.noise),
        "threshold": mechanism.threshold,
        "threshold_noise": str(mechanism.threshold_noise),
    }
    table |= {"classes": classes, "teachers": 250}
    return parse_claim({"mechanism": table, "accountant": {"charges": charges}, **tables})


class Charging:
    """Labels as claimed, and `charge(histogram, orders, answered)` as the accountant."""

    def __init__(self, mechanism, charge):
        self.mechanism, self.charge = mechanism, charge

    def sample(self, histogram, size):
        return self.mechanism.sample(histogram, size)

    def rdp(self, histogram, orders, **outcome):
        return self.charge(np.asarray(histogram), np.asarray(orders), **outcome)


def soundness(mechanism, charge, charges="realised", classes=4):
    check = LabelsAccountantSoundness(make_plan(claim(mechanism, charges, classes), 0))
    assert check.run(InProcessTarget(Charging(mechanism, charge))) is None
    return check


def screen(mechanism, orders):
    return orders / (2 * mechanism.threshold_noise.scale**2)


def answer(mechanism, orders):
    return orders / mechanism.noise.scale**2


def paying(mechanism, of_screen, of_answer):
    """Shares of the two bounds that hold for any votes."""
    return lambda h, a, answered: (
        of_screen * screen(mechanism, a) + of_answer * answered * answer(mechanism, a)
    )


def at_these_votes(mechanism):
    """Theorem 6 of each part by itself."""
    return lambda h, a, answered: (
        threshold_data_dependent(h, mechanism, a)
        + answered * gnmax_data_dependent(h, mechanism.noise.scale, a)
    )


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("mechanism", "classes"),
    [(SHARP, 4), pytest.param(LARGE, 10, marks=pytest.mark.slow("another mechanism"))],
)
def test_realised_charges_that_pay_for_each_part_are_not_accused(mechanism, classes) -> None:
    """Catches a refusal held to the whole query, of which it is charged the screening alone."""
    for charge in (paying(mechanism, 1, 1), at_these_votes(mechanism)):
        check = soundness(mechanism, charge, classes=classes)
        assert check.proved is None, check.finding().message
        assert len(check.charged) > 10
        assert check.finding().code is None


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("of_screen", "of_answer", "part", "code"),
    [
        (0.0, 1.0, "screening", "screening-not-charged"),
        (0.5, 1.0, "screening", "charge-too-low"),
        (1.0, 0.5, "answer", "charge-too-low"),
        (1.0, 0.0, "answer", "answer-not-charged"),
    ],
)
def test_a_part_that_is_not_paid_for_is_named(of_screen, of_answer, part, code) -> None:
    """A charge of the whole query would hide half of one part behind the slack of the other."""
    check = soundness(SHARP, paying(SHARP, of_screen, of_answer))
    assert check.proved is not None
    found = check.finding()
    assert (found.code, found.fields["part"]) == (code, part)
    if code == "charge-too-low":
        assert found.fields["fraction"] == 0.5
        assert found.fields["charge"] < found.fields["cost"]
    else:
        assert found.fields["share"] == 0.0


@pytest.mark.slow("over half a second")
def test_a_refusal_for_free_is_found_though_answers_pay_for_the_screening() -> None:
    for mechanism, classes in ((SHARP, 4), (LARGE, 10)):

        def charge(h, a, answered, mechanism=mechanism):
            return answered * (screen(mechanism, a) + answer(mechanism, a))

        check = soundness(mechanism, charge, classes=classes)
        assert check.finding().code == "screening-not-charged"


@pytest.mark.slow("over half a second")
def test_an_expected_charge_is_no_realised_one() -> None:
    """Whatever the outcome, times the chance of an answer: what an answer adds is nothing."""

    def charge(h, a, answered):
        return screen(SHARP, a) + np.exp(SHARP.log_screening(h)[..., 0]) * answer(SHARP, a)

    assert soundness(SHARP, charge).proved is not None


@pytest.mark.slow("over half a second")
def test_an_accountant_that_knows_no_outcomes_is_an_error_of_its_call() -> None:
    made = claim(SHARP, "realised", gate={"max_queries": 400})
    target = InProcessTarget(Charging(SHARP, lambda h, a: a))
    alone = select(["accountant-soundness"], of=SHARES)
    report = verify(target, made, seed=0, selection=alone)
    assert report.verdict is Verdict.ERROR
    found = report.checks[0]
    assert found.code == "target-failed"
    assert "answered=False) raised TypeError" in found.message


@pytest.mark.slow("over half a second")
def test_charges_that_are_data_independent_do_not_differ() -> None:
    """One that is sound at these votes is no violation but for the claim."""

    def at_votes(h, a):
        return at_these_votes(SHARP)(h, a, True)

    assert soundness(SHARP, at_votes, "all").dependence.violation is None
    found = soundness(SHARP, at_votes, "data-independent").dependence.violation
    assert found is not None
    assert found.code == "charges-depend-on-votes"
    assert found.fields["charge"] != pytest.approx(found.fields["other_charge"], rel=1e-3)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("share", [1.0, 0.97])
def test_data_independent_charges_below_the_published_bound_are_a_warning(share) -> None:
    """Which only a proof can mend: the costliest pair known costs less than the bound."""

    def charge(h, a):
        return share * (screen(SHARP, a) + answer(SHARP, a))

    check = soundness(SHARP, charge, "data-independent")
    assert check.proved is None
    assert check.dependence.violation is None
    warning = check.dependence.warning
    if share == 1.0:
        assert warning is None
    else:
        assert warning.code == "charge-below-published"
        assert warning.fields["share"] == pytest.approx(share)


@pytest.mark.parametrize("charges", ["expected", "", 1])
def test_charges_of_a_claim_are_one_of_three(charges) -> None:
    with pytest.raises(ClaimError, match=r"accountant\.charges = "):
        small_claim(accountant={"charges": charges})


def test_realised_charges_need_refusals() -> None:
    with pytest.raises(ClaimError, match="gnmax refuses no"):
        small_claim(accountant={"charges": "realised"})


# -- budgets ---------------------------------------------------------------------------------------


class Metered:
    """Confident-GNMax within epsilon 1; `cost(answered, refused)` is what both have cost (n,)."""

    def __init__(self, cost, mechanism=SHARP):
        self.cost, self.mechanism = cost, mechanism
        self.rng = np.random.default_rng(0)
        self.answered = self.refused = 0

    def sample(self, histogram, size):
        labels = self.mechanism.sample(histogram, size, self.rng)
        refused = int((labels < 0).sum())
        if self.epsilon(self.answered + size, self.refused, 1e-5) > 1.0:
            raise BudgetExhausted("spent")
        self.answered, self.refused = self.answered + size - refused, self.refused + refused
        return labels

    def epsilon(self, answered, refused, delta):
        cost = self.cost(answered, refused)
        return to_epsilon(ORDERS, cost, delta).epsilon if cost.any() else 0.0

    def spent(self, delta):
        return self.epsilon(self.answered, self.refused, delta)


def budgeted(charges):
    return claim(SHARP, charges, privacy={"epsilon": 1.0, "delta": 1e-5, "queries": 200})


def both(of_refused, of_answered):
    """Costs by the two bounds, of which each outcome pays these shares: (screening, answer)."""
    test, given = screen(SHARP, ORDERS), answer(SHARP, ORDERS)

    def cost(answered, refused):
        found = refused * (of_refused[0] * test + of_refused[1] * given)
        return found + answered * (of_answered[0] * test + of_answered[1] * given)

    return cost


REALISED, IN_FULL = both((1, 0), (1, 1)), both((1, 1), (1, 1))
FREE_REFUSALS = both((0, 0), (1, 1))


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("charges", "cost", "verdict"),
    [
        ("all", IN_FULL, Verdict.PASS),
        ("realised", REALISED, Verdict.PASS),
        ("realised", FREE_REFUSALS, Verdict.FAIL),
        ("all", FREE_REFUSALS, Verdict.FAIL),
    ],
)
def test_an_account_is_held_to_what_it_says_it_charges(enforced, charges, cost, verdict) -> None:
    check = enforced(Metered(cost), budgeted(charges))
    assert check.verdict is verdict, check.violation
    if verdict is Verdict.FAIL:
        found = check.finding()
        of = {"realised": "screenings", "all": "queries"}[charges]
        assert found.fields[of] > 0
        expected = {"realised": "screening-not-charged", "all": "account-too-low"}
        assert found.code == expected[charges]


class ByVotes:
    """GNMax within epsilon 1; a query is charged the cost at its votes, or at the claimed noise."""

    def __init__(self, dependent):
        self.dependent, self.costs, self.rng = dependent, 0.0 * ORDERS, np.random.default_rng(0)

    def sample(self, histogram, size):
        cost = gnmax_data_dependent(histogram, 40.0, ORDERS) if self.dependent else ORDERS / 1600
        if to_epsilon(ORDERS, self.costs + size * cost, 1e-5).epsilon > 1.0:
            raise BudgetExhausted("spent")
        self.costs = self.costs + size * cost
        noisy = histogram + self.rng.normal(0, 40.0, (size, len(histogram)))
        return noisy.argmax(1)

    def spent(self, delta):
        return to_epsilon(ORDERS, self.costs, delta).epsilon if self.costs.any() else 0.0


def of_gnmax(charges):
    """A claim of 47 answers, with `charges` where they are said."""
    mechanism = {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}
    tables = {"privacy": {"epsilon": 1.0, "delta": 1e-5, "queries": 47}, "mechanism": mechanism}
    return parse_claim(tables | ({"accountant": {"charges": charges}} if charges else {}))


@pytest.mark.parametrize("charges", [None, "all", "data-independent"])
@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.quick_cases(2)
def test_a_budget_that_ends_by_the_votes_is_a_warning(enforced, dependent, charges) -> None:
    """Whatever is claimed of its charges, but that they are realised."""
    check = enforced(ByVotes(dependent), of_gnmax(charges))
    assert check.verdict is Verdict.PASS, check.violation
    told = [warning.code for warning in check.finding().warnings]
    assert ("budget-depends-on-votes" in told) is dependent


class PerHistogram(ByVotes):
    """A budget for each histogram by itself; the account is that of the largest."""

    def __init__(self):
        super().__init__(dependent=False)
        self.kept = {}

    def sample(self, histogram, size):
        self.costs = self.kept.get(histogram.tobytes(), 0.0 * ORDERS)
        try:
            return super().sample(histogram, size)
        finally:
            self.kept[histogram.tobytes()] = self.costs
            self.costs = np.max(list(self.kept.values()), axis=0)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("charges", [None, "data-independent"])
def test_charges_alike_for_any_votes_are_added_up(enforced, charges) -> None:
    """Answers to several histograms cost as many to the costliest, where the claim says so."""
    check = enforced(PerHistogram(), of_gnmax(charges))
    if charges is None:
        assert check.violation is None
    else:
        found = check.finding()
        assert found.code == "answers-not-added-up"
        assert found.fields["spent"] < found.fields["cost"]
        assert found.fields["others"] == 0  # all are counted as of the costliest


@pytest.mark.parametrize(
    ("account", "warned"),
    [
        ([0.0, 1.0, 1.3, 1.5, 1.6], False),  # concave, as of counted queries
        ([0.0, 1.0, 1.01, 1.02, 1.3], True),
        ([0.0, 1.0, 1.0, 1.0, 1.3], False),  # several answers are charged at once
        ([0.0, 0.2, 0.9], False),  # the first answer is not compared
        ([None, None, None], False),
    ],
)
def test_a_rise_beyond_an_earlier_one_depends_on_the_votes(account, warned) -> None:
    rises = Rises()
    for before, after in pairwise(account):
        rises.note(before, after)
    assert (rises.warning is not None) is warned
    if rises.warning is not None:
        assert rises.warning.code == "budget-depends-on-votes"
        assert rises.warning.fields["later_rise"] == pytest.approx(0.28)
        assert rises.warning.fields["rise"] == pytest.approx(0.01)


@pytest.mark.slow("over half a second")
def test_the_served_reference_passes_under_realised_charges() -> None:
    """It charges by outcome, and answers for each."""
    from dpassay.verifiers.kinds.labels.served import ServedLabels

    made = small_claim("confident-gnmax", accountant={"charges": "realised"})
    served = ServedLabels(made)

    class Served:
        def sample(self, histogram, size):
            return served.drawn(histogram, size)

        def rdp(self, histogram, orders, answered=None):
            return served.rdp(histogram, orders, answered)

    alone = select(["accountant-soundness"], of=SHARES)
    report = verify(InProcessTarget(Served()), made, seed=0, selection=alone)
    assert result(report, "accountant-soundness").verdict is Verdict.PASS


@pytest.mark.parametrize("charges", ["all", "realised"])
def test_queries_are_not_counted_where_outcomes_end_the_budget(charges) -> None:
    """A sound account of 60 answers may be asked 400 times: catches the cost of 400 answers."""
    privacy = {"epsilon": 1.0, "delta": 1e-5, "queries": 400}
    made = small_claim("confident-gnmax", accountant={"charges": charges}, privacy=privacy)
    for check in (privacy_claim.PrivacyClaimCheck, privacy_audit.LabelsPrivacyAudit):
        reason = check.not_applicable_to(made)
        assert reason == made.uncounted
        assert (reason is None) == (charges == "all")
