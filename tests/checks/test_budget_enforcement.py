"""`budget-enforcement`: deployments that go on, forget, or account downwards are found."""

import textwrap

import numpy as np
import pytest

from dpassay.reference import BudgetExhausted, Gaussian, NoisyArgmax
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.gnmax import gnmax_data_dependent
from dpassay.reference.accounting.ledger import Ledger
from dpassay.reference.accounting.pairs import worst_neighbours
from dpassay.verifiers.checks import BudgetEnforcement
from dpassay.verifiers.checks.budget_histograms import costliest, telling
from dpassay.verifiers.checks.certain_cost import CertainCost
from dpassay.verifiers.claim import PrivacyClaim, parse_claim
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.gate import verify
from dpassay.verifiers.targets import InProcessTarget
from zoo.accounting import shelf as broken_shelf
from zoo.claims import METERED
from zoo.deployments import Metered, metered
from zoo.relatives import shelf as correct_shelf

GNMAX = NoisyArgmax(Gaussian(10.0))


def claim(**gate):
    mechanism = {"name": "gnmax", "noise": "gaussian:10", "classes": 3, "teachers": 50}
    privacy = {"epsilon": 1.0, "delta": 1e-5, "queries": 5}
    return parse_claim(
        {"mechanism": mechanism, "privacy": privacy, "gate": {"max_queries": 400} | gate}
    )


class Deployment:
    """GNMax behind a ledger."""

    def __init__(self, path, budget=1.0):
        self.ledger = Ledger(path, GNMAX, delta=1e-5, budget=budget)
        self.rng = np.random.default_rng(0)

    def sample(self, histogram, size):
        self.ledger.charge(size)
        return GNMAX.sample(histogram, size, self.rng)

    def spent(self, delta):
        return self.ledger.spent


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


def enforced(deployment, made=None, reopen=None):
    check = BudgetEnforcement(claim() if made is None else made, reopen)
    assert check.run(InProcessTarget(deployment)) is None
    return check


def test_a_ledger_enforces_its_budget(tmp_path):
    check = enforced(Deployment(tmp_path / "ledger"))
    assert check.verdict is Verdict.PASS
    assert check.finding().message.startswith("it stopped after 3 answers, with epsilon")
    assert check.finding().warning is None


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (Expected, "spent said epsilon 0 after 1 answer to [49, 1, 0]"),
        (Forgetful, "spent fell"),
        (Endless, "its own account then says"),
        (Silent, "certified, against"),
    ],
)
def test_budgets_that_are_not_enforced_are_found(tmp_path, broken, words):
    check = enforced(broken(tmp_path / "ledger"))
    assert check.verdict is Verdict.FAIL
    assert words in check.violation


def test_where_too_far_is_depends_on_the_claim_alone():
    """Near the exact cost of the worst pair: beyond the data-independent count, within twice it."""
    times = costliest(claim())[1]
    alone = 0
    while to_epsilon(ORDERS, (alone + 1) * ORDERS / 100, 1e-5).epsilon <= 1.0:
        alone += 1
    assert alone < times < 4 * alone


@pytest.mark.slow("asks budgets to their end; others are")
def test_where_too_far_is_has_an_end():
    """Epsilon 1e9 cannot be exceeded by any answers that a run could ask for."""
    privacy = {"epsilon": 1e9, "delta": 1e-5, "queries": 5, "scope": "any-queries"}
    unchecked = PrivacyClaim.model_construct(**privacy)  # a claim read from a file has less
    check = BudgetEnforcement(claim().model_copy(update={"privacy": unchecked}))
    assert "cannot be proved exceeded" in check.run(InProcessTarget(Spending([0, 1, 2])))


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
        return 0.9


