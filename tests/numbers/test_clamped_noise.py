"""Noise that is clamped or cut, and ranges that end beside one of its values."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpassay.reference.arrays import Vector
from dpassay.reference.numbers import NumberNoise, parse_number_noise
from dpassay.verifiers.kinds.numbers.evidence.copies import SHARES, matches
from dpassay.verifiers.kinds.numbers.evidence.derived_noise import CutNoise, Folded, Held
from dpassay.verifiers.kinds.numbers.evidence.faults import FaultKind, known_faults, log_ratios
from dpassay.verifiers.kinds.numbers.evidence.moved import MovedTooFar

pytestmark = pytest.mark.usefixtures("logistic")

# -- noise that is clamped repeats honestly, and its atoms lie where the claim puts them


LAWS = (
    "discrete-laplace:1",
    "discrete-laplace:1;min=0",
    "discrete-gaussian:2;min=0;max=3",
    "laplace:1;round;min=-1",
    "gaussian:3;grid=0.25;min=0",
    "gaussian:3;grid=0.25;min=-1;max=2",
    "gaussian:0.5;grid=0.25;min=0;max=0.25",
    "laplace:1;cut",
    "laplace:1;cut;min=-1",
    "logistic:1;round;min=-1",
)


def outcomes(text: str, exact: float) -> tuple[np.ndarray, np.ndarray]:
    """Every possible release, and its probability."""
    noise = parse_number_noise(text)
    step = noise.grid or 1.0
    around = np.arange(-60.0, 61.0) * step + (exact if noise.family.whole else 0.0)
    found = np.unique(np.clip(around, noise.low, noise.high))
    return found, np.exp(noise.log_mass(found, np.full(found.shape, exact)))


@pytest.mark.parametrize("text", LAWS)
@pytest.mark.parametrize("exact", [0.0, 1.0, 5.0])
def test_a_wager_on_copies_expects_at_most_1(text: str, exact: float) -> None:
    """Every earlier noise, of inputs of which some were clamped: by enumeration."""
    noise = parse_number_noise(text)
    released, mass = outcomes(text, exact)
    for copied in np.unique(np.concatenate([outcomes(text, at)[0] - at for at in (0.0, 2.0)])):
        shape = (released.size, 1)
        found, chance = matches(
            noise,
            released[:, None],
            np.full(shape, exact),
            np.full(shape, copied),
        )
        for share in SHARES:
            gain = np.full(released.size, 1.0 - share)
            gain[found] += share * np.exp(-chance)
            assert float(mass @ gain) <= 1.0 + 1e-6, (copied, share)


def test_a_copy_at_the_end_of_the_range_is_told_by_its_chance() -> None:
    """A count of 0 is released as 0 with probability .731: a copy there gains no more."""
    noise = parse_number_noise("discrete-laplace:1;min=0")
    zero = np.zeros((1, 1))
    found, chance = matches(noise, zero, zero, zero)
    assert found.all()
    assert chance[0] == pytest.approx(math.log(1.0 / (1.0 + math.exp(-1.0))))


def test_a_copy_a_hair_within_the_range_may_be_held_at_its_end() -> None:
    """What floats lose reaches the end, which comes with probability .303 and no less."""
    noise = parse_number_noise("laplace:2;min=0")
    one, copied = np.ones((1, 1)), np.full((1, 1), -1.0 + 1e-9)
    found, chance = matches(noise, np.zeros((1, 1)), one, copied)
    assert found.all()
    assert chance[0] == pytest.approx(math.log(0.5 * math.exp(-0.5)), abs=1e-6)


@pytest.mark.parametrize("text", LAWS)
@pytest.mark.parametrize("short", [0.0, 0.5, 2.0])
def test_a_wager_on_a_move_expects_at_most_1(text: str, short: float) -> None:
    """For every centre up to the allowed one, on either side: by enumeration."""
    noise = parse_number_noise(text)
    allowed = 1.0
    for sign in (1.0, -1.0):
        released, mass = outcomes(text, sign * (allowed - math.ceil(short)))
        evidence = MovedTooFar(noise, released.size)  # one coordinate for each outcome
        row = released[None, :]
        evidence.observe(row, np.zeros(released.size), allowed, noise.half_width(row))
        expected = np.tensordot(mass, np.exp(evidence.gains), axes=(0, 1))
        assert expected.max() <= 1.0 + 1e-6, expected


@pytest.mark.parametrize(
    ("text", "exact", "kind"),
    [
        ("laplace:2;round;max=2.3", 2.0, np.float64),
        ("laplace:0.5;grid=0.1", 3.0, np.float32),
        ("gaussian:0.05;grid=0.01", 1e4, np.float32),
        ("laplace:2;round", 2.0**24, np.float32),
        ("discrete-laplace:2", 1e7, np.float32),
        ("laplace:1;min=0.1;max=0.7", 0.3, np.float32),
        ("laplace:2;cut", 1.0, np.float64),
        ("gaussian:2;cut", 2.0**24, np.float32),
    ],
)
def test_correct_noise_is_not_accused_at_ends_and_in_single_precision(
    text: str, exact: float, kind: type[np.float64] | type[np.float32]
) -> None:
    """2,000 draws; any wager exceeds the bound once in a million times. All but the fourth did."""
    noise, numbers = parse_number_noise(text), np.full(2_000, exact)
    drawn = noise.sample(numbers, 1, np.random.default_rng(0))[0].astype(kind).astype(np.float64)
    half = noise.half_width(drawn, 24 if kind is np.float32 else 53)
    log_p = noise.log_mass(drawn, numbers, half)
    assert np.isfinite(log_p).all()
    ratios, _ = log_ratios(known_faults(noise), noise, drawn, numbers, half)
    assert ratios.sum(0).max() < math.log(1e6 * ratios.shape[1])


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("discrete-laplace:2", 2.0**24 + 5.0),  # two numbers have one single float
        ("laplace:2;round", 2.0**24),
        ("gaussian:0.05;grid=0.01", 1e4),  # a float is nearly as wide as a step
        ("discrete-laplace:2;max=16777219", 2.0**24),
    ],
)
@pytest.mark.parametrize("digits", [24, 53])
def test_copies_and_bare_values_in_floats_that_are_coarse(
    text: str, exact: float, digits: int
) -> None:
    """By enumeration of what a float of so many digits makes of each sum, as the law has it.

    Catches a copy, or a release without noise, that is priced as a single number where a float
    stands for two: an expectation of up to 3.25 in single precision.
    """
    noise = parse_number_noise(text)
    released, mass = carried(text, exact, digits)
    half = noise.half_width(released, digits)
    shape = np.full(released.shape, exact)
    missing = tuple(fault for fault in known_faults(noise) if fault.kind is FaultKind.MISSING)
    ratios, _ = log_ratios(missing, noise, released, shape, half)
    assert mass @ np.exp(ratios) == pytest.approx(np.ones(len(missing)), abs=1e-6)
    for copied in np.unique(released - exact):
        found, chance = matches(noise, released, shape, np.full(released.shape, copied), digits)
        for share in SHARES:
            gain = np.full(released.size, 1.0 - share)
            gain[found] += share * np.exp(-chance)
            assert float(mass @ gain) <= 1.0 + 1e-6, (copied, share)


def carried(text: str, exact: float, digits: int) -> tuple[np.ndarray, np.ndarray]:
    """Every possible release (n,) in floats of so many digits, and its probability."""
    noise = parse_number_noise(text)
    step = noise.grid or 1.0
    first = round(exact / step)
    sums = (first + np.arange(-90.0, 91.0)) * step
    mass = np.exp(noise.family.log_mass(sums - exact, 0.5 * step))
    released = np.clip(sums, noise.low, noise.high)
    if digits == 24:
        released = released.astype(np.float32).astype(np.float64)
    values, places = np.unique(released, return_inverse=True)
    return values, np.bincount(places.ravel(), mass)


# -- noise cut to whole numbers: its law, and what it is told as


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("family", ["discrete-laplace:2", "laplace:2", "discrete-gaussian:3"])
def test_the_law_is_that_of_cut_draws(family: str, down: bool) -> None:
    """By the masses of the intervals that are cut to each number; catches a step beside zero."""
    of = parse_number_noise(family).family
    cut = CutNoise(of, 1.0, down=down)
    numbers = np.arange(-60.0, 61.0)
    masses = np.exp(cut.log_mass(numbers, np.full(numbers.size, 0.5)))
    continuous = parse_number_noise(family.removeprefix("discrete-")).family
    edges = {
        n: (n, n + 1) if down or n > 0 else (n - 1, n) if n < 0 else (-1.0, 1.0) for n in numbers
    }
    ends = np.array([edges[n] for n in numbers])
    wanted = np.exp(continuous.log_cdf(ends[:, 1])) - np.exp(continuous.log_cdf(ends[:, 0]))
    assert np.abs(masses - wanted).max() < 1e-12
    assert np.abs(np.exp(cut.log_cdf(numbers)) - np.cumsum(masses)).max() < 1e-10
    both = np.exp(cut.log_cdf(numbers)) + np.exp(cut.log_survival(numbers))
    assert np.abs(both - 1.0).max() < 1e-12


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("law", [Folded, Held])
@pytest.mark.parametrize("family", ["discrete-laplace:2", "laplace:2", "gaussian:3", "logistic:2"])
def test_one_sided_laws_are_those_of_their_draws(
    family: str, law: type[Folded | Held], up: bool
) -> None:
    """By the masses of single numbers, or cells; catches an atom that is counted twice."""
    of = parse_number_noise(family).family
    cells = np.arange(-60.0, 61.0)
    half = np.full(cells.size, 0.5)
    plain = np.exp(of.log_mass(cells, half))
    masses = np.exp(law(of, up=up).log_mass(cells, half))
    wanted = plain if up else plain[::-1]
    wanted = np.where(cells > 0, 2.0 * wanted if law is Folded else wanted, 0.0)
    wanted[60] = 1.0 - wanted.sum()
    wanted = wanted if up else wanted[::-1]
    assert np.abs(masses - wanted).max() < 1e-10
    ends = cells + 0.5
    assert np.abs(np.exp(law(of, up=up).log_cdf(ends)) - np.cumsum(masses)).max() < 1e-10
    both = np.exp(law(of, up=up).log_cdf(ends)) + np.exp(law(of, up=up).log_survival(ends))
    assert np.abs(both - 1.0).max() < 1e-12


def test_rounded_noise_is_no_discrete_noise() -> None:
    cut = CutNoise(parse_number_noise("discrete-laplace:2").family, 1.0, down=True, ahead=0.5)
    numbers = np.arange(-40.0, 41.0)
    of = parse_number_noise("laplace:2").family
    masses = np.exp(cut.log_mass(numbers, np.full(numbers.size, 1e-9)))
    assert masses == pytest.approx(np.exp(of.log_mass(numbers, np.full(numbers.size, 0.5))))


@pytest.mark.parametrize(
    ("text", "exact"), [("laplace:2;grid=0.1", 0.05), ("laplace:0.1;grid=0.3", 0.15)]
)
def test_masses_sum_to_one_where_a_step_is_no_binary_fraction(text: str, exact: float) -> None:
    """Catches neighbouring steps that overlap, as floats decide on which side a half lies."""
    noise = parse_number_noise(text)
    cut = replace(noise, family=CutNoise(noise.family, noise.grid, down=False))
    released = noise.grid * np.arange(-2_000.0, 2_001.0)
    total = np.exp(cut.log_mass(released, np.full(released.size, exact))).sum()
    assert 0.99 < total <= 1.0 + 1e-9


# -- copies of noise where a range ends beside a value that the noise can have


CASES = [
    ("laplace:3;round;max=7.2", 5.0, 6.0),
    ("laplace:3;round;min=-0.2", 1.2, 2.1),
    ("laplace:2;grid=0.5;min=-0.1;max=3.1", 1.0, 1.4),
    ("laplace:2;grid=0.5;min=-0.1;max=3.1", 0.3, 0.3),
    ("discrete-laplace:3;min=0;max=12", 0.9, 1.9),
    ("discrete-laplace:3;min=0", 3.9, 3.9),
    ("discrete-gaussian:2;min=0.8;max=5.3", 3.0, 2.1),
]


def law(noise: NumberNoise, exact: float, digits: int) -> tuple[Vector, Vector]:
    """Values that are released, and their probabilities, by the noise that makes them."""
    if noise.family.whole:
        drawn, half = np.arange(-100.0, 101.0), 0.25
    else:
        ends = np.linspace(-50.0, 50.0, 20_001)
        drawn, half = 0.5 * (ends[1:] + ends[:-1]), 0.0025
    released = noise.rounded(exact + drawn)
    if digits == 24:
        released = released.astype(np.float32).astype(np.float64)
    values, place = np.unique(released, return_inverse=True)
    chance = np.exp(noise.family.log_mass(drawn, np.full(drawn.size, half)))
    return values, np.asarray(np.bincount(place, chance), dtype=np.float64)


@pytest.mark.parametrize("digits", [24, 53])
@pytest.mark.parametrize(("text", "before", "now"), CASES)
def test_the_expectation_is_at_most_one(text: str, before: float, now: float, digits: int) -> None:
    """Over two fresh releases; it was up to 11: an end matched what a step beside it is priced at.

    A correct deployment with `laplace:3;round;max=7.2` failed in every run.
    """
    noise = parse_number_noise(text)
    earlier, likely = law(noise, before, digits)
    later, chances = law(noise, now, digits)
    expected = np.zeros(SHARES.size)
    for value, probability in zip(earlier, likely, strict=True):
        shape = (later.size, 1)
        found, chance = matches(
            noise, later[:, None], np.full(shape, now), np.full(shape, value - before), digits
        )
        for place, share in enumerate(SHARES):
            gains = np.full(later.size, 1.0 - share)
            gains[found] += share * np.exp(-chance)
            expected[place] += probability * float(gains @ chances)
    assert (expected <= 1.0 + 1e-3).all()
