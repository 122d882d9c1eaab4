"""The laws of noise that is added to numbers, against mpmath, sums and simulation."""

import math
import re

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpassay.reference.numbers import (
    DiscreteGaussian,
    DiscreteLaplace,
    NumberNoise,
    parse_number_noise,
)
from dpassay.reference.numbers.families import FAMILIES, Gaussian, Laplace, family_of

pytestmark = pytest.mark.usefixtures("logistic")

SCALES = st.floats(1e-3, 1e3)


def _cdf(family, x, scale):
    u = mpmath.mpf(x) / mpmath.mpf(scale)
    if family is Gaussian:
        return mpmath.ncdf(u)
    return mpmath.exp(u) / 2 if u < 0 else 1 - mpmath.exp(-u) / 2


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("family", [Laplace, Gaussian])
@given(scale=SCALES, offset=st.floats(-36, 36), log_half=st.floats(-25, 3))
def test_mass_of_an_interval(family, scale, offset, log_half) -> None:
    """Catches a difference of two cdfs, which has no digits left in a tail or a narrow interval."""
    center, half = offset * scale, math.exp(log_half) * scale
    with mpmath.workdps(700):
        low, high = mpmath.mpf(center) - half, mpmath.mpf(center) + half
        if low > 0:
            low, high = -high, -low
        exact = mpmath.log(_cdf(family, high, scale) - _cdf(family, low, scale))
        found = float(family(scale).log_mass(np.array(center), half))
        assert abs(found - exact) < 1e-11


def test_gaussian_mass_far_out_is_finite() -> None:
    """A release of 10^12 had an infinite probability: its rounding is 10^-4, and sinh overflows."""
    for value in (1e10, 1e12):
        half = np.spacing(value) / 2
        exact = -0.5 * value**2 + value * half  # to the digits that are left
        assert Gaussian(1.0).log_mass(np.array([value]), half)[0] == pytest.approx(exact, rel=1e-12)


@given(scale=SCALES, offset=st.floats(-300, 300))
def test_laplace_tails(scale, offset) -> None:
    noise = Laplace(scale)
    with mpmath.workdps(400):
        low = mpmath.log(_cdf(Laplace, offset * scale, scale))
        assert abs(float(noise.log_cdf(np.array(offset * scale))) - low) < 1e-11


@pytest.mark.parametrize("noise", [DiscreteLaplace(0.3), DiscreteLaplace(7.0)])
def test_discrete_laplace_by_summation(noise) -> None:
    k = np.arange(-2000.0, 2001.0)
    pmf = np.exp(noise.log_pmf(k))
    assert math.fsum(pmf) == pytest.approx(1.0, abs=1e-14)
    assert math.sqrt(math.fsum(pmf * k * k)) == pytest.approx(noise.standard_deviation, rel=1e-12)
    for value in (-9.0, -1.0, 0.0, 0.5, 3.0):
        above = math.fsum(pmf[k > value])
        assert float(noise.log_survival(np.array(value))) == pytest.approx(math.log(above))
        up_to = math.fsum(pmf[k <= value])
        assert float(noise.log_cdf(np.array(value))) == pytest.approx(math.log(up_to))


@pytest.mark.parametrize("scale", [1e-9, 5e-4, 1e-2, 0.7, 30.0, 1e9])
def test_moments_of_discrete_laplace_by_mpmath(scale) -> None:
    """At scales that claims allow; below 0.0007 a hyperbolic sine overflowed."""
    noise = DiscreteLaplace(scale)
    with mpmath.workdps(60):
        a = 1 / (2 * mpmath.mpf(scale))
        deviation = mpmath.sqrt(0.5) / mpmath.sinh(a)
        assert noise.standard_deviation == pytest.approx(float(deviation), rel=1e-12)
        for share in (0.0, 0.3, 0.9, 0.999):
            r = a * mpmath.mpf(share)
            exact = -mpmath.log1p(-((mpmath.sinh(r) / mpmath.sinh(a)) ** 2))
            found = float(noise.log_moment(np.array(share / scale)))
            assert found == pytest.approx(float(exact), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("sigma", [0.3, 0.5, 1.0, 17.5])
def test_discrete_gaussian_by_mpmath(sigma) -> None:
    """At sigma 0.5 the normaliser of a density is 1.4 % off, which this would catch."""
    noise = DiscreteGaussian(sigma)
    with mpmath.workdps(60):

        def weight(k):
            return mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * mpmath.mpf(sigma) ** 2))

        reach = int(30 * sigma) + 40
        total = mpmath.fsum(weight(k) for k in range(-reach, reach + 1))
        for k in (0, 1, 5):
            exact = mpmath.log(weight(k) / total)
            assert abs(float(noise.log_pmf(np.array(float(k)))) - exact) < 1e-12 * max(1, -exact)
            tail = mpmath.log(mpmath.fsum(weight(j) for j in range(k + 1, k + reach)) / total)
            found = float(noise.log_survival(np.array(float(k))))
            assert abs(found - tail) < 1e-12 * max(1, -tail)


