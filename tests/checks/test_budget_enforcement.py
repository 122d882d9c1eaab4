"""`budget-enforcement`: deployments that go on, forget, or account downwards are found."""

import math

import numpy as np
import pytest
from runs import claimed, few_answers, number

from dpassay.reference import BudgetExhausted, Gaussian, Laplace, NoisyArgmax
from dpassay.reference.accounting.analyses import query_cost
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.ledger import Ledger
from dpassay.reference.numbers import families
from dpassay.reference.numbers.moves import move_epsilon
from dpassay.verifiers.claims.tables import PrivacyClaim
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.budget_allowed import BudgetAllowed
from dpassay.verifiers.kinds.labels.checks.budget_enforcement import LabelsBudgetEnforcement
from dpassay.verifiers.kinds.labels.checks.budget_histograms import costliest
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import InProcessTarget

GNMAX = NoisyArgmax(Gaussian(10.0))


class Deployment:
    """GNMax behind a ledger."""

    def __init__(self, path, budget=1.0, delta=1e-5):
        self.ledger = Ledger(path, GNMAX, delta=delta, budget=budget)
        self.rng = np.random.default_rng(0)

    def sample(self, histogram, size):
        self.ledger.charge(size)
        return GNMAX.sample(histogram, size, self.rng)

    def spent(self, delta):
        return self.ledger.spent_at(delta)


class Expected(Deployment):
    """Charges an eighth of a query: what a query costs 'on average'."""

    asked = 0

    def sample(self, histogram, size):
        self.asked += size
        while self.asked >= 8:
            self.ledger.charge()
            self.asked -= 8
        return GNMAX.sample(histogram, size, self.rng)


class Forgetful(Deployment):
    """Accounts for the last call alone."""

    def spent(self, delta):
        if delta != 1e-5:
            raise ValueError("expected delta = 1e-5")
        self.calls = getattr(self, "calls", 0) + 1
        return 0.5 if self.calls == 2 else 0.1


class Endless(Deployment):
    """Has an account, and does not look at it."""

    def __init__(self, path):
        super().__init__(path, budget=1e9)


class Silent(Deployment):
    """Never stops, and claims to have spent nothing."""

    def __init__(self, path):
        super().__init__(path, budget=1e9)

    def spent(self, delta):
        return 0.0


@pytest.mark.slow("over half a second")
def test_a_ledger_enforces_its_budget(enforced, tmp_path) -> None:
    check = enforced(Deployment(tmp_path / "ledger"), few_answers())
    assert check.verdict is Verdict.PASS
    assert check.asking.answered == 3
    assert check.finding().code is None
    assert check.finding().warnings == ()


@pytest.mark.parametrize(
    ("broken", "code", "fields"),
    [
        (Expected, "account-too-low", {"spent": 0.0, "answers": 1}),
        (Forgetful, "account-falls", {"before": 0.5, "after": 0.1}),
        (Endless, "budget-not-enforced", {}),
        (Silent, "answers-not-charged", {"spent": 0.0}),
    ],
)
def test_budgets_that_are_not_enforced_are_found(enforced, tmp_path, broken, code, fields) -> None:
    check = enforced(broken(tmp_path / "ledger"), few_answers())
    assert check.verdict is Verdict.FAIL
    found = check.finding()
    assert found.code == code
    assert fields.items() <= found.fields.items()


def test_where_too_far_is_depends_on_the_claim_alone() -> None:
    """Near the exact cost of the worst pair: beyond the data-independent count, within twice it."""
    times = costliest(few_answers())[1]
    alone = 0
    while to_epsilon(ORDERS, (alone + 1) * ORDERS / 100, 1e-5).epsilon <= 1.0:
        alone += 1
    assert alone < times < 4 * alone


@pytest.mark.slow("asks budgets to their end; others are")
def test_where_too_far_is_has_an_end() -> None:
    """Epsilon 1e9 cannot be exceeded by any answers that a run could ask for."""
    privacy = {"epsilon": 1e9, "delta": 1e-5, "queries": 5, "scope": "any-queries"}
    unchecked = PrivacyClaim.model_construct(**privacy)  # a claim read from a file has less
    check = LabelsBudgetEnforcement(few_answers().model_copy(update={"privacy": unchecked}))
    assert check.run(InProcessTarget(Spending([0, 1, 2]))).code == "cannot-be-seen-here"


@pytest.mark.parametrize("delta", [1e-16, 1e-20])
def test_an_account_of_a_tiny_delta_does_not_rise(enforced, tmp_path, delta) -> None:
    """Below 1e-14 a floor above the claimed delta would make every correct account rise."""
    deployment = Deployment(tmp_path / "ledger", budget=4.0, delta=delta)
    check = enforced(
        deployment, few_answers(privacy={"epsilon": 4.0, "delta": delta, "queries": 5})
    )
    assert check.verdict is Verdict.PASS, check.violation
    assert check.asking.answered > 0


