"""The accountant: costs of many histograms at many orders at once, and one by one."""

from collections.abc import Iterator

import numpy as np

from dpassay.reference import ConfidentGNMax, Gaussian, NoisyArgmax, digit_histograms
from dpassay.reference.accounting.analyses import Analysis, query_cost
from dpassay.reference.accounting.conversions import Epsilon, best_epsilon
from dpassay.reference.accounting.pairs import worst_neighbours
from dpassay.reference.arrays import Matrix
from dpassay.verifiers.commands.charged_rows import ChargedRows, account_of
from dpassay.verifiers.inputs.log_file import AskedRows

from .timing import Row, in_turn

EXACT = 200
DISTINCT, EACH = 20_000, 200
"""Rows of an account, and how many of them are charged one by one, for comparison."""

HISTOGRAMS, ALONE = 10_000, 200
ORDERS = np.geomspace(1.1, 500.0, 100)


def rows() -> Iterator[Row]:
    yield from _costs()
    yield from _accounts()
    yield from _exact()


def _accounts() -> Iterator[Row]:
    """A whole account, beside one that works out its rows one by one."""
    rng = np.random.default_rng(0)
    votes = np.array([rng.multinomial(250, p) for p in rng.dirichlet(np.full(10, 0.3), DISTINCT)])
    mechanism = NoisyArgmax(Gaussian(40.0))
    analyses: tuple[Analysis, ...] = ("data-dependent", "data-independent")
    for analysis in analyses:

        def at_once(of: Analysis = analysis) -> ChargedRows:
            return account_of(AskedRows(votes, None), mechanism, 1e-5, analysis=of)

        def one_by_one(of: Analysis = analysis) -> Epsilon:
            def cost(orders: Matrix) -> Matrix:
                each = [query_cost(v, mechanism, orders, of) for v in votes[:EACH]]
                return np.asarray(np.sum(each, axis=0))

            return best_epsilon(cost, 1e-5)

        together, alone = in_turn(at_once, one_by_one, rounds=3)
        each, one = together / DISTINCT, alone / EACH
        yield (
            f"account, {analysis}, {DISTINCT:,} distinct rows",
            f"{1.0 / each:,.0f} rows/s",
            f"a loop over rows: {1.0 / one:,.0f} rows/s",
            f"{one / each:.1f}",
        )


def _exact() -> Iterator[Row]:
    """An account against the worst neighbours, beside one that tries all of each row in turn."""
    rng = np.random.default_rng(0)
    votes = np.array([rng.multinomial(250, p) for p in rng.dirichlet(np.full(10, 0.3), EXACT)])
    mechanism = NoisyArgmax(Gaussian(40.0))

    def one_by_one() -> Epsilon:
        def cost(orders: Matrix) -> Matrix:
            pairs = [worst_neighbours(row, mechanism, orders) for row in votes]
            return np.asarray(np.sum([np.maximum(x.from_here, x.towards) for x in pairs], axis=0))

        return best_epsilon(cost, 1e-5)

    together, alone = in_turn(
        lambda: account_of(AskedRows(votes, None), mechanism, 1e-5, analysis="exact"),
        one_by_one,
        rounds=3,
    )
    yield (
        f"account, exact, {EXACT:,} distinct rows",
        f"{EXACT / together:,.0f} rows/s",
        f"every neighbour of a row after another: {EXACT / alone:,.0f} rows/s",
        f"{alone / together:.1f}",
    )


def _costs() -> Iterator[Row]:
    votes = np.resize(digit_histograms(), (HISTOGRAMS, 10))
    mechanism = ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(150.0))
    together, alone = in_turn(
        lambda: query_cost(votes, mechanism, ORDERS, "data-dependent", charging="expected"),
        lambda: [
            query_cost(row, mechanism, ORDERS, "data-dependent", charging="expected")
            for row in votes[:ALONE]
        ],
        rounds=3,
    )
    each, one = together / HISTOGRAMS, alone / ALONE
    yield (
        f"data-dependent costs, {HISTOGRAMS:,} histograms x {ORDERS.size} orders",
        f"{HISTOGRAMS * ORDERS.size / together:,.0f} costs/s",
        f"a loop over histograms: {ORDERS.size / one:,.0f} costs/s",
        f"{one / each:.1f}",
    )
