"""Draws in bins say of a fault what the laws say, and nothing that the claim would say as often."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpassay.reference.arrays import Vector
from dpassay.reference.numbers import NumberNoise, parse_number_noise
from dpassay.reference.numbers.families import Gaussian, Laplace
from dpassay.verifiers.kinds.numbers.evidence.bins import (
    NONE,
    Placed,
    Placing,
    StepBins,
    TailBins,
    bins_of,
)
from dpassay.verifiers.kinds.numbers.evidence.derived_noise import Held
from dpassay.verifiers.kinds.numbers.evidence.faults import known_faults
from dpassay.verifiers.kinds.numbers.evidence.noise_law import LOST, FaultRatios, NoiseLawEvidence

pytestmark = pytest.mark.usefixtures("logistic")

FINE = ["laplace:2", "gaussian:3", "logistic:2", "laplace:2;grid=2^-20"]
STEPS = ["discrete-laplace:2", "discrete-gaussian:1.5", "laplace:2;round", "gaussian:3;grid=0.5"]


def drawn(noise: NumberNoise, draws: int, exact: float, seed: int = 1) -> Placed:
    rng = np.random.default_rng(seed)
    y = noise.sample(exact, draws, rng)
    return Placing(noise, rng).placed(y, np.full(draws, exact))


def by_laws(placed: Placed) -> Placed:
    """These draws, none of them binned."""
    none = np.full(placed.y.shape, NONE, dtype=np.int64)
    return Placed(placed.y, placed.x, placed.half, placed.uniform, none, 0)


@pytest.mark.parametrize("text", [*FINE, *STEPS])
def test_ratios_of_bins_have_expectation_one(text: str) -> None:
    """The masses of all bins add up to 1, under the claim and every fault that bins show."""
    noise = parse_number_noise(text)
    bins = bins_of(noise)
    assert bins is not None
    claimed = bins.log_claimed
    assert math.fsum(np.exp(claimed)) == pytest.approx(1.0, abs=1e-12)
    laws = [fault.in_bins for fault in known_faults(noise) if fault.in_bins is not None]
    assert len(laws) > 25
    for family, offset in laws:
        ratios = bins.log_masses(family, offset) - claimed
        assert math.fsum(np.exp(claimed + ratios)) == pytest.approx(1.0, abs=1e-10), (
            family,
            offset,
        )


@pytest.mark.parametrize(
    ("text", "law"), [("laplace:2", stats.laplace), ("gaussian:2", stats.norm)]
)
def test_masses_by_another_method(text: str, law: stats.rv_continuous) -> None:
    """scipy's differences over the cells, mpmath's tails; catches bins that are out of order."""
    noise = parse_number_noise(text)
    bins = TailBins(noise.family)
    found = bins.log_masses(noise.family.times(1.25), 0.3)
    edges = law(scale=2.0).ppf(np.arange(1, 1024) / 1024)
    expected = np.diff(law(loc=0.3, scale=2.5).cdf(edges))
    assert np.exp(found[:1022]) == pytest.approx(expected, rel=1e-9)
    with mpmath.workdps(60):
        for level in (10, 40, 200):
            near, far = (law(scale=2.0).isf(2.0**-k) for k in (level, level + 1))
            for sign, start in ((-1, 1022), (1, 1022 + 391)):
                ends = [(mpmath.mpf(sign * end) - mpmath.mpf(0.3)) / 2.5 for end in (near, far)]
                below = [_cdf(text, end) for end in ends]
                mass = abs(below[1] - below[0])
                assert found[start + level - 10] == pytest.approx(float(mpmath.log(mass)), rel=1e-9)


def _cdf(text: str, u: mpmath.mpf) -> mpmath.mpf:
    if text.startswith("gaussian"):
        return mpmath.ncdf(u)
    return mpmath.exp(u) / 2 if u < 0 else 1 - mpmath.exp(-u) / 2


@pytest.mark.parametrize("family", [Laplace(2.0), Gaussian(0.7)])
def test_places_are_those_of_the_masses(family: Laplace | Gaussian) -> None:
    """The middle of every cell and tail lands in its own bin; catches an off-by-one at an edge."""
    bins = TailBins(family)
    cells = (np.arange(1022) + 1.5) / 1024
    log_tail: Vector = np.log(np.minimum(cells, 1 - cells))
    inner = np.where(cells < 0.5, -1.0, 1.0) * family.exceeded(log_tail)
    levels: Vector = np.arange(10.0, 400.0) + 0.5
    tails = family.exceeded(-math.log(2.0) * levels)
    beyond = family.exceeded(np.array([-math.log(2.0) * 410.0]))
    noise = np.concatenate([inner, -tails, -beyond, tails, beyond])
    found, uniform = bins.place(noise)
    assert (found == np.arange(bins.log_claimed.size)).all()
    assert uniform[:1022] == pytest.approx(cells, rel=1e-12)


@pytest.mark.parametrize("text", [*FINE, *STEPS])
def test_bins_of_correct_noise_come_as_often_as_claimed(text: str) -> None:
    """And its transforms are uniform: of seeds, 2 in 10^7 would fail."""
    noise = parse_number_noise(text)
    placed = drawn(noise, 200_000, 8.0)
    bins = bins_of(noise)
    assert bins is not None
    assert (placed.bins != NONE).all()
    expected = 200_000 * np.exp(bins.log_claimed)
    likely = expected > 20
    seen = np.append(placed.counted()[likely], placed.counted()[~likely].sum())
    wanted = np.append(expected[likely], expected[~likely].sum())
    assert stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue > 1e-7
    assert stats.kstest(placed.uniform, "uniform").pvalue > 1e-7


@pytest.mark.parametrize("text", [*FINE, *STEPS])
def test_faults_are_told_as_the_laws_tell_them(text: str) -> None:
    """Sums over draws of half the claimed noise; catches a table of another fault's column."""
    noise = parse_number_noise(text)
    other = drawn(noise.times(0.5), 4_000, 8.0)
    placed = Placing(noise, np.random.default_rng(2)).placed(other.y, other.x)
    bins, faults = bins_of(noise), known_faults(noise)
    by_bins, exact = np.zeros(len(faults)), np.zeros(len(faults))
    FaultRatios(noise, bins).add(placed, {"": None}, {"": by_bins})
    FaultRatios(noise, None).add(by_laws(placed), {"": None}, {"": exact})
    # a single value that has half of the mass shares its bin with its neighbours
    whole = [fault.in_bins is not None and isinstance(fault.in_bins[0], Held) for fault in faults]
    told = np.array([fault.in_bins is not None for fault in faults]) & ~np.array(whole)
    near = 1e-9 if isinstance(bins, StepBins) else 5e-3
    assert by_bins[told] == pytest.approx(exact[told], rel=near, abs=20 * near)
    # the others are looked at draw by draw, either way
    one_by_one = ~told & ~np.array(whole)
    assert by_bins[one_by_one] == pytest.approx(exact[one_by_one], rel=1e-9)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("text", [*FINE, *STEPS])
