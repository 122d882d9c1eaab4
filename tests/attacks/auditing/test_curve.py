"""Trade-off curves from points: their (epsilon, delta) by second methods, and what is none."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dpassay.attacks.auditing.coin import Curve, RowError


def gaussian(alpha: np.ndarray, mu: float) -> np.ndarray:
    return np.asarray(norm.cdf(norm.ppf(1.0 - alpha) - mu))


def gaussian_delta(epsilon: float, mu: float) -> float:
    first = norm.cdf(mu / 2 - epsilon / mu)
    return float(first - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("rows", [31, 101, 301, 1001])
def test_a_gaussian_curve_in_a_table_gives_back_its_deltas_from_above(mu, rows) -> None:
    """Balle and Wang's closed form. Catches the chords of rows, which promise less than is kept:
    a correct Gaussian mechanism would fail. What is lost falls with the square of the rows.
    """
    alpha = np.concatenate([[0.0], norm.cdf(np.linspace(-4.5, 4.5, rows - 2)), [1.0]])
    lines = Curve(alpha, gaussian(alpha, mu)).lines
    assert len(lines) >= 5
    for line in lines:
        exact = gaussian_delta(line.epsilon, mu)
        assert exact <= line.delta <= exact + 40.0 / rows**2


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (0.3, 0.0), (2.5, 1e-3)])
def test_a_curve_of_one_epsilon_and_delta_is_judged_as_that(epsilon, delta) -> None:
    """Wasserman and Zhou's curve, three rows on each straight piece, is exact.

    Catches a delta of one order alone, and pieces that are lowered though three rows are on them.
    """
    bend = (1.0 - delta) / (1.0 + math.exp(epsilon))
    alpha = np.array([0.0, bend / 2, bend, (bend + 1 - delta) / 2, 1 - delta, 1 - delta / 2, 1.0])
    alpha = np.unique(alpha)
    steep, flat = math.exp(epsilon), math.exp(-epsilon)
    beta = np.maximum(0, np.maximum(1 - delta - steep * alpha, flat * (1 - delta - alpha)))
    curve = Curve(alpha, beta)
    assert curve.delta(epsilon) == pytest.approx(delta, abs=1e-9)
    assert curve.lines[0].epsilon == pytest.approx(epsilon, abs=1e-6)
    # below epsilon the delta is that of the bend: 1 - (1 + e^x) bend
    at = 0.5 * epsilon
    assert curve.delta(at) == pytest.approx(1.0 - (1.0 + math.exp(at)) * bend, abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)), min_size=3, max_size=8),
    st.sets(st.integers(1, 39), min_size=3, max_size=12),
    st.floats(0.0, 4.0),
)
def test_no_curve_through_the_rows_implies_a_larger_delta(masses, chosen, epsilon) -> None:
    """The likelihood ratio test of two random laws is a convex curve through its own points.

    Its deltas, the sums of excesses of one law over the other, are a second method; the curve may
    be of either order. Catches the smaller of two, where the curve is not symmetric.
    """
    p, q = (np.array(column) / sum(column) for column in zip(*masses, strict=True))
    order = np.argsort(-q / p)
    x = np.concatenate([[0.0], np.cumsum(p[order])])
    y = np.concatenate([[1.0], 1.0 - np.cumsum(q[order])])
    alpha = np.array(sorted(chosen)) / 40.0
    there = np.maximum(q - math.exp(epsilon) * p, 0.0).sum()
    back = np.maximum(p - math.exp(epsilon) * q, 0.0).sum()
    beta = np.clip(np.interp(alpha, x, y), 0.0, 1.0 - alpha)
    assert Curve(alpha, beta).delta(epsilon) >= max(there, back) - 1e-9


def test_a_curve_of_one_order_is_not_held_against_the_other() -> None:
    """A shift that half of the draws have: exact deltas of both orders, by the laws' integral."""
    alpha = np.concatenate([[0.0], norm.cdf(np.linspace(-5.0, 5.0, 2_001)), [1.0]])
    curve = Curve(alpha, 0.5 * (1.0 - alpha) + 0.5 * gaussian(alpha, 2.0))
    x = np.linspace(-10.0, 12.0, 200_001)
    p, q = norm.pdf(x), 0.5 * norm.pdf(x) + 0.5 * norm.pdf(x, 2.0)
    for line in curve.lines:
        grown = math.exp(line.epsilon)
        for one, other in ((p, q), (q, p)):
            exact = np.maximum(one - grown * other, 0.0).sum() * (x[1] - x[0])
            assert line.delta >= exact - 1e-6


def test_perfect_privacy_is_epsilon_0() -> None:
    (line,) = Curve([0.0, 0.5, 1.0], [1.0, 0.5, 0.0]).lines
    assert line.epsilon == 0.0
    assert line.delta <= 1e-9


def test_digits_that_were_rounded_are_no_fault() -> None:
    alpha = np.linspace(0.0, 1.0, 301)
    for line in Curve(alpha, np.round(gaussian(alpha, 1.0), 7)).lines:
        assert line.delta >= gaussian_delta(line.epsilon, 1.0) - 1e-6


@pytest.mark.parametrize(
    ("rows", "row", "said"),
    [
        ([(0, 1), (0.2, 1.5), (1, 0)], 1, "beta = 1.5: expected 0 to 1"),
        ([(-0.1, 1), (0.2, 0.5), (1, 0)], 0, "alpha = -0.1: expected 0 to 1"),
        ([(0, 1), (0.5, 0.6), (1, 0)], 1, "expected beta up to 1 - alpha"),
        ([(0, 1), (0.3, 0.5), (0.3, 0.4), (1, 0)], 2, "expected more than 0.3"),
        ([(0, 0.5), (0.2, 0.1), (0.4, 0.2), (1, 0)], 2, "beta = 0.2: expected at most 0.1"),
        ([(0, 1), (0.2, 0.3), (0.3, 0.29), (0.4, 0.1), (1, 0)], 2, "not convex"),
        ([(0, 1), (0.2, math.nan), (1, 0)], 1, "beta = nan"),
    ],
)
def test_a_row_that_no_curve_has_is_told(rows, row, said) -> None:
    with pytest.raises(RowError) as fault:
        Curve(*zip(*rows, strict=True))
    assert fault.value.row == row
    assert said in str(fault.value)


def test_a_curve_that_promises_nothing_is_told() -> None:
    with pytest.raises(ValueError, match="three rows"):
        Curve([0.0, 1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="claims nothing"):
        _ = Curve([0.0, 0.5, 1.0], [0.0, 0.0, 0.0]).lines
