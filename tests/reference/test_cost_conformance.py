"""What every cost must keep, as one class that each analysis and accountant inherits.

Found this way: `query_cost` charged Interactive-GNMax as Confident-GNMax, 880 times too little.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.reference import (
    ConfidentGNMax,
    Exponential,
    Gaussian,
    Gumbel,
    InteractiveGNMax,
    Laplace,
    NoisyArgmax,
    SampledArgmax,
    Sampling,
    UnknownMechanismError,
)
from dpassay.reference.accounting.analyses import (
    CountedCost,
    query_cost,
    release_costs,
)
from dpassay.reference.accounting.certified import enclosed_law
from dpassay.reference.accounting.conversions import ORDERS as GRID
from dpassay.reference.accounting.conversions import best_epsilon, to_epsilon
from dpassay.reference.accounting.ledger import Ledger
from dpassay.reference.accounting.pairs import worst_neighbours
from dpassay.reference.accounting.pure import pure_epsilon
from dpassay.verifiers.commands.charged_rows import account_of
from dpassay.verifiers.inputs.log_file import AskedRows
from dpassay.verifiers.strategies import histograms

ORDERS = np.array([1.5, 2.0, 3.0, 8.0, 20.0, 60.0])
SLACK = 1e-9  # of laws in float64
UNDERFLOW = 1e-12  # an exact cost below it may be rounding
SEARCH = 1e-6  # of the search between orders
DELTA = 1e-6

PLAIN = (
    NoisyArgmax(Gaussian(8.0)),
    NoisyArgmax(Laplace(5.0)),
    NoisyArgmax(Exponential(5.0)),
    NoisyArgmax(Gumbel(5.0)),
    NoisyArgmax(Gaussian(4.0).rounded("cut-noise")),
    NoisyArgmax(Laplace(3.0).rounded("cut")),
    NoisyArgmax(Gumbel(3.0).rounded("cut")),
    NoisyArgmax(Exponential(3.0).rounded("round")),
)
CONFIDENT = (
    ConfidentGNMax(Gaussian(8.0), 20.0, Gaussian(12.0)),
    ConfidentGNMax(Gaussian(5.0), 45.0, Gaussian(5.0)),
    ConfidentGNMax(Gaussian(4.0).rounded("floor"), 20.0, Gaussian(12.0)),
)
STUDENT = (0.7, 0.1, 0.1, 0.1)
INTERACTIVE = (
    InteractiveGNMax(Gaussian(8.0), 10.0, Gaussian(12.0), STUDENT, 40.0, 0.5),
    InteractiveGNMax(Gaussian(8.0), 10.0, Gaussian(12.0), STUDENT, 40.0, 0.9),
)


SAMPLED = tuple(
    SampledArgmax(Gaussian(6.0), Sampling.parse(way))
    for way in ("poisson:0.3", "fixed:1", "with-replacement:4")
)


@dataclass(frozen=True)
class Unheard:
    """A mechanism of somebody else's: the protocol's methods, and Confident-GNMax's fields."""

    noise = threshold_noise = Gaussian(8.0)
    threshold = 20.0

    def sample(self, histogram, size, rng=None):
        return np.zeros(size, dtype=np.int64)

    def log_probabilities(self, histogram):
        return NoisyArgmax(self.noise).log_probabilities(histogram)