def test_draws_that_are_no_hit_have_the_ratio_that_is_stated(text: str) -> None:
    noise = parse_number_noise(text)
    placed = drawn(noise, 2_000, 3.0)
    claimed = noise.log_mass(placed.y, placed.x, placed.half)
    for fault in known_faults(noise):
        if fault.in_bins is not None or fault.hits is None:  # all draws are hits
            continue
        missed = ~fault.hits(placed.y, placed.x, placed.half)
        found = fault.law(placed.y, placed.x, placed.half)[missed] - claimed[missed]
        assert found == pytest.approx(np.full(found.size, fault.elsewhere), abs=1e-9), fault.name


@pytest.mark.parametrize(
    ("text", "released", "exact"),
    [
        ("laplace:2;min=0", 3.7, 3.0),
        ("laplace:2", 1e15 + 1.0, 1e15),
        ("discrete-laplace:2", 1e17 + 16.0, 1e17),
        ("discrete-laplace:2", 3.5, 3.0),
        ("laplace:2;round", 3.5, 3.0),
        ("laplace:2;round", 4.0, 3.3),
        ("laplace:2;grid=2^-20", 3.0 + 2.0**-22 + 2.0**-40, 3.0),
    ],
)
def test_what_no_bin_tells_is_left_to_the_laws(text: str, released: float, exact: float) -> None:
    """Clamped, too coarse a float, off the grid, or of an exact value that is off it."""
    placing = Placing(parse_number_noise(text), np.random.default_rng(0))
    placed = placing.placed(np.array([released]), np.array([exact]))
    assert placed.bins.tolist() == [NONE]
    assert [part.tolist() for part in placed.of_left()[:2]] == [[released], [exact]]


@pytest.mark.parametrize("text", STEPS)
@pytest.mark.parametrize("exact", [1e6, 2.0**21, -(2.0**21)])
def test_steps_of_large_counts_in_single_precision_are_their_own(text: str, exact: float) -> None:
    """Whole counts are floats of 24 digits too: 10^6 was not binned, which takes long."""
    noise = parse_number_noise(text)
    rng = np.random.default_rng(5)
    y = noise.sample(exact, 1_000, rng).astype(np.float32).astype(np.float64)
    placed = Placing(noise, rng).placed(y, np.full(1_000, exact), 24)
    step = noise.grid or 1.0
    if abs(exact) < {1.0: 2**22, 0.5: 2**21}[step] - 100:  # a quarter of a step has a float
        bins = bins_of(noise)
        assert isinstance(bins, StepBins)
        assert (placed.bins - bins.reach - 1 == np.rint((y - exact) / step)).all()
    else:
        assert placed.left.all()


