"""Wagers on noise that is used again: each over its null, enumerated, and looked at early."""

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

from dpassay.reference.arrays import Matrix, Vector
from dpassay.reference.numbers import NumberNoise, parse_number_noise
from dpassay.verifiers.kinds.numbers.evidence.continued import (
    ContinuedNoise,
    NoiseSteps,
    Predictability,
    RepeatedReleases,
)
from dpassay.verifiers.kinds.numbers.evidence.copies import LearnedCopies

pytestmark = pytest.mark.usefixtures("logistic")

FEW = (
    "discrete-laplace:0.9;min=-1;max=1",
    "discrete-gaussian:1.3;min=0;max=2",
    "laplace:0.8;round;min=-1;max=1",
    "laplace:0.8;cut;min=0;max=2",
    "gaussian:0.7;grid=0.5;min=0;max=1",
)
"""Noise of which three numbers can be released, so that all that can come is enumerated."""

Wealth = Callable[[LearnedCopies, NumberNoise, Matrix, Matrix], None]


def all_releases(noise: NumberNoise, exact: Vector) -> Iterator[tuple[Vector, float]]:
    """What can be released of exact numbers (n,), and with which chance."""
    values: Vector = noise.low + (noise.grid or 1.0) * np.arange(3.0)
    chances = np.exp([noise.log_mass(values, np.full(3, x)) for x in exact])
    assert chances.sum(1) == pytest.approx(np.ones(exact.size))
    for which in product(range(3), repeat=exact.size):
        yield (
            np.asarray(values[list(which)], dtype=np.float64),
            float(chances[np.arange(exact.size), list(which)].prod()),
        )


def expectation(text: str, exact: Matrix, watch: Wealth, honest: float) -> Vector:
    """Expectations of each wager (k,), and of their mixture, over all releases (n, d)."""
    noise, total, told = parse_number_noise(text), np.zeros(26), 0.0
    for releases, chance in all_releases(noise, exact.ravel()):
        evidence = LearnedCopies(honest)
        watch(evidence, noise, releases.reshape(exact.shape), exact)
        found = np.append(evidence.log_ratios, evidence.log_e_value)
        total += chance * np.exp(found)
        told += chance * evidence.matches
    assert told > 0.1  # a repeat is no rare event here
    return total


def in_two_parts(y: Matrix) -> Iterator[slice]:
    yield slice(0, 2)
    yield slice(2, len(y))


SOME = [
    pytest.param(text, marks=[pytest.mark.slow("more laws of three numbers")] * (place in (1, 3)))
    for place, text in enumerate(FEW)
]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("text", SOME)
def test_what_goes_on_as_before_is_fair(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contexts of one number, with either sign, and exact values that change."""
    monkeypatch.setattr(Predictability, "context", lambda *_: 1)

    def watch(evidence: LearnedCopies, noise: NumberNoise, y: Matrix, x: Matrix) -> None:
        runs = ContinuedNoise(noise, 1)
        for part in in_two_parts(y):
            runs.observe(evidence, y[part], x[part], 53)

    exact = np.array([[0.0], [0.0], [1.0], [0.0], [1.0]])
    honest = Predictability.of(parse_number_noise(text)).alike
    assert (expectation(text, exact, watch, honest) <= 1.0 + 1e-9).all()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("text", "forms"),
    [
        (FEW[0], True),
        *(
            pytest.param(text, forms, marks=pytest.mark.slow("more laws of three numbers"))
            for text, forms in product(FEW, (False, True))
            if (text, forms) != (FEW[0], True)
        ),
    ],
)
def test_whole_releases_are_fair(text: str, forms: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are, and turned: of two numbers, three releases."""
    monkeypatch.setattr("dpassay.verifiers.kinds.numbers.evidence.continued._LEAST", 0.0)

    def watch(evidence: LearnedCopies, noise: NumberNoise, y: Matrix, x: Matrix) -> None:
        whole = RepeatedReleases(noise, y.shape[1], forms=forms)
        for part in in_two_parts(y):
            whole.observe(evidence, NoiseSteps.of(noise, y[part], x[part], 53))

    exact = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])  # 729 ways
    assert (expectation(text, exact, watch, 0.0) <= 1.0 + 1e-9).all()


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("discrete-laplace:2", 2.5),
        ("discrete-laplace:2;min=0", 0.3),
        ("laplace:2;grid=3;max=1000", 1000.0),
        ("laplace:2;round;min=0.6", 0.7),
        ("laplace:2;cut", 0.7),
        ("gaussian:2;grid=2", 3.0),
    ],
)
def test_every_release_has_steps_of_its_own(text: str, exact: float) -> None:
    """Catches two that share them, each of which is then priced as if it were alone."""
    noise = parse_number_noise(text)
    base = exact if noise.family.whole else np.rint(exact / noise.grid) * noise.grid
    values = np.unique(noise.rounded(base + (noise.grid or 1.0) * np.arange(-20.0, 21.0)))
    steps = NoiseSteps.of(noise, values[:, None], np.full((values.size, 1), exact), 53).steps
    assert np.unique(steps).size == values.size > 15