class Conformance:
    """What costs and accountants share: which mechanisms are known, and the exact cost."""

    known: tuple[Any, ...] = PLAIN + CONFIDENT + INTERACTIVE
    one_sided = False  # a data-dependent bound at H covers D(Q(H) || Q(H')) alone
    examples: int | None = None  # of Hypothesis; None: as many as elsewhere
    guarantee = True  # False for an estimate, which need not cover the exact cost

    def charge(self, votes, mechanism):
        """Asks for one query's cost, whatever its form."""
        raise NotImplementedError

    def exact(self, votes, mechanism):
        """Rényi divergences of the costliest neighbour at ORDERS (n,)."""
        found = worst_neighbours(votes, mechanism, ORDERS)
        return found.from_here if self.one_sided else np.maximum(found.from_here, found.towards)

    def holds(self, check):
        """Tries `check(votes, mechanism)`; inside each test, since classes cannot share a given."""
        some = histograms(4, 60).filter(lambda votes: votes.any())
        tried = given(votes=some, mechanism=st.sampled_from(self.known))(check)
        (settings(max_examples=self.examples)(tried) if self.examples else tried)()

    def test_a_mechanism_it_does_not_know_is_refused_by_name(self) -> None:
        for mechanism in (Unheard(), *set(PLAIN + CONFIDENT + INTERACTIVE) - set(self.known)):
            with pytest.raises(UnknownMechanismError, match=type(mechanism).__name__):
                self.charge(np.array([20, 10, 5, 5]), mechanism)


class CostConformance(Conformance):
    """Inherit, and give `charge`: the Rényi cost (n,) of one query at ORDERS."""

    def test_a_query_cost_nothing_only_where_the_exact_cost_underflows(self) -> None:
        def check(votes, mechanism):
            costs_something = self.exact(votes, mechanism) > UNDERFLOW
            assert (self.charge(votes, mechanism)[costs_something] > 0).all()

        self.holds(check)

    def test_a_higher_order_costs_no_less(self) -> None:
        def check(votes, mechanism):
            cost = self.charge(votes, mechanism)
            assert (np.diff(cost) >= -SLACK * cost[1:]).all()

        self.holds(check)

    def test_the_exact_cost_is_covered(self) -> None:
        def check(votes, mechanism):
            cost = self.charge(votes, mechanism)
            assert (self.exact(votes, mechanism) <= cost * (1 + SLACK) + UNDERFLOW).all()

        if self.guarantee:
            self.holds(check)


class TestDataIndependent(CostConformance):
    known = PLAIN + CONFIDENT + INTERACTIVE + SAMPLED

    def charge(self, votes, mechanism):
        return query_cost(votes, mechanism, ORDERS, "data-independent")


class TestDataDependent(CostConformance):
    one_sided = True

    def charge(self, votes, mechanism):
        return query_cost(votes, mechanism, ORDERS, "data-dependent")


class TestExpected(CostConformance):
    """As the released code charges: an estimate."""

    guarantee = False

    def charge(self, votes, mechanism):
        return query_cost(votes, mechanism, ORDERS, "data-dependent", charging="expected")


class TestExact(CostConformance):
    known = PLAIN + CONFIDENT + INTERACTIVE + SAMPLED

    def charge(self, votes, mechanism):
        return query_cost(votes, mechanism, ORDERS, "exact")


class TestWorstPair(CostConformance):
    known = PLAIN + CONFIDENT

    def charge(self, votes, mechanism):
        """Of twelve teachers: the search is among all histograms of one total."""
        return query_cost(self.of_twelve(votes), mechanism, ORDERS, "worst-pair")

    def exact(self, votes, mechanism):
        return super().exact(self.of_twelve(votes), mechanism)

    @staticmethod
    def of_twelve(votes):
        return np.random.default_rng(votes).multinomial(12, np.full(4, 0.25))


