"""Deployments whose workers each keep an account of their own, and those that keep one."""

import math

import numpy as np
import pytest
from runs import claimed

from dpassay.reference import BudgetExhausted
from dpassay.reference.accounting.conversions import ORDERS, best_epsilon, to_epsilon
from dpassay.reference.accounting.gnmax import gnmax_data_dependent
from dpassay.reference.numbers import families
from dpassay.reference.numbers.moves import move_epsilon
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.budget_allowed import BudgetAllowed
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.budget_check import several_accounts
from dpassay.verifiers.targets import InProcessTarget


class Workers:
    """Workers that answer so many queries each, in turn or at random, and say nothing of it."""

    def __init__(self, mechanism, each, workers, *, in_turn=False):
        self.mechanism, self.left, self.in_turn = mechanism, [each] * workers, in_turn
        self.rng, self.calls = np.random.default_rng(0), 0

    def sample(self, histogram, size):
        self.calls += 1
        worker = self.calls if self.in_turn else int(self.rng.integers(len(self.left)))
        worker %= len(self.left)
        if self.left[worker] < size:
            raise BudgetExhausted("spent")
        self.left[worker] -= size
        return self.mechanism.sample(histogram, size, self.rng)


def gnmax(queries):
    privacy = {"epsilon": 2.65, "delta": 1e-5, "queries": queries}
    return claimed("gaussian:40", classes=4, teachers=100, privacy=privacy)


def lnmax(queries, epsilon=3.0):
    privacy = {"epsilon": epsilon, "delta": 1e-5, "queries": queries}
    return claimed("laplace:20", "lnmax", classes=4, teachers=100, privacy=privacy)


def confident(queries, charges=None, epsilon=2.65, teachers=100):
    mechanism = {"name": "confident-gnmax", "noise": "gaussian:40", "classes": 4}
    mechanism |= {"teachers": teachers, "threshold": 50.0, "threshold_noise": "gaussian:150"}
    privacy = {"epsilon": epsilon, "delta": 1e-5, "queries": queries}
    tables = {"mechanism": mechanism, "privacy": privacy}
    return parse_claim(tables | ({"accountant": {"charges": charges}} if charges else {}))


def judged(enforced, made, deployment):
    return enforced(deployment, made, lambda: InProcessTarget(deployment))


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.slow("over half a second")
def test_more_than_any_analysis_allows_is_a_failure_with_its_cause(
    enforced, workers, in_turn
) -> None:
    """By how much was answered, and, where a worker has more left than another, by replies.

    Catches a diagnosis that stops counting at the violation, at 530 of 574 or 1,148 answers.
    """
    made = gnmax(287)
    mechanism = made.mechanism.mechanism()
    check = judged(enforced, made, Workers(mechanism, 287, workers, in_turn=in_turn))
    found = check.finding()
    if workers == 1:
        assert (check.verdict, found.warnings) == (Verdict.PASS, ())
        return
    assert (check.verdict, found.code) == (Verdict.FAIL, "account-for-each-worker")
    assert found.fields["accounts"] == workers
    assert found.fields["given"] == 287 * workers
    assert found.fields["answers"] > 332  # by the exact cost of its noise
    assert in_turn or found.fields["resumed"] >= 3


@pytest.mark.parametrize(
    ("made", "each"),
    [(lnmax(93), 93), (confident(277), 277), (confident(277, "all"), 277)],
    ids=["lnmax", "unsaid", "all"],
)
@pytest.mark.slow("over half a second")
def test_more_than_one_reading_allows_is_a_warning_with_both(enforced, made, each) -> None:
    """Twice the answers passed: Confident-GNMax without a word, LNMax by the exact cost of votes.

    Catches a check that holds answers alone, and no queries, to the claim.
    """
    for workers in (1, 2):
        deployment = Workers(made.mechanism.mechanism(), each, workers)
        check = judged(enforced, made, deployment)
        assert check.verdict is Verdict.PASS
        told = {note.code: note.fields for note in check.finding().warnings}
        assert list(told) == (["above-one-reading"] if workers == 2 else [])
    fields = told["above-one-reading"]
    assert (fields["accounts"], fields["given"]) == (2, 2 * each)
    assert fields["other_cost"] < fields["epsilon"] < fields["cost"]


@pytest.mark.slow("over half a second")
def test_what_stops_for_no_account_is_not_told_as_one(enforced) -> None:
    """A target that never stops has no accounts, and nobody reads what it has not."""
    made = gnmax(287)
    check = judged(enforced, made, Workers(made.mechanism.mechanism(), 10**9, 2))
    assert check.finding().code == "budget-not-enforced"


@pytest.mark.parametrize(
    ("given", "resumed", "accounts"),
    [
        (574, 0, 2),
        (573, 0, 2),  # an account may be off by one
        (1148, 0, 4),
        (500, 0, None),
        (287, 0, None),
        (500, 2, None),  # as where a budget is renewed
        (500, 3, 0),
    ],
)
def test_accounts_are_a_whole_number_or_shown_by_replies(given, resumed, accounts) -> None:
    found = several_accounts(given, resumed, {287})
    assert (found is None) == (accounts is None)
    if found is not None:
        assert found.fields.get("accounts", 0) == accounts


