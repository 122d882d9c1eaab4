"""`budget-enforcement`: an account is held to what answers certainly cost."""

import math

import numpy as np
import pytest

from dpassay.reference import BudgetExhausted, Gaussian, Laplace, NoisyArgmax
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.gnmax import gnmax_data_dependent
from dpassay.reference.accounting.pairs import worst_neighbours
from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.budget_histograms import telling
from dpassay.verifiers.kinds.labels.checks.certain_cost import CertainCost
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget
from zoo.accounting import shelf as broken_shelf
from zoo.claims import LNMAX, METERED
from zoo.deployments import Metered, metered
from zoo.relatives import shelf as correct_shelf

FULL = parse_claim(METERED)
WHAT_IS_FREE = {
    "meters-by-25": ("answers-not-charged", "calls for one label"),
    "clear-leads-free": ("answers-not-charged", "[230, 20, "),
    "ties-free": ("answers-not-charged", "[125, 125, "),
    "half-the-charge": ("account-too-low", ""),
}
"""The code, and what the diagnosis names."""

OTHERS = pytest.mark.slow("other ways to meter too little")


def of_zoo(name):
    entries = {entry.id: entry for entry in (*broken_shelf.entries, *correct_shelf.entries)}
    return entries[name].make(0)


@pytest.mark.slow("asks budgets to their end; others are")
@pytest.mark.parametrize(
    "name",
    [name if name == "meters-by-25" else pytest.param(name, marks=OTHERS) for name in WHAT_IS_FREE],
)
def test_answers_that_are_not_charged_are_named(enforced, name) -> None:
    """Each passes where only the costliest histogram is asked, by larger calls, until it stops."""
    check = enforced(of_zoo(name), FULL)
    assert check.verdict is Verdict.FAIL
    code, named = WHAT_IS_FREE[name]
    found = check.finding()
    assert found.code == code
    assert named in found.diagnosis
    assert found.fields["spent"] < found.fields["cost"]


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "name",
    [
        *("prepaid", "data-dependent-budget"),
        pytest.param("charges-twice", marks=pytest.mark.slow("others are dearer too")),
        pytest.param("blocks-in-advance", marks=pytest.mark.slow("others are dearer too")),
    ],
)
def test_sound_accounts_are_not_accused(enforced, name) -> None:
    """Nor is a data-dependent one at the side of a pair that its bound does not cover."""
    check = enforced(of_zoo(name), FULL)
    assert check.verdict is Verdict.PASS
    told = {"prepaid": "account-stands-still", "data-dependent-budget": "budget-depends-on-votes"}
    expected = [told[name]] if name in told else []
    assert [warning.code for warning in check.finding().warnings] == expected


@pytest.mark.slow("asks budgets to their end; others are")
def test_an_account_that_stands_still_is_told_of() -> None:
    """In the report's warnings, once: some pay in advance, some keep no account."""
    table = METERED | {"gate": {"smallest_effect": 0.2, "tolerance": 0.4}}
    report = verify(InProcessTarget(of_zoo("prepaid")), parse_claim(table), seed=0)
    assert report.verdict is Verdict.PASS
    (told,) = (warning for warning in report.notes if warning.code == "account-stands-still")
    assert told.fields["still"] == told.fields["answers"] == 287


@pytest.mark.slow("over half a second")
def test_an_instance_that_is_used_up_is_no_pass(enforced) -> None:
    check = enforced(of_zoo("already-exhausted"), FULL)
    assert check.verdict is Verdict.INCONCLUSIVE
    assert check.finding().code == "budget-exhausted"
    assert check.finding().fields["spent"] > 2.0


class Closely(Metered):
    """Says a share of what the answers to the histogram that costs most certainly cost."""

    share, most = 1.0, 0.0

    def sample(self, histogram, size):
        labels = super().sample(histogram, size)
        if self.metered:
            key = tuple(histogram)
            cost, times = self.costs.get(key, (CertainCost(GNMAX40, histogram, 1e-5), 0))
            self.costs[key] = cost, times + size
            self.most = max(self.most, cost.estimate(times + size))
        return labels

    def spent(self, delta):
        if not self.metered:
            self.metered, self.costs = True, {}
        return self.share * self.most if delta >= 1e-5 else math.inf