@pytest.mark.parametrize("noise", [DiscreteLaplace(3.0), DiscreteGaussian(4.0)])
def test_intervals_of_several_whole_numbers_by_summation(noise, monkeypatch) -> None:
    """All at once: one by one, a run on sums of 10^14 took 40 seconds."""
    first, last = np.meshgrid(np.arange(-30.0, 31.0), np.arange(-30.0, 31.0))
    first, last = first[last >= first], last[last >= first]
    masses = np.exp(noise.log_pmf(np.arange(-30.0, 31.0)))
    exact = [masses[int(a) + 30 : int(b) + 31].sum() for a, b in zip(first, last, strict=True)]
    asked = []
    survival = type(noise).log_survival

    def counted(self, value):
        asked.append(value)
        return survival(self, value)

    monkeypatch.setattr(type(noise), "log_survival", counted)
    found = noise.log_mass(0.5 * (first + last), 0.5 * (last - first) + 0.25)
    assert np.exp(found) == pytest.approx(np.array(exact), rel=1e-9)
    assert len(asked) < 10
    assert noise.log_mass(np.array(7.3), 2.5).shape == ()


def test_a_far_tail_of_the_discrete_gaussian_is_no_smaller_than_it_is() -> None:
    noise = DiscreteGaussian(3.0)
    for k in (118.0, 119.0, 120.0, 121.0, 150.0):
        terms = noise.log_pmf(np.arange(k + 1, k + 60))
        exact = float(np.logaddexp.reduce(terms))
        found = float(noise.log_survival(np.array(k)))
        assert exact - 1e-11 <= found <= exact + 1e-3


@pytest.mark.parametrize(
    "text",
    [
        "laplace:2",
        "gaussian:3;grid=2^-40",
        "laplace:2;round",
        "gaussian:0.7;round;min=0",
        "laplace:3;cut",
        "gaussian:4;cut;min=-3",
        "discrete-laplace:2;min=0;max=9",
        "discrete-gaussian:0.5",
    ],
)
def test_what_is_drawn_follows_the_law(text) -> None:
    """Transforms are uniform: a chi-square test at 1e-7, 20 cells, 40,000 draws at 3.

    Power 0.99 against a total variation of 0.03. Catches rounding that is left out of the law.
    """
    noise = parse_number_noise(text)
    rng = np.random.default_rng(7)
    drawn = noise.sample(3.0, 40_000, rng)
    uniform = noise.transform(drawn, 3.0, rng.random(drawn.size))
    counts = np.histogram(uniform, 20, (0.0, 1.0))[0]
    assert counts.sum() == drawn.size
    assert stats.chisquare(counts).pvalue > 1e-7


@pytest.mark.parametrize("family", [Laplace(2.0), Gaussian(0.7)])
def test_values_exceeded_have_their_probability(family) -> None:
    """In both tails; catches one that is right for values above 0 alone."""
    log_share = np.log([1e-300, 1e-12, 0.1, 0.5, 0.9])
    assert family.log_survival(family.exceeded(log_share)) == pytest.approx(log_share, rel=1e-12)
    near_one = np.array([-1e-14])
    assert family.log_survival(family.exceeded(near_one)) == pytest.approx(near_one, rel=1e-2)


@pytest.mark.parametrize(
    "text", ["laplace:2;round", "gaussian:0.4;round;min=0;max=5", "gaussian:2;cut"]
)
def test_probabilities_of_rounded_noise_sum_to_one(text) -> None:
    noise = parse_number_noise(text)
    support = np.arange(-300.0, 301.0)
    mass = np.exp(noise.log_mass(support, 2.25))
    assert math.fsum(mass) == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("exact", [-4.0, 0.0, 0.25, 1.0, 7.0])
def test_what_is_cut_is_the_whole_part_of_the_sum(exact: float) -> None:
    """Tails by mpmath: 0 stands for (-1, 1), 2 for [2, 3), -2 for (-3, -2].

    Catches sums that are rounded down, or to the nearest number.
    """
    noise, b = parse_number_noise("laplace:3;cut"), mpmath.mpf(3)

    def below(t: float) -> mpmath.mpf:
        u = (mpmath.mpf(t) - exact) / b
        return mpmath.exp(u) / 2 if u < 0 else 1 - mpmath.exp(-u) / 2

    ends = {y: (y if y > 0 else y - 1, y + 1 if y >= 0 else y) for y in range(-9, 10)}
    released = np.array(list(ends), dtype=float)
    wanted = np.array([[float(below(low)), float(below(high))] for low, high in ends.values()])
    found = np.exp(noise.log_mass(released, exact))
    assert found == pytest.approx(wanted[:, 1] - wanted[:, 0], rel=1e-12)
    low, high = (noise.transform(released, exact, u) for u in (0.0, 1.0))
    assert np.stack([low, high], 1) == pytest.approx(wanted, rel=1e-12)
    assert np.isneginf(noise.log_mass(released + 0.5, exact)).all()
    bare = noise.is_bare(released, np.full(19, exact), np.full(19, 0.5))
    assert released[bare].tolist() == [math.trunc(exact)]