def test_multiples_of_a_few_queries_are_a_coincidence() -> None:
    assert several_accounts(6, 0, {3}) is None


# -- accounts that are kept right, by each analysis that a claim may mean --------------------------


class Kept:
    """One account: answers while `epsilon(histograms, asked, answered)` is within the claim."""

    def __init__(self, made, seed):
        self.made, self.mechanism = made, made.mechanism.mechanism()
        self.rng, self.asked, self.answered = np.random.default_rng(seed), 0, 0
        self.costs = 0.0

    def sample(self, histogram, size):
        labels = self.mechanism.sample(histogram, size, self.rng)
        answered = int((labels >= 0).sum())
        if not self.charge(histogram, size, answered):
            raise BudgetExhausted("spent")
        return labels

    def charge(self, histogram, size, answered):
        asked, given = self.asked + size, self.answered + answered
        if self.epsilon(asked, given) > self.made.privacy.epsilon:
            return False
        self.asked, self.answered = asked, given
        return True

    def epsilon(self, asked, answered):
        raise NotImplementedError


def squared(made, asked, answered):
    """The squared distance of all that was released, in standard deviations."""
    screen = 1 / 150**2 if made.mechanism.refuses else 0.0
    return asked * screen + answered * 2 / made.mechanism.noise.scale**2


class Renyi(Kept):
    def epsilon(self, asked, answered):
        half = 0.5 * squared(self.made, asked, asked)
        return best_epsilon(lambda a: half * a, 1e-5).epsilon


class Exact(Kept):
    def epsilon(self, asked, answered):
        distance = math.sqrt(squared(self.made, asked, asked))
        return move_epsilon(families.Gaussian(1.0), distance, 1e-5)


class Realised(Kept):
    def epsilon(self, asked, answered):
        distance = math.sqrt(squared(self.made, asked, answered))
        return move_epsilon(families.Gaussian(1.0), distance, 1e-5)


class Dependent(Kept):
    def charge(self, histogram, size, answered):
        scale = self.made.mechanism.noise.scale
        costs = self.costs + size * gnmax_data_dependent(histogram, scale, ORDERS)
        if to_epsilon(ORDERS, costs, 1e-5).epsilon > self.made.privacy.epsilon:
            return False
        self.costs = costs
        return True


class Pure(Kept):
    def epsilon(self, asked, answered):
        return asked * 2 / self.made.mechanism.noise.scale


class ByLaplace(Kept):
    """As many as Renyi costs of Laplace noise allow."""

    def epsilon(self, asked, answered):
        return 0.0 if asked <= BudgetAllowed(self.made).sound else math.inf


def drawn(reading, seed):
    """A claim of a small budget, with `queries` far below it, so that all analyses are compared."""
    rng = np.random.default_rng(seed)
    epsilon = float(rng.uniform(1.0, 3.0))
    teachers, classes = int(rng.integers(20, 80)), int(rng.integers(2, 5))
    privacy = {"epsilon": epsilon, "delta": 1e-5, "queries": int(rng.integers(1, 5))}
    if reading in (Pure, ByLaplace):
        noise, name = f"laplace:{rng.integers(3, 12)}", "lnmax"
    else:
        noise, name = f"gaussian:{rng.integers(10, 25)}", "gnmax"
    return claimed(noise, name, classes=classes, teachers=teachers, privacy=privacy)


READINGS = [Renyi, Exact, Dependent, Pure, ByLaplace]


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("seed", range(32))
@pytest.mark.quick_cases(1)
def test_one_account_by_any_analysis_is_not_accused(enforced, reading, seed) -> None:
    """Catches a limit by Renyi costs alone, which exact accounts pass, and one by `queries`."""
    made = drawn(reading, seed)
    check = judged(enforced, made, reading(made, seed))
    assert check.verdict is not Verdict.FAIL, check.violation
    told = {note.code for note in check.finding().warnings}
    assert told <= {"many-answers"}


OF_REFUSED = [
    (Renyi, None),
    (Exact, None),
    (Exact, "all"),
    (Exact, "data-independent"),
    (Realised, "realised"),
]


@pytest.mark.parametrize(("reading", "charges"), OF_REFUSED)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.slow("over half a second")
def test_one_account_of_refused_queries_is_not_accused(enforced, reading, charges, seed) -> None:
    """Catches "realised" charges that are held to those of every query, or to `queries`."""
    rng = np.random.default_rng(seed)
    made = confident(1, charges, float(rng.uniform(0.8, 2.0)), int(rng.integers(20, 90)))
    check = judged(enforced, made, reading(made, seed))
    assert check.verdict is not Verdict.FAIL, check.violation
    told = {note.code for note in check.finding().warnings}
    assert told <= {"many-answers"}
