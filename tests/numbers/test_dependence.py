"""Noise that depends on other noise of its release or of releases before, and pairs of it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed

from dpassay.reference.arrays import Matrix
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.numbers.evidence.copula import LaggedPairs, halves
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

Drawn = Callable[[int], Matrix]


@pytest.mark.parametrize("parts", [[40], [1] * 40, [3, 0, 17, 1, 19]])
def test_every_pair_once_and_no_row_twice(parts: list[int]) -> None:
    """However releases come. Ratios of pairs that share a release do not multiply to a wager."""
    rows = np.random.default_rng(2).normal(size=(40, 2))
    pairs, found = LaggedPairs(8), np.zeros((3, 8, 2))
    for part in np.split(rows, np.cumsum(parts)[:-1]):
        found += pairs.of(part)
    for lag in range(1, 9):
        for way in (0, 1):
            blocks = [*range(way * lag, 40, 2 * lag)]
            firsts = [i for start in blocks for i in range(start, start + lag) if i + lag < 40]
            one, other = rows[firsts], rows[np.array(firsts) + lag]
            assert len({*firsts} | {first + lag for first in firsts}) == 2 * len(firsts)
            squares, product = np.square(one).sum() + np.square(other).sum(), (one * other).sum()
            assert found[:, lag - 1, way] == pytest.approx([squares, product, 2 * len(firsts)])


def test_halves_of_calls() -> None:
    """Rows i and i + half of each call; the middle one of an odd size is in no pair."""
    rows = np.exp2(np.arange(12.0))[:, None]
    sums = halves(rows, np.array([1, 4, 5, 2]))
    pairs = [(1, 3), (2, 4), (5, 8), (6, 9), (10, 11)]
    assert sums.pairs == len(pairs)
    assert sums.product == sum(2.0 ** (one + other) for one, other in pairs)
    assert sums.squares == sum(4.0**place for pair in pairs for place in pair)


def at_odd_boundaries(rng: np.random.Generator) -> Drawn:
    """Releases 2k + 1 and 2k + 2 have a correlation of 0.95; 2k and 2k + 1 have none."""
    asked, last = 0, 0.0

    def drawn(size: int) -> Matrix:
        nonlocal asked, last
        found = np.empty((size, 1))
        for row in range(size):
            fresh = float(rng.normal())
            last = (
                0.95 * last + math.sqrt(1 - 0.95**2) * fresh if asked and not asked % 2 else fresh
            )
            found[row] = last
            asked += 1
        return found

    return drawn


def in_a_band(rng: np.random.Generator) -> Drawn:
    """The noise of a matrix mechanism, released as if it were fresh: each is part of one later."""
    before = rng.normal(size=(2, 10))

    def drawn(size: int) -> Matrix:
        nonlocal before
        z = np.vstack([before, rng.normal(size=(size, 10))])
        before = z[-2:]
        return 0.8 * z[2:] - 0.6 * z[:-2]

    return drawn


def exact_total(rng: np.random.Generator) -> Drawn:
    """Noise less its mean: every number has its noise, and their total has none."""

    def drawn(size: int) -> Matrix:
        z = rng.normal(size=(size, 100))
        return np.asarray((z - z.mean(1, keepdims=True)) / math.sqrt(0.99))

    return drawn


def columns_at_odd_boundaries(rng: np.random.Generator) -> Drawn:
    """The second of 400 numbers is like the third, the fourth like the fifth, and so on."""

    def drawn(size: int) -> Matrix:
        z = rng.normal(size=(size, 400))
        z[:, 2::2] = 0.3 * z[:, 1:-1:2] + math.sqrt(0.91) * z[:, 2::2]
        return z

    return drawn


@pytest.mark.parametrize(
    ("make", "cells", "code", "compared"),
    [
        (at_odd_boundaries, 1, "noise-made-of-earlier", "one before"),
        (in_a_band, 10, "noise-made-of-earlier", "second before"),
        (exact_total, 100, "noise-cancels", "all numbers of a release share"),
        (columns_at_odd_boundaries, 400, "noise-shared-within-release", "neighbouring coordinates"),
    ],
)
@pytest.mark.slow("over half a second")
def test_dependence_is_found(
    make: Callable[[np.random.Generator], Drawn], cells: int, code: str, compared: str
) -> None:
    """Each number follows the claim by itself."""
    name = f'"noisy-histogram"\ncells = {cells}' if cells > 1 else '"noisy-count"'
    claim = claimed(f'name = {name}\nnoise = "gaussian:3"\nadjacency = "add-remove"')
    drawn = make(np.random.default_rng(12))

    def aggregate(values: Any, size: int) -> Matrix:
        return np.asarray(values, dtype=np.float64) + 3.0 * drawn(size)

    report = verify(InProcessTarget(aggregate, release=claim.release), claim)
    failed = {check.id: check for check in report.checks if check.verdict is Verdict.FAIL}
    found = failed["independence"]
    assert (found.code, str(found.fields["compared"]).endswith(compared)) == (code, True)
    assert (found.fields["correlation"] is None) is (code == "noise-cancels")