GNMAX40 = NoisyArgmax(Gaussian(40.0))


@pytest.mark.slow("asks budgets to their end; others are")
@pytest.mark.parametrize("share", [1.0, 1.0 - 1e-6])
def test_the_bound_is_held_to_its_digits(enforced, share) -> None:
    """At the bound is no violation; a millionth below it is one, at the first answer."""
    deployment = metered(0, Closely)
    deployment.share = share
    check = enforced(deployment, FULL)
    assert (check.violation is None) is (share == 1.0)


def test_no_sound_account_lies_below_the_bound() -> None:
    """Renyi costs of the side asked, Theorem 6 and exact, converted: never below, where asked."""
    for cost in telling(FULL):
        exact = worst_neighbours(cost.here, GNMAX40, ORDERS).from_here
        published = gnmax_data_dependent(cost.here, 40.0, ORDERS)
        for times in (1, 2, 10, 100, 1_000):
            sound = min(to_epsilon(ORDERS, times * c, 1e-5).epsilon for c in (exact, published))
            assert 0 < cost.estimate(times) <= sound


def test_the_other_side_of_a_pair_is_not_asked_of_an_account() -> None:
    """Its neighbour costs more than a sound account of the histogram asked must say."""
    mechanism, votes = NoisyArgmax(Gaussian(2.0)), np.array([14, 6])
    here = CertainCost(mechanism, votes, 1e-5)
    there = worst_neighbours(votes, mechanism, ORDERS)
    sound = to_epsilon(ORDERS, 20 * there.from_here, 1e-5).epsilon
    back = CertainCost(mechanism, np.array([13, 7]), 1e-5)
    assert here.estimate(20) <= sound < back.estimate(20)


@pytest.mark.slow("asks budgets to their end; others are")
def test_free_single_queries_are_found_without_an_account(enforced) -> None:
    """Once blocks are refused, single queries must be too: 530 answers cost more than claimed."""

    class Unaccounted(Metered):
        def cost(self, histogram, size):
            return size // 25 * 25

        spent = None

    made = Unaccounted(0, budget=2.65, sigma=40.0)
    made.metered = True
    check = enforced(made, FULL, lambda: InProcessTarget(made))
    found = check.finding()
    assert found.code == "budget-not-enforced"
    assert found.fields["answers"] == 530
    assert found.fields["cost"] > found.fields["epsilon"] == 2.65


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("queries", "charged", "verdict", "code"),
    [
        (287, 1.0, Verdict.PASS, None),
        (200, 1.0, Verdict.PASS, "many-answers"),
        (287, 0.6, Verdict.FAIL, "too-many-answers"),
        (287, 0.7, Verdict.PASS, "above-one-reading"),
    ],
    ids=["as claimed", "more than claimed", "too many", "as many as the exact cost allows"],
)
def test_the_number_of_answers_is_held_to_the_claim(
    enforced, queries, charged, verdict, code
) -> None:
    """A proof begins at 530 answers: what charges 0.6 of an answer stopped before, unaccused.

    More answers than claimed are none of the account's faults where an analysis covers them: they
    are a warning, of a defect where only the exact cost of these votes does.
    """
    privacy = METERED["privacy"] | {"queries": queries}
    check = enforced(metered(0, charged=charged), parse_claim(METERED | {"privacy": privacy}))
    found = check.finding()
    assert check.verdict is verdict
    if verdict is Verdict.FAIL:
        assert (found.code, found.fields["queries"]) == (code, queries)
        assert found.fields["answers"] > found.fields["allowed"] > queries
    else:
        told = {warning.code: warning.fields for warning in found.warnings}
        assert list(told) == ([code] if code else [])
        assert code != "many-answers" or told[code]["allowed"] == queries
    if verdict is Verdict.PASS and charged < 1.0:
        # some are of other histograms
        assert (told[code]["answers"], check.asking.answered) == (
            402,
            410,
        )  # some of other histograms
        assert check.asking.limit == 530