class ByNumber:
    """Answers so many queries; `cost(k)` is what it says that k answers cost at the claimed delta.

    Of other deltas its account says nothing.
    """

    def __init__(self, mechanism, most, cost, delta=1e-5):
        self.mechanism, self.most, self.cost, self.delta = mechanism, most, cost, delta
        self.given = 0
        self.rng = np.random.default_rng(0)

    def sample(self, histogram, size):
        if self.given + size > self.most:
            raise BudgetExhausted("spent")
        self.given += size
        return self.mechanism.sample(histogram, size, self.rng)

    def spent(self, delta):
        if delta != self.delta:
            raise ValueError(f"expected delta = {self.delta}")
        return self.cost(self.given)


def exactly_gaussian(answers):
    """Epsilon of k answers of `gaussian:40`: one Gaussian mechanism that moves by sqrt(2 k)."""
    return move_epsilon(families.Gaussian(40.0), math.sqrt(2 * answers), 1e-5) if answers else 0.0


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(("most", "verdict"), [(195, Verdict.PASS), (275, Verdict.FAIL)])
def test_exact_gaussian_accounts_answer_more(enforced, most, verdict) -> None:
    """A limit by Rényi costs alone, 168, fails a correct account of 195 answers; exact costs of the
    votes asked allow 264 of them."""
    privacy = {"epsilon": 1.97, "delta": 1e-5, "queries": 168}
    assert exactly_gaussian(195) <= 1.97 < exactly_gaussian(196)

    def cost(answers):
        return min(exactly_gaussian(answers), 1.97)

    deployment = ByNumber(NoisyArgmax(Gaussian(40.0)), most, cost)
    check = enforced(deployment, claimed("gaussian:40", privacy=privacy))
    assert check.verdict is verdict, check.violation
    if verdict is Verdict.PASS:
        assert check.allowed.sound == 168
        assert check.allowed.exactly_gaussian == 195
        (told,) = check.finding().warnings
        assert told.code == "many-answers"
        assert dict(told.fields) == {"answers": 187, "allowed": 168}
    else:
        found = check.finding()
        assert found.code == "too-many-answers"
        assert dict(found.fields) == {"answers": 267, "queries": 168, "allowed": 264}


@pytest.mark.slow("over half a second")
def test_answers_that_fit_by_pure_composition_are_allowed(enforced) -> None:
    """Two answers at 4 each are within 8; no order gives Rényi costs that say so."""
    privacy = {"epsilon": 8.0, "delta": 1e-9, "queries": 1}
    lnmax = claimed("laplace:0.5", "lnmax", classes=3, teachers=50, privacy=privacy)
    alone = query_cost([26, 24, 0], lnmax.mechanism.mechanism(), ORDERS, "data-independent")
    assert to_epsilon(ORDERS, 2 * alone, 1e-9).epsilon > 8.0
    deployment = ByNumber(NoisyArgmax(Laplace(0.5)), 2, lambda answers: 4.0 * answers, 1e-9)
    assert BudgetAllowed(lnmax).sound == 2
    run = enforced(deployment, lnmax)
    assert run.verdict is Verdict.PASS, run.violation


def by_queries(answers):
    """Epsilon of k answers of `gaussian:40` by Rényi costs."""
    costs = answers * ORDERS / 1600
    return to_epsilon(ORDERS, costs, 1e-5).epsilon if answers else 0.0


class SecretlyRenewing(ByNumber):
    """After 100 refused calls, as many answers again, which it does not charge."""

    refused, extra = 0, 0

    def sample(self, histogram, size):
        if self.extra >= size:
            self.extra -= size
            return self.mechanism.sample(histogram, size, self.rng)
        try:
            return super().sample(histogram, size)
        except BudgetExhausted:
            self.refused += 1
            self.extra = self.most if self.refused == 100 else 0
            raise


class FewAsOne(ByNumber):
    """Calls for 2 to 6 labels are charged as calls for one."""

    def sample(self, histogram, size):
        super().sample(histogram, 1 if 2 <= size <= 6 else size)
        return self.mechanism.sample(histogram, size, self.rng)


class BatchesAsOne(ByNumber):
    """A call for many labels is charged as one answer."""

    def sample(self, histogram, size):
        super().sample(histogram, 1 if size > 100 else size)
        return self.mechanism.sample(histogram, size, self.rng)