def test_a_budget_that_renews_is_found(tmp_path):
    """Every answer counts, also those after it said that it has stopped."""
    check = enforced(Renewing(tmp_path / "ledger"))  # its account says enough for the first few
    assert check.violation is not None
    assert "cost more than" in check.violation


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
        if self.stop is not None and self.asked >= self.stop:
            raise BudgetExhausted("spent")
        first, self.asked = self.asked, self.asked + size
        return np.take(self.labels, np.arange(first, self.asked), mode="wrap")

    def spent(self, delta):
        return 0.165


def test_refused_queries_are_not_counted_as_answers():
    """Realised charging: a run of refusals is chance, and paid for; it must not look like 20
    times as many answers."""
    check = BudgetEnforcement(screened())
    assert "refused all but 0 of" in check.run(InProcessTarget(Spending([-1])))
    assert check.violation is None
    check = BudgetEnforcement(screened())
    most = 20 * costliest(screened())[1]
    assert check.run(InProcessTarget(Spending([0, *[-1] * 39], stop=most))) is None
    assert check.violation is None
    assert 0 < check.answered < check.asked


def test_answers_behind_a_screen_are_counted():
    check = BudgetEnforcement(screened())
    times = costliest(screened())[1]
    assert check.run(InProcessTarget(Spending([0, *[-1] * 19]))) is None
    assert "cost more than" in check.violation
    assert times <= check.answered < 1.2 * times + 20


@pytest.fixture
def module(tmp_path):
    """A budgeted target in a file of its own, and one whose ledger is in memory."""
    source = """
        import numpy as np
        from dpassay.reference import BudgetExhausted, Gaussian, NoisyArgmax
        from dpassay.reference.accounting.ledger import Ledger

        gnmax = NoisyArgmax(Gaussian(10.0))
        ledger = Ledger({path!r}, gnmax, delta=1e-5, budget=1.0)

        class Kept:
            def sample(self, histogram, size):
                ledger.charge(size)
                return gnmax.sample(histogram, size)

            def spent(self, delta):
                return ledger.spent

        class InMemory:
            asked = 0

            def sample(self, histogram, size):
                if self.asked + size > 4:
                    raise BudgetExhausted("spent")
                self.asked += size
                return gnmax.sample(histogram, size)

            def spent(self, delta):
                return 0.5 + 0.1 * self.asked

        class Closed(InMemory):
            def sample(self, histogram, size):
                raise ValueError("closed on Saturdays")

        kept, in_memory, closed = Kept(), InMemory(), Closed()
    """
    path = tmp_path / "budgeted.py"
    path.write_text(textwrap.dedent(source).format(path=str(tmp_path / "ledger")))
    return path


def run(spec):
    target = InProcessTarget(lambda h, n: GNMAX.sample(h, n, np.random.default_rng(0)))
    report = verify(target, claim(budget_target=spec), seed=0)
    return next(found for found in report.checks if found.id == "budget-enforcement")


@pytest.mark.slow("asks budgets to their end; others are")
def test_a_restart_must_forget_nothing(module):
    """On a target of its own, by spec: a file remembers, memory does not."""
    assert run(f"{module}:kept").verdict is Verdict.PASS
    found = run(f"{module}:in_memory")
    assert found.verdict is Verdict.FAIL
    assert "when it was restarted" in found.message


def test_a_refusal_is_neither_a_stop_nor_a_traceback(module):
    found = run(f"{module}:closed")
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.message == "the target refuses the costliest histogram: closed on Saturdays"


def test_without_an_account_there_is_no_budget_to_look_at():
    target = InProcessTarget(GNMAX.sample)
    assert "no spent" in BudgetEnforcement(claim()).run(target)


def test_exhaustion_in_the_statistical_checks_is_no_failure():
    def spent_at_once(histogram, size):
        raise BudgetExhausted("spent")

    report = verify(InProcessTarget(spent_at_once), claim(), seed=0)
    assert report.verdict is Verdict.INCONCLUSIVE


