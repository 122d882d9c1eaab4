"""The smallest divergence of a likelihood region: by another solver too, and not above the truth.

No test draws a verdict from chance: rates are bounded with room for 1e-6.
"""

from typing import Any

import numpy as np
import pytest
from audited import ORDERS, PUBLISHED, exact, laws_of
from scipy.optimize import minimize
from scipy.stats import binom, chi2, norm

from dpassay.attacks.auditing import Counts, in_region, region
from dpassay.reference.accounting.divergences import renyi_divergence


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ([50, 30, 20], [20, 30, 50]),
        ([500, 30, 2, 0], [300, 100, 0, 40]),
        ([9000, 900, 90, 9, 1], [8000, 1500, 300, 100, 100]),
        ([40, 0], [0, 40]),
    ],
)
@pytest.mark.parametrize("order", [1.5, 2.0])
@pytest.mark.quick_cases(1)
def test_the_region_has_the_smallest_divergence_that_another_solver_finds(
    here, there, order
) -> None:
    """SLSQP on the laws themselves; it ends at or above the minimum, the dual at or below it."""
    counts = Counts(np.array(here), np.array(there))
    drop = float(chi2.isf(0.05, 2 * (counts.here.size - 1))) / 2.0
    primal = smallest_by_slsqp(counts, order, drop)
    dual = region(counts, np.array([order]), 0.05)[0, 0]
    assert dual <= primal * (1 + 1e-9)
    assert dual == pytest.approx(primal, rel=1e-6)


def smallest_by_slsqp(counts, order, drop):
    n, m = counts.here.astype(float), counts.there.astype(float)
    k = n.size

    def room(x):
        below = [
            c * np.log(np.where(c > 0, c, 1) / c.sum() / law) for c, law in ((n, x[:k]), (m, x[k:]))
        ]
        return drop - np.sum(below)

    found: Any = minimize(  # type: ignore[call-overload]
        lambda x: np.sum(x[:k] ** order * x[k:] ** (1.0 - order)),
        np.concatenate([(c + 0.5) / (c + 0.5).sum() for c in (n, m)]),
        bounds=[(1e-9, 1.0)] * (2 * k),
        constraints=[
            {"type": "eq", "fun": lambda x: x[:k].sum() - 1.0},
            {"type": "eq", "fun": lambda x: x[k:].sum() - 1.0},
            {"type": "ineq", "fun": room},
        ],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert room(found.x) >= -1e-6
    assert [found.x[:k].sum(), found.x[k:].sum()] == pytest.approx([1.0, 1.0], abs=1e-9)
    return np.log(found.fun) / (order - 1.0)


@pytest.mark.slow("over half a second")
def test_no_pair_of_laws_in_the_region_has_a_smaller_divergence() -> None:
    """Thousands of laws of the region; catches a bound that is none, at orders SLSQP cannot do."""
    rng = np.random.default_rng(5)
    counts = Counts(np.array([900, 90, 9, 1]), np.array([700, 150, 100, 50]))
    orders = np.array([1.1, 2.0, 8.0, 64.0])
    bounds = region(counts, orders, 0.05)[0]
    assert (bounds > 0.0).all()
    drop = float(chi2.isf(0.05, 6)) / 2.0
    for _ in range(2000):
        pair = [rng.dirichlet(c + 0.5) for c in (counts.here, counts.there)]
        below = sum(
            float(c @ np.log(c / c.sum() / p))
            for c, p in zip((counts.here, counts.there), pair, strict=True)
        )
        assert in_region(counts, pair[0], pair[1], 0.05) == (below <= drop)
        if below <= drop:
            found = renyi_divergence(np.log(pair[0]), np.log(pair[1]), orders)
            assert (found >= bounds).all()


@pytest.mark.slow("two hundred regions; an auditor by them is tried on one law")
def test_regions_hold_the_true_laws() -> None:
    """At 0.05, 200 regions lose them more than 27 times once in a million; anytime ones hardly."""
    laws = laws_of(*PUBLISHED)
    rng = np.random.default_rng(2)
    truth = exact(laws)
    wrong = [0, 0]
    for _ in range(200):
        counts = Counts(*(rng.multinomial(3000, law) for law in laws))
        for i, anytime in enumerate((False, True)):
            if in_region(counts, laws[0], laws[1], 0.05, anytime=anytime):
                continue  # no bound of it can be above the truth, as the test before shows
            bounds = region(counts, ORDERS[[0, -1]], 0.05, anytime=anytime)
            wrong[i] += bool((bounds > truth[:, [0, -1]]).any())
    assert max(wrong) <= binom.isf(1e-6, 200, 0.05)
    assert wrong[1] <= wrong[0]


@pytest.mark.parametrize("anytime", [False, True])
def test_half_the_noise_is_refuted_within_ten_thousand_labels(anytime) -> None:
    """At 1e-6, by the expected counts of 5,000: a drop of twice as many nats would not do.

    A tied pair and its neighbour, whose first two classes lead by a vote to either side.
    """
    orders, claimed, drawn = np.array([1.25, 2.0]), np.array([1.25, 2.0]) / 4.0**2, 2.0
    first = norm.cdf(1.0 / (np.sqrt(2.0) * drawn))
    counts = np.rint(2500 * np.array([first, 1.0 - first])).astype(int)
    bounds = region(Counts(counts, counts[::-1]), orders, 1e-6, anytime=anytime)
    assert (bounds > claimed).any()