def test_rounding_of_floats_is_part_of_the_law() -> None:
    """float32 at 10^6 has steps of 1/16: taken as real numbers, correct noise would be accused."""
    noise = parse_number_noise("laplace:2")
    rng = np.random.default_rng(3)
    exact = 1e6
    drawn = np.float32(exact + rng.laplace(scale=2.0, size=40_000)).astype(np.float64)
    half = noise.half_width(drawn, digits=24)
    uniform = noise.transform(drawn, exact, rng.random(drawn.size), half)
    fine = np.histogram(uniform, 256, (0.0, 1.0))[0]
    assert stats.chisquare(fine).pvalue > 1e-7
    taken_for_real = noise.transform(drawn, exact, rng.random(drawn.size))
    assert stats.chisquare(np.histogram(taken_for_real, 256, (0.0, 1.0))[0]).pvalue < 1e-7


@given(
    family=st.sampled_from([*sorted(FAMILIES), "logistic"]),
    scale=st.floats(1e-9, 1e12),
    grid=st.one_of(st.just(0.0), st.floats(1e-12, 1e3), st.sampled_from([1.0, 2.0**-40])),
    low=st.one_of(st.just(-math.inf), st.floats(-1e9, 0)),
    high=st.one_of(st.just(math.inf), st.floats(1, 1e9)),
    cut=st.booleans(),
)
def test_the_text_form_reads_back(family, scale, grid, low, high, cut) -> None:
    of = family_of(family)
    assert of is not None
    grid = 0.0 if of.whole else grid
    cut &= grid == 1.0 and scale >= 1e-3
    noise = NumberNoise(of(scale), grid, low, high, cut)
    assert parse_number_noise(str(noise)) == noise


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lap:2", "expected FAMILY:SCALE with FAMILY one of laplace, gaussian, discrete-laplace"),
        ("laplace:0", "scale 0: expected 1e-09 to 1e+12"),
        ("laplace:nan", "scale 'nan': expected a number"),
        ("laplace:2;clip", "'clip': expected round, cut, grid=G, min=A or max=B"),
        ("laplace:2;round;grid=3", "comes after another grid: expected one"),
        ("laplace:2;grid=-1", "grid -1: expected a positive number"),
        ("laplace:2;grid=2^9999", "grid '2^9999': expected a number"),
        ("discrete-laplace:2;round", "is whole: expected no rounding beside it"),
        ("discrete-laplace:2;cut", "is whole: expected no rounding beside it"),
        ("laplace:2;cut;round", "'round' comes after another grid: expected one"),
        ("laplace:2;cut;grid=3", "comes after another grid: expected one"),
        ("laplace:2e-4;cut", "scale 2e-4: expected 0.001 or more with cut"),
        ("laplace:2;cut=1", "'cut=1': expected round, cut, grid=G"),
        ("laplace:2;min=3;max=1", "expected min below max"),
    ],
)
def test_a_wrong_text_says_what_is_allowed(text, said) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        parse_number_noise(text)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("family", [Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian])
@given(scale=st.floats(0.3, 30.0), share=st.floats(-0.98, 0.98))
@pytest.mark.slow("over half a second")
def test_exponential_moment(family, scale, share) -> None:
    """By mpmath's sum or integral; of the discrete Gaussian it is a bound, tight where sigma > 1.

    Catches a moment too small, which would let a wager grow beyond its price.
    """
    noise = family(scale)
    steepest = noise.steepest if math.isfinite(noise.steepest) else 3.0 / scale
    rate = share * steepest
    found = float(noise.log_moment(np.array(rate)))
    with mpmath.workdps(30):
        r, b = mpmath.mpf(rate), mpmath.mpf(scale)
        if family is Laplace:
            exact = mpmath.quad(
                lambda x: mpmath.cosh(r * x) * mpmath.exp(-x / b) / b, [0, mpmath.inf]
            )
        elif family is Gaussian:
            square = b * mpmath.sqrt(2 * mpmath.pi)
            exact = mpmath.quad(
                lambda x: mpmath.exp(-((x / b) ** 2) / 2 + r * x) / square,
                [-mpmath.inf, -b, b, mpmath.inf],
            )
        elif family is DiscreteLaplace:
            p = mpmath.exp(-1 / b)
            tails = [p * mpmath.exp(s) / (1 - p * mpmath.exp(s)) for s in (r, -r)]
            exact = (1 - p) / (1 + p) * (1 + sum(tails))
        else:
            k = range(-math.ceil(30 * scale) - 30, math.ceil(30 * scale) + 31)
            total = sum(mpmath.exp(-((x / b) ** 2) / 2) for x in k)
            exact = sum(mpmath.exp(-((x / b) ** 2) / 2 + r * x) for x in k) / total
        wanted = float(mpmath.log(exact))
    if family is DiscreteGaussian:
        assert found >= wanted - 1e-12
        if scale > 1.0:
            assert found == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    else:
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)