@pytest.mark.parametrize("exact", [2.0**40 + 2.0**-10, 2.0**49 + 0.25])
def test_large_exact_values_between_steps_are_not_on_them(exact: float) -> None:
    """Where doubles are a quarter of a step apart, 4 of them are a step: wrong bins."""
    noise = parse_number_noise("gaussian:0.3;grid=0.5")
    assert drawn(noise, 1_000, exact).left.all()


@pytest.mark.parametrize("text", ["discrete-laplace:2", "laplace:2;round", "laplace:2;grid=2^-20"])
def test_a_forbidden_release_among_bins_is_a_proof(text: str) -> None:
    noise = parse_number_noise(text)
    evidence = NoiseLawEvidence(noise, 0)
    y = np.append(noise.sample(8.0, 100, np.random.default_rng(1)), 8.0 + 2.0**-23)
    placed = Placing(noise, np.random.default_rng(2)).placed(y, np.full(101, 8.0))
    if noise.family.whole:  # so near to a whole number, a float stands for it
        placed = Placing(noise, np.random.default_rng(2)).placed(y + 0.25 * (y % 1 > 0), placed.x)
    evidence.observe(placed, {})
    assert evidence.forbidden is not None
    assert evidence.log_e_value == math.inf


@pytest.mark.parametrize(
    ("text", "released"),
    [
        ("gaussian:3", -1e200),
        ("gaussian:3", 1e300),
        ("discrete-gaussian:3", -1e200),
        ("discrete-laplace:2", -3.0 + 2.0**-20),  # just too far from a whole number
        ("laplace:2", -1e300),
        ("gaussian:3;grid=2^-20", -1e200),
    ],
)
def test_one_release_far_off_does_not_silence_the_evidence(text: str, released: float) -> None:
    """Squares overflow there: infinity less infinity was no number, which refutes nothing."""
    noise = parse_number_noise(text)
    evidence = NoiseLawEvidence(noise, 0)
    y = np.append(noise.sample(0.0, 100, np.random.default_rng(1)), released)
    evidence.observe(Placing(noise, np.random.default_rng(2)).placed(y, np.zeros(101)), {})
    assert evidence.log_e_value > 100.0


@pytest.mark.parametrize("text", ["discrete-gaussian:0.02", "discrete-laplace:0.01"])
def test_noise_that_is_nearly_always_0_has_faults_too(text: str) -> None:
    """Its deviation underflows; a claim of it was an error instead of a run."""
    noise = parse_number_noise(text)
    placed = Placing(noise, np.random.default_rng(1)).placed(np.full(50, 8.0), np.full(50, 8.0))
    evidence = NoiseLawEvidence(noise, 0)
    evidence.observe(placed, {})
    assert evidence.log_e_value < 1.0


def test_a_wager_that_is_lost_has_ended() -> None:
    """It keeps what it has, whatever comes: one that came back later would be paid twice."""
    noise = parse_number_noise("laplace:2")
    ratios, sums = FaultRatios(noise, bins_of(noise)), {"": np.zeros(len(known_faults(noise)))}
    bare = next(k for k, fault in enumerate(ratios.faults) if fault.cause.code == "noise-missing")
    ratios.add(drawn(noise, 1_000, 8.0), {"": None}, sums)
    assert sums[""][bare] == pytest.approx(1_000 * math.log(1e-3))
    assert sums[""][bare] < LOST
    same = np.full(1_000, 8.0)
    ratios.add(Placing(noise, np.random.default_rng(1)).placed(same, same), {"": None}, sums)
    assert sums[""][bare] == pytest.approx(1_000 * math.log(1e-3))


def test_groups_have_the_sums_of_their_own_draws() -> None:
    """Catches a mask that is taken of other draws where some are not binned."""
    noise = parse_number_noise("laplace:2")
    rng = np.random.default_rng(3)
    exact = np.where(np.arange(600) % 3 == 0, 1e15, 8.0)
    y = exact + rng.laplace(scale=1.0, size=600)
    y[7] = 8.0  # a hit of missing noise
    placed = Placing(noise, rng).placed(y, exact)
    assert 0 < placed.left.sum() < 600
    chosen = np.arange(600) % 2 == 1
    whole, part = FaultRatios(noise, bins_of(noise)), FaultRatios(noise, bins_of(noise))
    sums = {name: np.zeros(len(whole.faults)) for name in ("odd", "even", "alone")}
    whole.add(placed, {"odd": chosen, "even": ~chosen}, sums)
    y, x, half, uniform = (v[chosen] for v in (placed.y, placed.x, placed.half, placed.uniform))
    alone = Placed(y, x, half, uniform, placed.bins[chosen], placed.size)
    part.add(alone, {"alone": None}, sums)
    assert sums["odd"] == pytest.approx(sums["alone"], rel=1e-9)
    assert abs(sums["odd"] - sums["even"]).max() > 1.0