# -- what answers certainly cost -----------------------------------------------------------------

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
def test_answers_that_are_not_charged_are_named(name):
    """Each passes where only the costliest histogram is asked, by larger calls, until it stops."""
    check = enforced(of_zoo(name), FULL)
    assert check.verdict is Verdict.FAIL
    assert check.finding().diagnosis.startswith(WHAT_IS_FREE[name])
    said, cost = (
        float(check.violation.split(word)[1].split()[0]) for word in ("epsilon ", "at least ")
    )
    assert said < cost


@pytest.mark.parametrize(
    "name", ["prepaid", "charges-twice", "data-dependent-budget", "blocks-in-advance"]
)
def test_sound_accounts_are_not_accused(name):
    """Nor is a data-dependent one at the side of a pair that its bound does not cover."""
    check = enforced(of_zoo(name), FULL)
    assert check.verdict is Verdict.PASS
    assert (check.finding().warning is not None) is (name == "prepaid")


@pytest.mark.slow("asks budgets to their end; others are")
def test_an_account_that_stands_still_is_told_of():
    """In the report's warnings, once: some pay in advance, some keep no account."""
    table = METERED | {"gate": {"smallest_effect": 0.2, "tolerance": 0.4}}
    report = verify(InProcessTarget(of_zoo("prepaid")), parse_claim(table), seed=0)
    assert report.verdict is Verdict.PASS
    told = [line for line in report.warnings if "spent said epsilon 2.65 throughout 287" in line]
    assert len(told) == 1


def test_an_instance_that_is_used_up_is_no_pass():
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
def test_the_bound_is_held_to_its_digits(share):
    """At the bound is no violation; a millionth below it is one, at the first answer."""
    deployment = metered(0, Closely)
    deployment.share = share
    check = enforced(deployment, FULL)
    assert (check.violation is None) is (share == 1.0)


def test_no_sound_account_lies_below_the_bound():
    """Renyi costs of the side asked, Theorem 6 and exact, converted: never below, where asked."""
    for cost in telling(FULL):
        exact = worst_neighbours(cost.here, GNMAX40, ORDERS).from_here
        published = gnmax_data_dependent(cost.here, 40.0, ORDERS)
        for times in (1, 2, 10, 100, 1_000):
            sound = min(to_epsilon(ORDERS, times * c, 1e-5).epsilon for c in (exact, published))
            assert 0 < cost.estimate(times) <= sound


def test_the_other_side_of_a_pair_is_not_asked_of_an_account():
    """Its neighbour costs more than a sound account of the histogram asked must say."""
    mechanism, votes = NoisyArgmax(Gaussian(2.0)), np.array([14, 6])
    here = CertainCost(mechanism, votes, 1e-5)
    there = worst_neighbours(votes, mechanism, ORDERS)
    sound = to_epsilon(ORDERS, 20 * there.from_here, 1e-5).epsilon
    back = CertainCost(mechanism, np.array([13, 7]), 1e-5)
    assert here.estimate(20) <= sound < back.estimate(20)


@pytest.mark.slow("asks budgets to their end; others are")
def test_free_single_queries_are_found_without_an_account():
    """Once blocks are refused, single queries must be too: 530 answers cost more than claimed."""

    class Unaccounted(Metered):
        def cost(self, histogram, size):
            return size // 25 * 25

        spent = None

    made = Unaccounted(0, budget=2.65, sigma=40.0)
    made.metered = True
    check = enforced(made, FULL, lambda: InProcessTarget(made))
    assert "it answered 530 queries of [129, 121," in check.violation


def test_the_message_says_how_far_it_went_beyond_what_is_sound():
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
def test_a_claim_about_a_file_is_asked_for_what_stands_there(scoped):
    """As often as it stands there: 281 near ties would cost far more, and nobody claimed them."""
    made = Counting(0, budget=scoped.privacy.epsilon, sigma=40.0)
    check = enforced(made, scoped)
    assert check.verdict is Verdict.PASS, check.violation
    assert check.answered == 281
    endless = metered(0, charged=0.0)
    assert enforced(endless, scoped).verdict is Verdict.FAIL