class Answering(Metered):
    """Says what it has spent at a delta of its own choice."""

    def __init__(self, seed, at, **more):
        super().__init__(seed, **more)
        self.at = at

    def spent(self, delta):
        self.metered = True
        return self.epsilon(self.asked, self.at(delta))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("at", "code"),
    [
        (lambda delta: delta, None),
        (lambda _: 1e-5, "account-ignores-delta"),
        (lambda delta: 1e-10 / delta, "account-rises-with-delta"),
    ],
    ids=["as asked", "one for all", "rising"],
)
def test_the_account_is_asked_for_other_deltas(enforced, at, code) -> None:
    """All three are right at the claimed delta, of which alone they were asked before."""
    check = enforced(metered(0, Answering, at=at), FULL)
    assert (check.violation is None) is (code is None)
    assert check.finding().code == code
    if code == "account-ignores-delta":
        assert check.finding().fields["delta"] == pytest.approx(1e-10)


def test_an_account_that_is_safe_at_every_delta_is_remarked_and_no_defect(enforced) -> None:
    """It says its epsilon at 1e-12 whatever it is asked: catches a warning that strict fails."""

    class Safe(Metered):
        def epsilon(self, queries, delta=1e-12):
            return super().epsilon(queries, min(delta, 1e-12))

    check = enforced(metered(0, Safe), FULL)
    assert check.violation is None, check.violation
    (warning,) = check.finding().warnings
    assert warning.code == "account-constant-in-delta"
    assert codes()[warning.code].what == "coverage"


def test_an_account_of_pure_privacy_says_the_same_at_every_delta(enforced) -> None:
    """Laplace noise of scale 20 costs 0.1 an answer at any delta; nothing is remarked."""
    few = LNMAX["mechanism"] | {"classes": 2, "teachers": 60}
    table = LNMAX | {"mechanism": few, "privacy": {"epsilon": 2.0, "delta": 1e-5, "queries": 20}}

    class Pure(Metered):
        def epsilon(self, queries, delta=1e-5):
            return 0.1 * queries

    made = Pure(0, budget=2.0)
    made.mechanism = NoisyArgmax(Laplace(20.0))
    check = enforced(made, parse_claim(table))
    assert check.verdict is Verdict.PASS, check.violation
    assert check.finding().warnings == ()


def test_an_account_that_answers_for_one_delta_alone_is_not_accused(enforced) -> None:
    class Strict(Metered):
        def spent(self, delta):
            if delta != 1e-5:
                raise ValueError("expected delta = 1e-5")
            return super().spent(delta)

    assert enforced(metered(0, Strict), FULL).verdict is Verdict.PASS


@pytest.fixture
def scoped(tmp_path):
    """A claim about 280 clear answers and one near tie; what they cost; nothing else is asked."""
    clear, near = [240, 10, *[0] * 8], [126, 124, *[0] * 8]
    rows = [clear] * 280 + [near]
    path = tmp_path / "answered.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    costs = sum(gnmax_data_dependent(np.array(row), 40.0, ORDERS) for row in rows)
    epsilon = to_epsilon(ORDERS, costs, 1e-5).epsilon
    privacy = {"epsilon": epsilon, "delta": 1e-5, "queries": 281, "scope": str(path)}
    return parse_claim(METERED | {"privacy": privacy})


class Counting(Metered):
    """Stops at 281 queries, whatever they are of, and says all the while that it is all spent."""

    given = 0

    def sample(self, histogram, size):
        if self.metered and self.given + size > 281:
            raise BudgetExhausted("spent")
        self.given += size * self.metered
        return self.mechanism.sample(histogram, size, self.rng)

    def spent(self, delta):
        self.metered = True
        return self.budget if delta >= 1e-5 else math.inf


@pytest.mark.slow("asks budgets to their end; others are")
def test_a_claim_about_a_file_is_asked_for_what_stands_there(enforced, scoped) -> None:
    """As often as it stands there: 281 near ties would cost far more, and nobody claimed them."""
    made = Counting(0, budget=scoped.privacy.epsilon, sigma=40.0)
    check = enforced(made, scoped)
    assert check.verdict is Verdict.PASS, check.violation
    assert check.asking.answered == 281
    endless = metered(0, charged=0.0)
    assert enforced(endless, scoped).verdict is Verdict.FAIL
