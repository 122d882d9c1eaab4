"""Wagers on bare releases, bare numbers and equal noise have expectation 1 at most."""

import itertools
import math

import numpy as np
import pytest

from dpassay.reference.arrays import Vector
from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.numbers.noise import NumberNoise
from dpassay.verifiers.kinds.numbers.evidence import shared_columns
from dpassay.verifiers.kinds.numbers.evidence.bare import (
    RELEASES,
    BareEvidence,
    log_chance_of_bare,
    rarest_seen,
)
from dpassay.verifiers.kinds.numbers.evidence.shared_columns import (
    SharedColumns,
    cell_of,
    cells_of,
    log_chance_alike,
)

pytestmark = pytest.mark.usefixtures("logistic")

LAWS = ("discrete-laplace:0.6", "discrete-gaussian:0.9", "laplace:0.6;round", "laplace:0.6;cut")
CLAMPED = ("discrete-laplace:0.6;min=0;max=2", "laplace:0.6;round;min=0", "laplace:0.6;grid=0.5")
REACH = 14


def law(noise: NumberNoise, exact: float) -> tuple[np.ndarray, np.ndarray]:
    """Every release of an exact number, but for some 1e-9, and its probability."""
    step = noise.grid or 1.0
    base = np.rint(exact / step) * step if noise.grid else exact
    values = np.unique(noise.rounded(base + step * np.arange(-2 * REACH, 2 * REACH + 1)))
    shares = np.exp(noise.log_mass(values, exact))
    assert shares.sum() == pytest.approx(1.0, abs=1e-9)
    kept = shares > 1e-6
    return values[kept], shares[kept]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("exact", [(3.0, 0.0), (0.3, 1.0)])