@pytest.mark.parametrize("honest", [0.0, 0.2])
def test_a_learned_share_is_fair(honest: float) -> None:
    """Exactly so: seven draws that match with known chances, in two groups and two parts."""
    chance = np.array([0.5, 0.1, 0.02, 0.3, 0.9, 0.02, 0.1])
    groups, total = np.array([0, 0, 1, 0, 1, 1, 0]), 0.0
    for bits in product((False, True), repeat=chance.size):
        matched = np.array(bits)
        evidence = LearnedCopies(honest)
        for part in (slice(0, 4), slice(4, None)):
            seen = matched[part]
            evidence.observe(seen, np.log(chance[part][seen]), groups[part])
        likely = np.where(matched, chance, 1.0 - chance).prod()
        total += float(likely * math.exp(evidence.learned))
    assert total == pytest.approx(1.0, abs=1e-12)


def test_a_share_is_learned_from_few() -> None:
    """Five copies among 10,000 draws, each as unlikely as e^-20: no share of the grid is as low."""
    matched = np.zeros(10_000, dtype=bool)
    matched[1_999::2_000] = True
    evidence = LearnedCopies()
    evidence.observe(matched, np.full(5, -20.0))
    assert evidence.learned > 40.0
    assert evidence.log_e_value == pytest.approx(evidence.learned - math.log(2.0))


@pytest.mark.parametrize(
    ("turn", "found"),
    [
        (lambda z: z, True),
        (lambda z: -z, True),
        (lambda z: np.roll(z, 3), True),
        (lambda z: -np.roll(z[::-1], 1), True),
        (np.sort, False),
        (lambda z: z * np.array([-1, 1, 1, 1, 1]), False),
    ],
)
def test_forms_of_a_release(turn: Callable[[Vector], Vector], found: bool) -> None:
    noise = parse_number_noise("discrete-gaussian:9")
    first = np.array([3.0, -7.0, 1.0, 12.0, 5.0])
    rows = np.array([first, turn(first)])
    whole, evidence = RepeatedReleases(noise, 5, forms=True), LearnedCopies()
    whole.observe(evidence, NoiseSteps.of(noise, rows, np.zeros(rows.shape), 53))
    assert evidence.matches == found


