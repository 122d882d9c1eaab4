"""Lower bounds in ball arithmetic on what releases of keys cost, beside all outputs in mpmath."""

import functools
import itertools
import math
from collections.abc import Iterator, Sequence

import mpmath
import pytest
from mpmath import mpf

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.numbers import ThresholdedHistogram, parse_number_noise
from dpassay.reference.numbers.certified_keys import MOST, Change, keys_cost

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
SETTINGS = [
    ("discrete-laplace:1", 6.0, 0.005),
    ("laplace:2", 8.3, 0.02),
    ("gaussian:2", 8.0, 1e-3),
    ("discrete-gaussian:2", 7.5, 1e-2),
    ("laplace:2;round", 9.0, 0.03),
    ("laplace:2;cut", 8.5, 0.03),
]


def described(
    text: str, threshold: float, adjacency: Adjacency = ADD, user: int = 1, cells: int = 30
) -> ThresholdedHistogram:
    return ThresholdedHistogram(parse_number_noise(text), cells, threshold, adjacency, user)


@functools.cache
def rate(text: str, threshold: float, count: int) -> mpf:
    """Of a key of this count: sums over whole noise, and else closed forms of upper tails."""
    if count == 0:
        return mpf(0)
    name, scale = text.split(";", maxsplit=1)[0].split(":")
    least = math.ceil(threshold) if "cut" in text else mpf(threshold) - mpf("round" in text) / 2
    b, away = mpf(scale), least - count
    if name.startswith("discrete"):
        power = 1 if name == "discrete-laplace" else 2
        mass = [mpmath.exp(-((mpf(abs(k)) / b) ** power) / power) for k in range(-150, 151)]
        return mpmath.fsum(mass[math.ceil(away) + 150 :]) / mpmath.fsum(mass)
    if name == "gaussian":
        return mpmath.erfc(away / (b * mpmath.sqrt(2))) / 2
    return mpmath.exp(-away / b) / 2 if away > 0 else 1 - mpmath.exp(away / b) / 2


def exact(
    setting: tuple[str, float, float], changes: Sequence[Change], releases: int, delta: float
) -> float:
    """Epsilon of two neighbours by all that so many releases can be, one bit for each key of each.

    Over the outputs in the order of their likelihood ratio, which is the best test.
    """
    bits = [(change.here, change.there) for change in changes for _ in range(change.keys)]
    sides = [[rate(*setting[:2], n) for n in side] * releases for side in zip(*bits, strict=True)]
    outputs = []
    for came in itertools.product((True, False), repeat=len(sides[0])):
        p, q = (
            mpmath.fprod(r if c else 1 - r for r, c in zip(side, came, strict=True))
            for side in sides
        )
        outputs.append((p / q if q else mpmath.inf, p, q))
    best, above, beyond = mpf(0), -mpf(delta), mpf(0)
    for _, p, q in sorted(outputs, reverse=True):
        above, beyond = above + p, beyond + q
        if above > 0:
            best = max(best, mpmath.log(above / beyond) if beyond else mpmath.inf)
    return float(best)


def moved(least: int, by: int = 1, keys: int = 1) -> list[Change]:
    """All keys that lose records, and keys that gain them."""
    down = [Change(count, count - by, keys) for count in range(least, 22)]
    return down + [Change(change.there, change.here, keys) for change in down]


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    """Enough for 1 minus a small probability."""
    with mpmath.workdps(40):
        yield


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting[0])
@pytest.mark.parametrize("releases", [1, 3])
def test_a_record_more_or_less_costs_exactly_this(
    setting: tuple[str, float, float], releases: int
) -> None:
    """Over every count: catches a direction, a count, or numbers of releases left out."""
    text, threshold, delta = setting
    delta *= releases
    found = keys_cost(described(text, threshold), releases, delta)
    wanted = max(exact(setting, [change], releases, delta) for change in moved(1))
    assert found.largest
    assert found.epsilon == pytest.approx(wanted, rel=1e-9)
    assert found.epsilon <= exact(setting, found.changes, releases, delta) * (1 + 1e-14)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting[0])
@pytest.mark.parametrize("releases", [1, 2])
def test_a_replaced_record_moves_two_keys(setting: tuple[str, float, float], releases: int) -> None:
    """Beside every pair of counts: never above the pair named, and near the costliest."""
    text, threshold, delta = setting
    delta *= releases
    found = keys_cost(described(text, threshold, REPLACE), releases, delta)
    assert found.epsilon <= exact(setting, found.changes, releases, delta) * (1 + 1e-14)
    counts = range(1, 18) if releases == 1 else range(4, 13)
    pairs = itertools.product(counts, counts)
    wanted = max(
        exact(setting, [Change(lost, lost - 1), Change(gained - 1, gained)], releases, delta)
        for lost, gained in pairs
    )
    assert found.epsilon >= 0.9 * wanted  # of 2 releases, counts of another order may tell more
    one = keys_cost(described(text, threshold), releases, delta)
    assert found.epsilon > 1.2 * one.epsilon
    assert not found.largest


