"""The law of what is released, at the ends of ranges and in single precision, by enumeration.

Every sum of number and noise is sent through rounding, clamping and the float that carries it, as a
deployment does; what each release has then gathered is compared with the law, which goes the other
way, from a release to the sums behind it.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpassay.reference.numbers import NumberNoise, parse_number_noise
from dpassay.reference.numbers.families import Gaussian

SINGLE, DOUBLE = 24, 53


def carried(numbers: np.ndarray, digits: int) -> np.ndarray:
    """Numbers as a float of so many digits holds them."""
    return numbers.astype(np.float32).astype(np.float64) if digits == SINGLE else numbers


def gathered(noise: NumberNoise, exact: float, digits: int) -> dict[float, float]:
    """Releases and their probabilities, of rounded or whole noise; sums to 40 deviations."""
    step = noise.grid or 1.0
    lift = 0.5 * noise.cut  # of the middle of the sums from each step to the next
    reach = math.ceil(40.0 * noise.family.standard_deviation / step) + 2
    steps = range(-reach, reach + 1)
    first = round(exact / step)
    if step.is_integer():  # sums beyond 2^53 are rounded once
        sums = np.array([float((first + k) * int(step)) for k in steps])
    else:
        sums = np.array([(first + k) * step for k in steps])
    start = first * step
    # of whole noise by the law of one number, else by the cell of sums that are rounded to it
    middles = np.array(steps) * step + (start - exact) + lift
    mass = np.exp(noise.family.log_mass(middles, 0.5 * step))
    if noise.cut:  # sums from -1 to 0 are released as 0, too
        sums = np.where(sums < 0, sums + 1.0, sums)
    released = carried(np.clip(sums, noise.low, noise.high), digits)
    found: dict[float, float] = {}
    for value, one in zip(released.tolist(), mass.tolist(), strict=True):
        found[value] = found.get(value, 0.0) + one
    return found


@pytest.mark.parametrize("digits", [DOUBLE, SINGLE])
@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("laplace:2;round;max=2.3", 1.0),  # the range ends between two steps
        ("laplace:2;round;min=-0.7", 0.0),
        ("gaussian:3;grid=0.5;min=-0.3;max=1.2", 0.2),
        ("gaussian:3;grid=0.25;min=-1;max=2", 0.0),
        ("laplace:0.2;grid=0.1;min=0.1;max=0.7", 0.3),  # no end is a float of either kind
        ("laplace:0.5;grid=0.1", 3.0),
        ("gaussian:0.05;grid=0.01", 1e4),  # a single float is nearly as wide as a step
        ("gaussian:0.05;grid=0.01;max=10000.02", 1e4),
        ("laplace:2;round", 2.0**24),  # two numbers have one single float, or none has it
        ("laplace:3;round;min=16777214;max=16777219", 16_777_217.0),
        ("gaussian:40;grid=4;max=268435472", 2.0**28),
        ("discrete-laplace:2", 1e7),  # a float is a whole number
        ("discrete-laplace:2", 2.0**24 + 5.0),
        ("discrete-gaussian:6", 2.0**25 - 2.0),
        ("discrete-gaussian:2;min=-0.5;max=3.5", 1.0),
        ("discrete-laplace:2;max=16777219", 2.0**24),
        ("laplace:2;round", 2.0**53),
        ("laplace:2;cut", 0.0),
        ("laplace:2;cut", -0.7),
        ("gaussian:3;cut", 3.0),
        ("gaussian:0.4;cut", -1.0),
        ("laplace:2;cut;min=0", 1.0),
        ("laplace:2;cut;min=-2.3;max=0.6", 0.3),
        ("gaussian:3;cut;max=-0.4", -2.0),
        ("laplace:2;cut", -(2.0**24)),
        ("laplace:3;cut;min=16777214;max=16777219", 16_777_217.0),
        ("discrete-laplace:2", 2.0**53),
    ],
)
def test_the_law_of_a_release_gathers_all_sums_behind_it(
    text: str, exact: float, digits: int
) -> None:
    """Catches an end of the range that takes what the step below it has, too, and the reverse."""
    noise = parse_number_noise(text)
    made = gathered(noise, exact, digits)
    assert math.fsum(made.values()) == pytest.approx(1.0, abs=1e-9)
    released = np.array(sorted(made))
    mass = np.array([made[value] for value in released])
    likely = mass > 1e-12  # of what is rarer, a sum in floats has no digits
    half = noise.half_width(released, digits)
    found = np.exp(noise.log_mass(released, exact, half))
    # steps of no power of two are themselves rounded to floats
    off = 1e-9 + 20.0 * float(np.spacing(abs(exact))) / noise.family.scale
    assert found[likely] == pytest.approx(mass[likely], rel=off)
    below = np.concatenate([[0.0], np.cumsum(mass)])
    low, high = (noise.transform(released, exact, u, half) for u in (0.0, 1.0))
    assert low[likely] == pytest.approx(below[:-1][likely], abs=1e-9 + off)
    assert high[likely] == pytest.approx(below[1:][likely], abs=1e-9 + off)
    up = np.exp(noise.log_tail(released, exact, half, upper=True))
    assert up[likely] == pytest.approx(1.0 - below[:-1][likely], abs=1e-9 + off)
    down = np.exp(noise.log_tail(released, exact, half, upper=False))
    assert down[likely] == pytest.approx(below[1:][likely], abs=1e-9 + off)


@pytest.mark.parametrize("exact", [2e14, 1.4e15, 4.8e15, 3.8e16])
@pytest.mark.parametrize("text", ["laplace:2;grid=0.1", "gaussian:3;grid=0.01", "laplace:9;grid=3"])
def test_multiples_of_no_power_of_two_are_told_apart_far_out(text: str, exact: float) -> None:
    """By fractions: quotients beyond 2^53 are whole, so that all floats seemed to be multiples."""
    noise = parse_number_noise(text)
    step = Fraction(noise.grid)
    reach = math.ceil(20.0 * noise.family.scale / noise.grid)
    nearest = round(Fraction(exact) / step)
    multiples = [(nearest + k) * step for k in range(-reach, reach + 1)]
    apart = np.array([float(multiple - Fraction(exact)) for multiple in multiples])
    released, where = np.unique([float(multiple) for multiple in multiples], return_inverse=True)
    mass = np.zeros(released.size)
    np.add.at(mass, where, np.exp(noise.family.log_mass(apart, 0.5 * noise.grid)))
    found = np.exp(noise.log_mass(released, exact))
    inside = slice(1, -1)  # of the floats at the ends, some multiples are left out
    assert found[inside] == pytest.approx(mass[inside], rel=1e-6)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("gaussian:0.5", 2.0**20),  # below a power of two, floats are twice as dense
        ("gaussian:0.5", -(2.0**20)),
        ("gaussian:4;max=16777217", 2.0**24),
        ("gaussian:0.2;min=0.1;max=0.3", 0.2),
    ],
)
def test_single_floats_of_unrounded_noise(text: str, exact: float) -> None:
    """Each has what lies between the middles to its neighbours, clamped first or afterwards."""
    noise = parse_number_noise(text)
    assert isinstance(noise.family, Gaussian)
    ends = [np.float32(end) for end in (noise.low, noise.high)]
    floats = [np.float32(exact)]
    for way in (np.float32(-np.inf), np.float32(np.inf)):
        one = np.float32(exact)
        for _ in range(300):
            one = np.nextafter(one, way)
            floats.append(one)
    inside = sorted({float(min(max(one, ends[0]), ends[1])) for one in floats})
    if exact == 0.2:  # too many to enumerate: only the ends
        inside = [float(end) for end in ends]
    for value in inside:
        one = np.float32(value)
        down, up = (float(np.nextafter(one, np.float32(way))) for way in (-np.inf, np.inf))
        with mpmath.workdps(40):
            low = mpmath.mpf((value + down) / 2 - exact) / noise.family.scale
            high = mpmath.mpf((value + up) / 2 - exact) / noise.family.scale
            low = mpmath.mpf("-inf") if value == float(ends[0]) else low
            high = mpmath.mpf("inf") if value == float(ends[1]) else high
            mass = float(mpmath.ncdf(high) - mpmath.ncdf(low))
        if mass < 1e-12:
            continue
        half = noise.half_width(np.array([value]), SINGLE)
        found = float(np.exp(noise.log_mass(np.array([value]), exact, half))[0])
        assert found == pytest.approx(mass, rel=1e-6), value


def test_what_lies_off_a_fine_grid_is_forbidden() -> None:
    """A grid finer than 2^-24 of the scale held no release: half a step off was allowed."""
    noise = parse_number_noise("laplace:2;grid=2^-40")
    on = np.array([3.0 + 5 * 2.0**-40, 1e4, -(2.0**-40), np.float32(0.1)])
    off = np.array([3.0 + 2.0**-41, 0.1])
    assert np.isfinite(noise.log_mass(on[:3], 0.0)).all()
    assert np.isneginf(noise.log_mass(off, 0.0)).all()


@pytest.mark.parametrize("text", ["laplace:1;max=0.1", "laplace:1;grid=0.1;min=0.1;max=0.7"])
def test_beyond_the_range_nothing_is_allowed(text: str) -> None:
    """A single float's end lies a hair outside; what lies further out is forbidden."""
    noise = parse_number_noise(text)
    end = float(np.float32(noise.high))
    assert np.isfinite(noise.log_mass(np.array([end, noise.high]), 0.0)).all()
    further = np.array([noise.high + 2.0 * abs(end - noise.high), noise.high + 1.0])
    assert np.isneginf(noise.log_mass(further, 0.0)).all()


def test_a_move_is_not_lost_in_a_far_number() -> None:
    """Beside 1e17 a move of 1 is nothing to a float: it is taken off the difference."""
    noise = parse_number_noise("laplace:1")
    far, near = (noise.log_mass(np.array([at + 16.0]), at, moved=1.0) for at in (1e17, 0.0))
    wide = noise.log_mass(np.array([16.0]), 0.0, np.array([8.0]), moved=1.0)
    assert far == pytest.approx(wide)
    assert near != pytest.approx(wide)