@pytest.mark.parametrize(
    "text", ["laplace:2", "logistic:2", "discrete-laplace:2", "gaussian:3;round"]
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("parts", [1, 7])
def test_a_run_is_found_wherever_it_lies(text: str, sign: float, parts: int) -> None:
    """80 numbers again after 4,000, begun anywhere in a release; nothing else is."""
    noise, rng = parse_number_noise(text), np.random.default_rng(4)
    drawn = np.asarray(noise.family.sample(rng, (6_000,)))
    drawn[5_003:5_083] = sign * drawn[1_001:1_081]
    exact = rng.integers(0, 50, (600, 10)).astype(float)
    released = noise.rounded(exact + drawn.reshape(600, 10))
    runs = ContinuedNoise(noise, 10)
    evidence = LearnedCopies(runs.honest)
    for y, x in zip(np.array_split(released, parts), np.array_split(exact, parts), strict=True):
        runs.observe(evidence, y, x, 53)
    assert evidence.matches >= 80 - runs.context
    assert evidence.log_e_value > 60.0


def test_a_context_tells_one_place_of_many() -> None:
    """2.4 nats a number: 7 tell one of 2^17; of noise without rounding one does."""
    for text, wanted in (
        ("discrete-laplace:2", 7),
        ("laplace:2", 1),
        ("discrete-laplace:0.01", 64),
    ):
        assert ContinuedNoise(parse_number_noise(text), 10).context == wanted
    telling = Predictability.of(parse_number_noise("discrete-laplace:2"))
    a = math.exp(-0.5)
    assert telling.alike == pytest.approx((1 - a) * (1 + a * a) / (1 + a) ** 3)
    geometric = math.log((1 + a) / (1 - a)) + 0.5 * 2 * a / (1 - a * a)
    assert telling.entropy == pytest.approx(geometric)


def test_what_is_remembered_of_runs_is_bounded() -> None:
    """The older half is forgotten, and what follows is compared with what is left."""
    noise, rng = parse_number_noise("laplace:2"), np.random.default_rng(6)
    runs, evidence = ContinuedNoise(noise, 16), LearnedCopies()
    for _ in range(5):
        rows = rng.laplace(scale=2.0, size=(4_096, 16))
        runs.observe(evidence, rows, np.zeros(rows.shape), 53)
    assert runs._copied.size <= 1 << 18
    assert evidence.log_e_value < math.log(1e6)
    runs.observe(evidence, rows[:20], np.zeros((20, 16)), 53)
    assert evidence.log_e_value > 1_000.0


@pytest.mark.slow("500 runs")
def test_evidence_is_rarely_high_under_the_null() -> None:
    """At any of five looks, of each wager: by Ville's inequality 10 in a tenth of the runs at most.

    Scales at which repeats are frequent among them. 500 runs; six deviations above a tenth, and
    above a hundredth, would be seen in one of 10^9.
    """
    laws = (
        "discrete-laplace:2",
        "discrete-laplace:0.3",
        "discrete-gaussian:0.5",
        "gaussian:1;round",
    )
    high = np.zeros((4, 2))
    for run in range(500):
        noise, width = parse_number_noise(laws[run % 4]), (1, 3, 10, 40)[run // 4 % 4]
        rng = np.random.default_rng([run, 8])
        runs = [ContinuedNoise(noise, width), ContinuedNoise(noise, width, 8)]
        whole = [RepeatedReleases(noise, width), RepeatedReleases(noise, width, forms=True)]
        evidence = [LearnedCopies(each.honest) for each in runs] + [LearnedCopies() for _ in whole]
        ever = np.zeros(4)
        for _ in range(5):
            exact = rng.integers(0, 3, (24, width)).astype(np.float64)
            released = noise.rounded(exact + noise.family.sample(rng, exact.shape))
            for each, found in zip(runs, evidence, strict=False):
                each.observe(found, released, exact, 53)
            for one, found in zip(whole, evidence[2:], strict=True):
                if one.applies:
                    one.observe(found, NoiseSteps.of(noise, released, exact, 53))
            ever = np.maximum(ever, [found.log_e_value for found in evidence])
        high += ever[:, None] >= np.log([10.0, 100.0])
    bound = 500 * np.array([0.1, 0.01])
    assert (high <= bound + 6.0 * np.sqrt(bound)).all()