class AccountantConformance(Conformance):
    """Inherit, and give `epsilon` of many queries at DELTA, and the analysis that it sums."""

    known: tuple[Any, ...] = PLAIN + CONFIDENT
    examples = 15
    analysis = "data-independent"

    def epsilon(self, votes, mechanism, queries):
        raise NotImplementedError

    def charge(self, votes, mechanism):
        return self.epsilon(votes, mechanism, 1)

    def test_only_no_query_is_free_and_more_cost_more(self) -> None:
        def check(votes, mechanism):
            none, one, four = (self.epsilon(votes, mechanism, n) for n in (0, 1, 4))
            assert none == 0.0
            assert one <= four
            if self.exact_epsilon(votes, mechanism, 1) > UNDERFLOW:
                assert 0 < one < four

        self.holds(check)

    def test_costs_of_queries_add_up(self) -> None:
        """At every order: epsilon is then at most what the sum converts to at any of them."""

        def check(votes, mechanism):
            for queries in (1, 2, 7):
                charged = self.epsilon(votes, mechanism, queries)
                total = queries * query_cost(votes, mechanism, GRID, self.analysis)
                assert charged <= to_epsilon(GRID, total, DELTA).epsilon * (1 + SLACK)

        self.holds(check)

    def test_the_exact_cost_of_many_is_covered(self) -> None:
        def check(votes, mechanism):
            for queries in (1, 7):
                exact = self.exact_epsilon(votes, mechanism, queries)
                assert self.epsilon(votes, mechanism, queries) >= exact * (1 - SEARCH)

        self.holds(check)

    def exact_epsilon(self, votes, mechanism, queries):
        def cost(orders):
            found = worst_neighbours(votes, mechanism, orders)
            forth, back = found.from_here, found.towards
            return queries * (forth if self.one_sided else np.maximum(forth, back))

        return best_epsilon(cost, DELTA, pure=queries * pure_epsilon(mechanism.noise)).epsilon


class TestAccount(AccountantConformance):
    one_sided, analysis = True, "data-dependent"

    def epsilon(self, votes, mechanism, queries):
        rows = AskedRows(np.tile(votes, (queries, 1)), None)
        options = {"analysis": self.analysis, "charging": "all"}
        return account_of(rows, mechanism, DELTA, **options).epsilon if queries else 0.0


class TestLedger(AccountantConformance):
    known = PLAIN + CONFIDENT + INTERACTIVE

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder, self.opened = tmp_path, 0

    def epsilon(self, votes, mechanism, queries):
        self.opened += 1
        ledger = Ledger(self.folder / str(self.opened), mechanism, delta=DELTA, budget=1e9)
        ledger.charge(queries)
        return ledger.spent


def test_a_query_that_the_teachers_do_not_answer_costs_its_screen_alone() -> None:
    """Of a student's confirmed label too: the teachers gave none."""
    for mechanism in CONFIDENT + INTERACTIVE:
        refused, answered, every = (
            query_cost(
                [20, 10, 5, 5], mechanism, ORDERS, "data-dependent", charging=name, refused=was
            )
            for name, was in (("realised", True), ("realised", False), ("all", None))
        )
        assert (refused < answered).all()
        np.testing.assert_allclose(answered, every, rtol=1e-12)


def test_interactive_gnmax_is_not_charged_as_confident_gnmax() -> None:
    votes, mechanism = np.array([150, 60, 40, 0]), INTERACTIVE[0]
    confident = ConfidentGNMax(
        mechanism.noise, mechanism.threshold, mechanism.threshold_noise
    )  # what was charged: its screen looks at 150 votes where Interactive-GNMax's sees 122
    fallen_through = query_cost(votes, confident, ORDERS, "data-dependent")
    assert (query_cost(votes, mechanism, ORDERS, "data-dependent") > fallen_through).any()


@pytest.mark.parametrize("mechanism", PLAIN + CONFIDENT + INTERACTIVE)
def test_the_certified_law_encloses_the_law(mechanism) -> None:
    votes = [20, 14, 5, 1]
    law = np.exp(mechanism.log_probabilities(np.array(votes, float)))
    enclosed = enclosed_law(votes, mechanism)
    assert len(enclosed) == law.size
    np.testing.assert_allclose([float(ball.mid()) for ball in enclosed], law, rtol=1e-9, atol=1e-15)


def test_the_certified_law_of_a_mechanism_it_does_not_know_is_refused() -> None:
    with pytest.raises(UnknownMechanismError, match="Unheard"):
        enclosed_law([20, 14, 5, 1], Unheard())


def test_costs_by_the_number_of_queries_refuse_what_they_do_not_know() -> None:
    """Catches a mechanism that is charged as plain GNMax because it has a noise."""
    for known_to in (lambda mechanism: release_costs(mechanism, ORDERS), CountedCost):
        with pytest.raises(UnknownMechanismError):
            known_to(Unheard())