@pytest.mark.parametrize("text", [*LAWS, *CLAMPED])
def test_bare_wagers_have_expectation_one(text: str, exact: tuple[float, float]) -> None:
    """By every release of two numbers; a price taken for another exact number would show."""
    noise = parse_number_noise(text)
    (one, p), (other, q) = (law(noise, x) for x in exact)
    mean = 0.0
    for (y, a), (z, b) in itertools.product(zip(one, p, strict=True), zip(other, q, strict=True)):
        evidence = BareEvidence(noise, 2)
        evidence.observe(np.array([[y, z]]), np.array([exact]))
        mean += a * b * math.exp(evidence.log_e_value)
    assert 0.998 < mean < 1.0 + 1e-9


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("text", [*LAWS, *CLAMPED])
def test_as_many_pairs_are_equal_as_priced(
    text: str, folded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of one release of two numbers, enumerated; for whole noise the price is exact."""
    noise, exact = parse_number_noise(text), (3.0, 1.0 if text.startswith("discrete") else 0.3)
    chance = log_chance_alike(noise, cell_of(noise), folded=folded)
    monkeypatch.setattr(shared_columns, "_NATS", -0.5 * chance)
    assert SharedColumns(noise, 2, folded=folded).block == 1
    mean = 0.0
    laws = [zip(*law(noise, x), strict=True) for x in exact]
    for made in itertools.product(*laws):
        evidence = SharedColumns(noise, 2, folded=folded)
        released = np.array([[y for y, _ in made]])
        evidence.observe(*cells_of(noise, released, np.array([exact])))
        mean += math.prod(share for _, share in made) * math.exp(evidence.log_e_value)
    assert mean < 1.0 + 1e-9
    assert mean > (0.998 if text in LAWS[:2] else 0.2)


@pytest.mark.parametrize(
    "text", ["gaussian:2;grid=2", "laplace:0.5;round", "laplace:2;grid=3", "laplace:1;cut"]
)
def test_sums_half_a_step_off_the_grid_are_alike_no_oftener_than_priced(text: str) -> None:
    """Catches two steps in one cell, by rounding of a half to the even number beside it."""
    noise = parse_number_noise(text)
    cell, step = cell_of(noise), noise.grid
    for exact in (0.5 * step, 1.5 * step, 0.0):
        values, shares = law(noise, exact)
        cells, unfit = cells_of(noise, values[:, None], np.full((values.size, 1), exact))
        assert not unfit.any()
        assert np.unique(cells).size == values.size
        for folded in (False, True):
            alike = math.exp(log_chance_alike(noise, cell, folded=folded))
            kept = np.where(folded & (cells[:, 0] < 0), -cells[:, 0], cells[:, 0])
            masses = np.array([shares[kept == which].sum() for which in np.unique(kept)])
            assert np.square(masses).sum() <= alike * (1.0 + 1e-9)


def test_a_block_that_is_not_full_has_lost_what_it_may_lose() -> None:
    """Catches looks at which other wagers have seen releases that these have not."""
    noise = parse_number_noise("discrete-laplace:2")
    pairs, rng = SharedColumns(noise, 10, folded=False), np.random.default_rng(3)
    exact = np.zeros((pairs.block - 1, 10))
    released = (
        np.tile(np.arange(10.0), (pairs.block - 1, 1)) + rng.integers(0, 2, exact.shape) * 1.0
    )
    pairs.observe(*cells_of(noise, released, exact))
    assert pairs.log_e_value == pytest.approx(math.log(np.mean(1.0 - shared_columns.SHARES)))


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("text", ["laplace:2", "gaussian:3", "logistic:2", "laplace:2;grid=2^-40"])
def test_continuous_noise_is_in_one_cell_no_oftener_than_priced(text: str, folded: bool) -> None:
    """The sum of squares of the cells' probabilities, and of cells that lie elsewhere."""
    noise = parse_number_noise(text)
    cell = cell_of(noise)
    assert cell == noise.family.scale * 2.0**-8
    starts = cell * (np.arange(-6_000, 6_000) + 0.3 * (not folded))
    middles: Vector = np.asarray(starts + 0.5 * cell, dtype=np.float64)
    masses = np.exp(noise.family.log_mass(middles, 0.5 * cell))
    if folded:
        masses = masses[:6_000][::-1] + masses[6_000:]
    assert math.log(np.square(masses).sum()) < log_chance_alike(noise, cell, folded=folded)


def null_run(noise: NumberNoise, width: int, rng: np.random.Generator) -> tuple[float, float]:
    """The highest log-evidence of 40 looks at releases of both kinds of wagers."""
    bare, pairs = BareEvidence(noise, width), SharedColumns(noise, width, folded=False)
    exact = np.tile(rng.integers(0, 50, width).astype(float), (10, 1))
    most = [0.0, 0.0]
    for _ in range(40):
        released = noise.sample(exact[0], 10, rng)
        bare.observe(released, exact)
        pairs.observe(*cells_of(noise, released, exact))
        most = [max(most[0], bare.log_e_value), max(most[1], pairs.log_e_value)]
    return most[0], most[1]


@pytest.mark.slow("2,000 runs: what the enumerations show of one look, of many")
def test_a_tenth_of_correct_runs_ever_reach_ten() -> None:
    """Null: 2,000 runs over five laws; Ville allows 200, 260 come once in a million."""
    laws = ["discrete-laplace:2", "discrete-laplace:0.1", "laplace:2", "discrete-laplace:2;min=0"]
    noises = [parse_number_noise(text) for text in [*laws, "gaussian:1;round"]]
    rng, over = np.random.default_rng(5), np.zeros(2)
    for run in range(2_000):
        found = null_run(noises[run % 5], (3, 10, 60)[run % 3], rng)
        over += np.array(found) >= math.log(10.0)
    assert (over < 260).all(), over


def test_what_is_never_rare_is_not_promised() -> None:
    """Three cells are often bare together; ten hardly ever."""
    noise = parse_number_noise("discrete-laplace:2")
    few, many = (log_chance_of_bare(noise, np.zeros(d)) for d in (3, 10))
    assert few == pytest.approx(3 * math.log(math.tanh(0.25)))
    assert rarest_seen(few, 600, 17.0) == RELEASES[0]
    seen = rarest_seen(many, 6_000, 17.0)
    assert seen is not None
    assert seen <= 1 / 200
    assert rarest_seen(0.0, 10**6, 17.0) is None


def test_a_bare_release_that_may_never_come_is_not_promised() -> None:
    """One in 5,000 was, after 881 releases of 200 numbers, of which 16 in 100 runs have one."""
    for releases in (881, 6_000):
        seen = rarest_seen(-400.0, releases, 17.0)
        assert seen is not None
        assert 1.0 - (1.0 - seen) ** releases >= 0.99


def test_columns_too_coarse_for_floats_say_nothing() -> None:
    """A number of 10^12 in a single float: noise is on a grid of 65,536, and alike by chance."""
    noise = parse_number_noise("laplace:2")
    pairs = SharedColumns(noise, 4, folded=False)
    exact = np.full((60, 4), 1e12)
    pairs.observe(*cells_of(noise, exact, exact, 24))
    assert pairs.blocks > 0
    assert pairs.log_e_value < 0.0