def test_delta_is_spent_on_keys_that_one_neighbour_alone_has() -> None:
    """A replaced record leaves its own key for another: Gaussian tails cost as much as one likes.

    Where delta is no more than what the record's own key takes, nothing is left for the other.
    """
    setting = ("gaussian:2", 8.0, 0.0)
    own = float(rate(*setting[:2], 1))
    costs = []
    for more in (1.1, 1.001, 1.00001):
        found = keys_cost(described(*setting[:2], REPLACE), 1, more * own)
        assert found.epsilon <= exact(setting, found.changes, 1, more * own) * (1 + 1e-14)
        costs.append(found.epsilon)
    assert found.changes[0] == Change(1, 0)
    assert found.epsilon == pytest.approx(exact(setting, found.changes, 1, more * own), rel=1e-6)
    assert costs[2] > 1.1 * costs[1] > 1.2 * costs[0]
    assert keys_cost(described(*setting[:2]), 1, 0.999 * own).epsilon == math.inf


@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
@pytest.mark.parametrize(
    "setting", [("discrete-laplace:1", 20.0, 1e-6), ("gaussian:6", 20.0, 0.05)], ids=lambda s: s[0]
)
def test_records_of_a_user_lie_in_one_key_or_in_many(
    adjacency: Adjacency, setting: tuple[str, float, float]
) -> None:
    """No less than all records in one key, or each in its own, and never above what is named."""
    text, threshold, delta = setting
    found = keys_cost(described(text, threshold, adjacency, user=3), 1, delta)
    assert found.epsilon <= exact(setting, found.changes, 1, delta) * (1 + 1e-14)
    for by, wide in ((3, 1), (1, 3)):
        ways = [exact(setting, [change], 1, delta) for change in moved(by + 1, by, wide)]
        assert found.epsilon >= max(ways) * (1 - 1e-9)


@pytest.mark.parametrize(("cells", "epsilon"), [(2, 1.4), (3, math.inf)])
def test_keys_of_one_user_alone_have_no_epsilon(cells: int, epsilon: float) -> None:
    """One key of 3 records is released with probability 0.0151, one of 3 single ones with 0.0166.

    With two keys there are no three: catches a user with more keys than there are.
    """
    found = keys_cost(described("laplace:2", 10.0, user=3, cells=cells), 1, 0.016)
    assert found.epsilon == pytest.approx(epsilon, rel=0.05)
    if cells == 3:
        assert found.changes == (Change(1, 0, 3),)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
def test_many_releases_are_binomial(adjacency: Adjacency) -> None:
    """300 releases beside exact binomial sums of the counts that are named."""
    found = keys_cost(described("gaussian:3", 40.0, adjacency), 300, 1e-6)
    laws = []
    for side in ("here", "there"):
        law = [mpf(1)]
        for change in found.changes:
            p = rate("gaussian:3", 40.0, getattr(change, side))
            p = p if change.here > change.there else 1 - p
            each = [mpmath.binomial(300, k) * p**k * (1 - p) ** (300 - k) for k in range(301)]
            law = [
                mpmath.fsum(
                    law[i] * each[k - i] for i in range(max(0, k - 300), min(k + 1, len(law)))
                )
                for k in range(len(law) + 300)
            ]
        laws.append(law)
    ends = []
    for least in range(len(laws[0])):
        above = mpmath.fsum(laws[0][least:]) - mpf(1e-6)
        if above > 0:
            ends.append(float(mpmath.log(above / mpmath.fsum(laws[1][least:]))))
    assert found.epsilon == pytest.approx(max(ends), rel=1e-9)
    assert 20 < found.epsilon < 300 * 20


@pytest.mark.slow("over half a second")
def test_more_releases_than_are_counted_are_bounded_from_below() -> None:
    law = described("laplace:1000", 30_000.0)
    most, more = (keys_cost(law, releases, 1e-6) for releases in (MOST, 10**12))
    assert (more.epsilon, more.releases) == (most.epsilon, MOST)
    assert not more.largest


def test_the_largest_is_said_where_every_number_of_releases_is_tried() -> None:
    """Of 401, floating point may step over some; of wide noise, over counts."""
    narrow = described("discrete-laplace:1", 40.0)
    assert [keys_cost(narrow, n, 1e-6).largest for n in (400, 401)] == [True, False]
    assert not keys_cost(described("laplace:100", 3_000.0), 1, 1e-6).largest


def test_noise_of_nearly_nothing_costs_nearly_everything() -> None:
    """Where a ball of 1 minus a probability holds 0: log(2) + 1 / (2 b), of 81 and 80 records."""
    found = keys_cost(described("laplace:1e-9", 80.5), 1, 1e-6)
    assert found.epsilon == pytest.approx(5e8 + math.log(2), rel=1e-12)
