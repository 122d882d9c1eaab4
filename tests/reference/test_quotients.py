"""The law of a noisy sum over a noisy count that is not released: mpmath, and simulation."""

import itertools

import mpmath
import numpy as np
import pytest

from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.tables.quotients import HiddenCount

CASES = [
    (family, scales, count, sums, quotient)
    for family, scales in (("laplace", (240.0, 12.0)), ("gaussian", (20.0, 4.0)))
    for count, sums, quotient in (
        (0.0, 0.0, -9.0),
        (0.0, 0.0, 0.0),
        (3.0, -45.0, 2.0),
        (3.0, 21.0, 400.0),
        (30.0, 210.0, 7.5),
        (30.0, -450.0, -0.3),
        (400.0, 2_800.0, 11.0),
    )
]


def exactly(family, scales, count, sums, quotient):
    """P[S / max(1, C) <= quotient] at 30 digits: by parts that end where a density turns."""
    wide, narrow = map(mpmath.mpf, scales)
    if family == "laplace":

        def below(x):
            return mpmath.e**x / 2 if x < 0 else 1 - mpmath.e**-x / 2

        def density(x):
            return mpmath.e ** -abs(x) / 2
    else:
        below, density = mpmath.ncdf, mpmath.npdf
    last = max(1.0, count + 60 * float(narrow))
    ends = {1.0, *(max(1.0, count + k * float(narrow)) for k in (-60, -20, -5, 0, 5, 20, 60))}
    if quotient:
        turn, slow = sums / quotient, float(wide) / abs(quotient)
        ends |= {min(last, max(1.0, turn + k * slow)) for k in (-30, -5, 0, 5, 30)}
    over = mpmath.quad(
        lambda d: density((d - count) / narrow) / narrow * below((quotient * d - sums) / wide),
        sorted(ends),
    )
    return below((1 - count) / narrow) * below((quotient - sums) / wide) + over


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize(("family", "scales", "count", "sums", "quotient"), CASES)
def test_tails_are_those_of_a_quadrature_of_30_digits(
    family, scales, count, sums, quotient
) -> None:
    """Both tails, relatively; catches a divisor below 1, and a count that is taken for exact."""
    law = HiddenCount(*(parse_number_noise(f"{family}:{s}").family for s in scales))
    found = law.tails(*(np.array([x]) for x in (quotient, sums, count)))
    with mpmath.workdps(30):
        low = exactly(family, scales, count, sums, quotient)
        for tail, exact in zip(found, (low, 1 - low), strict=True):
            assert tail[0] == pytest.approx(float(exact), rel=1e-5, abs=1e-13)


@pytest.mark.parametrize(
    ("family", "count"),
    [
        ("gaussian", 0.0),
        ("laplace", 0.0),
        ("laplace", 2.0),
        ("laplace", 40.0),
        ("gaussian", 2.0),
        ("gaussian", 40.0),
    ],
)
@pytest.mark.slow("over half a second")
def test_quotients_become_sums_with_the_noise_of_the_claim(family, count) -> None:
    """Null: 20 cells of equal probability, each within 5.5 standard errors; the seed is fixed.

    Catches an order that is turned, and tails that are mixed up.
    """
    noise, hidden = (parse_number_noise(f"{family}:{s}") for s in (30.0, 5.0))
    rng, runs, exact = np.random.default_rng(8), 40_000, 7.0 * count
    sums = noise.sample(exact, runs, rng)
    quotients = sums / np.maximum(1.0, hidden.sample(count, runs, rng))
    law = HiddenCount(noise.family, hidden.family)
    found = law.as_sums(quotients, np.full(runs, exact), np.full(runs, count))
    assert (np.argsort(found) == np.argsort(quotients)).mean() > 0.99
    seen = np.histogram(np.exp(noise.family.log_cdf(found - exact)), 20, (0.0, 1.0))[0] / runs
    assert np.abs(seen - 0.05).max() <= 5.5 * np.sqrt(0.05 * 0.95 / runs)


def test_the_order_of_quotients_is_kept() -> None:
    law = HiddenCount(*(parse_number_noise(f"laplace:{s}").family for s in (240.0, 12.0)))
    quotients = np.array([-1e6, -300.0, -2.0, 0.0, 1e-9, 3.0, 500.0, 1e6])
    found = law.as_sums(quotients, np.full(8, 10.0), np.full(8, 4.0))
    assert all(a <= b for a, b in itertools.pairwise(found))
    assert np.isfinite(found).all()
