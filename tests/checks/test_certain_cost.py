"""`budget-enforcement`: an account is held to what answers certainly cost."""

import numpy as np
import pytest

from dpassay.reference import BudgetExhausted, Gaussian, NoisyArgmax
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.gnmax import gnmax_data_dependent
from dpassay.reference.accounting.pairs import worst_neighbours
from dpassay.verifiers.checks.budget_histograms import telling
from dpassay.verifiers.checks.certain_cost import CertainCost
from dpassay.verifiers.claim import parse_claim
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.gate import verify
from dpassay.verifiers.targets import InProcessTarget
from zoo.accounting import shelf as broken_shelf
from zoo.claims import METERED
from zoo.deployments import Metered, metered
from zoo.relatives import shelf as correct_shelf

FULL = parse_claim(METERED)
WHAT_IS_FREE = {
    "meters-by-25": "answers to calls for one label are not charged",
    "clear-leads-free": "answers to histograms such as [230, 20, ",
    "ties-free": "answers to histograms such as [125, 125, ",
    "half-the-charge": "the account charges less than the answers certainly cost",
}

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
    assert check.finding().diagnosis.startswith(WHAT_IS_FREE[name])
    said, cost = (
        float(check.violation.split(word)[1].split()[0]) for word in ("epsilon ", "at least ")
    )
    assert said < cost


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
    assert (check.finding().warning is not None) is (name == "prepaid")


@pytest.mark.slow("asks budgets to their end; others are")
def test_an_account_that_stands_still_is_told_of() -> None:
    """In the report's warnings, once: some pay in advance, some keep no account."""
    table = METERED | {"gate": {"smallest_effect": 0.2, "tolerance": 0.4}}
    report = verify(InProcessTarget(of_zoo("prepaid")), parse_claim(table), seed=0)
    assert report.verdict is Verdict.PASS
    told = [line for line in report.warnings if "spent said epsilon 2.65 throughout 287" in line]
    assert len(told) == 1


def test_an_instance_that_is_used_up_is_no_pass(enforced) -> None:
    check = enforced(of_zoo("already-exhausted"), FULL)
    assert check.verdict is Verdict.INCONCLUSIVE
    assert "spent before it answered anything" in check.finding().message
    assert "give an instance that has its whole budget" in check.finding().message


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
        return self.share * self.most


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
    assert "it answered 530 queries of [129, 121," in check.violation


def test_the_message_says_how_far_it_went_beyond_what_is_sound(enforced) -> None:
    """Not a violation by itself: the costliest pair keeps within the claim to 529."""
    check = enforced(metered(0, charged=0.7), FULL)
    assert check.verdict is Verdict.PASS
    assert "it stopped after 410 answers" in check.finding().message
    assert "allows 287, so that it gave 1.43 times as many" in check.finding().message
    assert "exceeds the claim from 530 on" in check.finding().message


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
        return self.budget


@pytest.mark.slow("asks budgets to their end; others are")
def test_a_claim_about_a_file_is_asked_for_what_stands_there(enforced, scoped) -> None:
    """As often as it stands there: 281 near ties would cost far more, and nobody claimed them."""
    made = Counting(0, budget=scoped.privacy.epsilon, sigma=40.0)
    check = enforced(made, scoped)
    assert check.verdict is Verdict.PASS, check.violation
    assert check.answered == 281
    endless = metered(0, charged=0.0)
    assert enforced(endless, scoped).verdict is Verdict.FAIL
