"""Why an account may charge an answer only when it is given, in mpmath.

docs/explanation/realised-charges.md has the proof. Laws are computed anew here: the answer's by
`oracle`, the screening's by mpmath's normal.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from mpmath import exp, log, mp, mpf, ncdf

from dpassay.reference import ConfidentGNMax, Gaussian, neighbours
from dpassay.reference.accounting.certified import enclosed_law, enclosed_screening, renyi_lower
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.reference.oracle import exact_probabilities

MECHANISM = ConfidentGNMax(Gaussian(2.0), 3.0, Gaussian(1.5))
HISTOGRAMS = [(4, 0, 0), (3, 1, 0), (2, 2, 0), (2, 1, 1), (0, 1, 3)]
ORDERS = [2, 8]


@cache
def answer(votes):
    return exact_probabilities(votes, MECHANISM.noise, 30)


def screening(votes):
    short = (mpf(MECHANISM.threshold) - max(votes)) / mpf(MECHANISM.threshold_noise.scale)
    return [ncdf(-short), ncdf(short)]


def joint(votes):
    passed, failed = screening(votes)
    return [*(passed * p for p in answer(votes)), failed]


def divergence(p, q, order):
    return log(sum(x**order * y ** (1 - order) for x, y in zip(p, q, strict=True))) / (order - 1)


def others(votes):
    return [tuple(other.tolist()) for other in neighbours(np.array(votes))]


def charges(votes, order):
    """What the screening and the answer cost at most, each against its worst neighbour."""
    return tuple(
        max(divergence(law(votes), law(other), order) for other in others(votes))
        for law in (screening, answer)
    )


def expected(votes, other, order, refused, answered):
    """E under Q of (P/Q)^order e^(-(order - 1) charge), the charge being that of the outcome."""
    p, q = joint(votes), joint(other)
    charged = [*[answered] * (len(p) - 1), refused]
    return sum(
        y * (x / y) ** order * exp(-(order - 1) * c) for x, y, c in zip(p, q, charged, strict=True)
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("votes", HISTOGRAMS)
def test_parts_that_are_each_paid_for_pay_for_the_query(votes, order) -> None:
    """The step of the proof: at most 1 for every neighbour, so that products are supermartingales.

    Against the neighbour at which both parts cost as much as they are charged it is 1.
    """
    with mp.workdps(30):
        test, given = charges(votes, order)
        found = [expected(votes, o, order, test, test + given) for o in others(votes)]
        assert max(found) <= 1 + mpf(10) ** -25
        attained = [
            expected(
                votes,
                o,
                order,
                divergence(screening(votes), screening(o), order),
                divergence(screening(votes), screening(o), order)
                + divergence(answer(votes), answer(o), order),
            )
            for o in others(votes)
        ]
        assert all(abs(value - 1) < mpf(10) ** -20 for value in attained)


def spending(votes, other, order, refused, answered, budget, most=200):
    """D(P || Q) of what is released until the budget does not allow another answer."""
    p, q = joint(votes), joint(other)
    fails = q[-1] * (p[-1] / q[-1]) ** order
    passes = sum(y * (x / y) ** order for x, y in zip(p[:-1], q[:-1], strict=True))

    @cache
    def ahead(given, failed):
        if given * answered + failed * refused + answered > budget or given + failed == most:
            return mpf(1)
        return passes * ahead(given + 1, failed) + fails * ahead(given, failed + 1)

    return log(ahead(0, 0)) / (order - 1)


PAIRS: dict[Any, dict[Any, bool]] = {
    # shares of the screening and of the answer that are paid, and whether that is too little
    ((3, 1, 0), (2, 2, 0)): {(1, 1): False, (0, 1): True, (0.5, 1): True, (1, 0.5): True},
    ((2, 2, 0), (3, 1, 0)): {(1, 1): False, (0, 1): True, (0.5, 1): True},
    ((2, 2, 0), (2, 1, 1)): {(1, 1): False, (1, 0.5): True},  # the screening tells nothing
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_budget_of_realised_charges_holds_where_each_part_is_paid(pair) -> None:
    """Stopping by what was realised; with half of either part, or refusals for free, it does not.

    Enumerated over all runs of answers and refusals until 12 answers would be paid for.
    """
    order = 8
    with mp.workdps(30):
        test, given = (divergence(law(pair[0]), law(pair[1]), order) for law in (screening, answer))
        budget = 12 * (test + given)
        for (of_test, of_answer), exceeds in PAIRS[pair].items():
            refused = of_test * test
            spent = spending(pair[0], pair[1], order, refused, refused + of_answer * given, budget)
            assert (spent > budget * (1 + mpf(10) ** -20)) is exceeds


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("votes", HISTOGRAMS)
def test_costs_of_parts_are_those_of_floats_and_of_balls(votes, order) -> None:
    with mp.workdps(30):
        for other in others(votes):
            exact = divergence(screening(votes), screening(other), order)
            here, there = (MECHANISM.log_screening(np.array(v)) for v in (votes, other))
            found = float(renyi_divergence(here, there, [order])[0])
            assert found == pytest.approx(float(exact), rel=1e-9, abs=1e-15)
            p, q = (enclosed_screening(v, MECHANISM) for v in (votes, other))
            assert 0 <= exact - renyi_lower(p, q, order) < mpf(10) ** -14
            exact = divergence(answer(votes), answer(other), order)
            p, q = (enclosed_law(v, MECHANISM.answering) for v in (votes, other))
            assert 0 <= exact - renyi_lower(p, q, order) < mpf(10) ** -14