class BatchesUnlimited(ByNumber):
    """A call for many labels is charged in full, and answered beyond the budget."""

    def sample(self, histogram, size):
        if size > 100:
            self.given = self.most
            return self.mechanism.sample(histogram, size, self.rng)
        return super().sample(histogram, size)


@pytest.mark.parametrize(
    ("broken", "code"),
    [(BatchesAsOne, "calls-undercharged"), (BatchesUnlimited, "budget-not-enforced")],
)
@pytest.mark.slow("over half a second")
def test_a_call_for_many_that_is_charged_as_one(enforced, broken, code) -> None:
    """It was told as a budget that is not enforced, which stays where the charge is in full."""
    privacy = {"epsilon": 1.97, "delta": 1e-5, "queries": 168}
    deployment = broken(NoisyArgmax(Gaussian(40.0)), 168, by_queries)
    assert enforced(deployment, claimed("gaussian:40", privacy=privacy)).finding().code == code


@pytest.mark.parametrize(
    ("broken", "code", "answers"),
    [(SecretlyRenewing, "budget-not-enforced", 312), (FewAsOne, "calls-undercharged", None)],
)
@pytest.mark.slow("over half a second")
def test_faults_of_other_calls_than_single_and_large_ones(enforced, broken, code, answers) -> None:
    """Who stops at the third refusal, or asks single labels and large calls alone, sees neither."""
    privacy = {"epsilon": 1.97, "delta": 1e-5, "queries": 168}
    deployment = broken(NoisyArgmax(Gaussian(40.0)), 168, by_queries)
    check = enforced(deployment, claimed("gaussian:40", privacy=privacy))
    found = check.finding()
    assert found.code == code
    assert answers is None or found.fields["answers"] == answers


class Renewing(Deployment):
    """Says once that the budget is spent, and has it anew; never admits to more than all of it."""

    def __init__(self, path):
        super().__init__(path)
        self.path = path

    def sample(self, histogram, size):
        try:
            return super().sample(histogram, size)
        except BudgetExhausted:
            self.path.unlink()
            self.ledger = Ledger(self.path, GNMAX, delta=1e-5, budget=1.0)
            raise

    def spent(self, delta):
        return 0.9 if delta >= 1e-5 else math.inf


def test_a_budget_that_renews_is_found(enforced, tmp_path) -> None:
    """Every answer counts, also those after it said that it has stopped."""
    # its account says enough for the first few
    check = enforced(Renewing(tmp_path / "ledger"), few_answers())
    found = check.finding()
    assert found.code == "budget-not-enforced"
    assert found.fields["cost"] > found.fields["epsilon"]


def screened(epsilon=0.171):
    """A screen that refuses 19 of 20, and costs next to nothing: realised charging."""
    mechanism = {"name": "confident-gnmax", "noise": "gaussian:30", "classes": 2, "teachers": 11}
    mechanism |= {"threshold": 3066.6, "threshold_noise": "gaussian:1800"}
    privacy = {"epsilon": epsilon, "delta": 1e-5, "queries": 5}
    return parse_claim({"mechanism": mechanism, "privacy": privacy})


class Spending:
    """Answers in turn from a list, and says that it has spent nearly all that is claimed."""

    def __init__(self, labels, stop=None):
        self.labels, self.stop, self.asked = labels, stop, 0

    def sample(self, histogram, size):
        if self.stop is not None and self.asked + size > self.stop:
            raise BudgetExhausted("spent")
        first, self.asked = self.asked, self.asked + size
        return np.take(self.labels, np.arange(first, self.asked), mode="wrap")

    def spent(self, delta):
        return 0.165 if delta >= 1e-5 else math.inf


def test_refused_queries_are_not_counted_as_answers() -> None:
    """Realised charging: a run of refusals is chance, and paid for; it must not look like 20
    times as many answers."""
    check = LabelsBudgetEnforcement(screened())
    lacking = check.run(InProcessTarget(Spending([-1])))
    assert (lacking.code, lacking.fields["answers"]) == ("hardly-answered", 0)
    assert check.violation is None
    check = LabelsBudgetEnforcement(screened())
    most = 20 * costliest(screened())[1]
    assert check.run(InProcessTarget(Spending([0, *[-1] * 39], stop=most))) is None
    assert check.violation is None
    assert 0 < check.asking.answered < check.asking.asked


def test_answers_behind_a_screen_are_counted() -> None:
    check = LabelsBudgetEnforcement(screened())
    times = costliest(screened())[1]
    assert check.run(InProcessTarget(Spending([0, *[-1] * 19]))) is None
    assert check.finding().code == "budget-not-enforced"
    assert 0 < number(check.finding(), "answers") <= check.asking.answered
    assert times <= check.asking.answered < 1.2 * times + 20
