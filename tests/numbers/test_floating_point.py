"""`floating-point`: pairs around which floats are spaced otherwise, and what their bits tell."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed, made, outcome
from numeric_zoo.claims import BALL, COUNT, GAUSSIAN, GRADIENT, HISTOGRAM, MEAN, SUM
from numeric_zoo.correct import as_claimed, noise_on_a_fine_grid

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.numbers import NoisyGradient, NoisySum
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.checks.floating_point import (
    FloatingPoint,
    bit_events,
    grid_events,
)
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.numbers.mechanism import NumberMechanism
from dpassay.verifiers.kinds.numbers.planning.pairs import (
    Coordinates,
    NumberPair,
    edge_pairs,
    low_pairs,
    off_grid_pairs,
)

Kind = Callable[[NumberMechanism, Coordinates], list[NumberPair]]

EXACT = 'floating_point = "exact"\n'
AGES = (
    'name = "noisy-sum"\nnoise = "laplace:50"\ndimensions = 1\nlower = 18.0\nupper = 90.0\n'
    'adjacency = "{}"'
)
CLAIMS = [
    *(GAUSSIAN, HISTOGRAM.replace("add-remove", "replace-one"), COUNT, SUM, BALL, MEAN, GRADIENT),
    *(AGES.format("add-remove"), AGES.format("replace-one")),
    BALL.replace("clip_norm", "clip_norm1"),
]


def rows(claim: NumbersClaim, values: object) -> np.ndarray:
    aggregation = claim.mechanism.aggregation
    if isinstance(aggregation, NoisyGradient):
        return aggregation.flat(values)  # type: ignore[arg-type]
    return np.asarray(values)


@pytest.mark.parametrize("text", CLAIMS)
@pytest.mark.parametrize("kind", [low_pairs, edge_pairs, off_grid_pairs])
def test_pairs_are_neighbours_within_the_bounds(text: str, kind: Kind) -> None:
    """One record more, or another in its place, and every record is one that no bound changes."""
    claim = claimed(text)
    aggregation = claim.mechanism.aggregation
    pairs = kind(claim.mechanism, claim.inputs(1).coordinates)
    assert pairs or (kind is off_grid_pairs and claim.mechanism.takes == "counts")
    for pair in pairs:
        here, there = rows(claim, pair.here), rows(claim, pair.there)
        added = aggregation.adjacency is Adjacency.ADD_REMOVE or claim.mechanism.width == 1
        if claim.mechanism.takes == "counts":
            assert np.abs(there - here).sum() == (1 if added else 2)
            assert min(here.min(), there.min()) >= 0
            assert (there - here).sum() == (1 if added else 0)
        else:
            more = aggregation.adjacency is Adjacency.ADD_REMOVE
            assert len(there) - len(here) == (1 if more else 0)
            shared = min(len(here), len(there))
            assert (here[:shared] != there[:shared]).any(axis=1).sum() == (0 if more else 1)
            if isinstance(aggregation, NoisySum):
                assert np.array_equal(aggregation.clipping.clipped(there), there)
        for values, exact in zip((pair.here, pair.there), pair.exact, strict=True):
            assert (aggregation.exact(values)[pair.coordinates] == exact).all()


@pytest.mark.parametrize("scale", [3.0, 0.7])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_events_of_one_number_that_another_never_has(scale: float, kind: Any) -> None:
    """Scaled noise in one precision, at 0 and at 1: low bits, the crossing, and the hole."""
    rng = np.random.default_rng(1)
    noise = kind(scale) * rng.standard_normal(40_000).astype(kind)
    zero, one = noise.astype(float), (kind(1.0) + noise).astype(float)
    seen = 0
    for event in bit_events((0.0, 1.0), scale):
        likely, rare = (zero, one) if event.first else (one, zero)
        often, rarely = event.test(likely).mean(), event.test(rare).mean()
        if rarely == 0.0 and often > 0.01:
            seen += 1
    assert seen >= 4  # of low bits there are two


def test_bits_of_single_numbers() -> None:
    events = {event.name: event.test for event in bit_events((0.0, 1.0), 3.0)}
    low = events["a bit at or below 2^-54 is set"]
    numbers = np.array([2.0**-53, 2.0**-54, 3 * 2.0**-55, 0.0, 1.0 - 2.0**-53])
    assert low(numbers).tolist() == [False, True, True, False, False]
    cross = events["the last bit of a double is set just below a power of two"]
    last = 4.0 - 2.0**-51  # within 1 below 4, and odd
    found = cross(np.array([-last, last, -(4.0 - 2.0**-50), -(2.9 + 2.0**-51), -0.75]))
    assert found.tolist() == [True, False, False, False, False]
    hole = events["the release is no product of the scale with a double"]
    assert not hole(3.0 * np.linspace(0.1, 5.0, 50)).any()


@pytest.mark.parametrize("text", [HISTOGRAM, GAUSSIAN, SUM, GRADIENT])
def test_noise_in_floats_is_found(text: str) -> None:
    """A failure where exact arithmetic is claimed, else a warning of a pass."""
    for words, verdict in (("", Verdict.PASS), (EXACT, Verdict.FAIL)):
        claim = claimed(words + text)
        found = outcome(FloatingPoint, claim, made(as_claimed, claim))
        assert found is not None
        assert found.verdict is verdict
        noted = [note.code for note in found.finding.warnings]
        failed = verdict is Verdict.FAIL
        code, noted_code = ("low-bits-tell", []) if failed else (None, ["low-bits-allowed"])
        assert (found.finding.code, noted) == (code, noted_code)
        seen = found.finding.fields if failed else found.finding.warnings[0].fields
        assert float(seen["often"] or 0.0) > float(seen["rarely"] or 0.0)


@pytest.mark.parametrize("text", [HISTOGRAM, GAUSSIAN])
def test_noise_on_a_fine_grid_is_not_accused(text: str) -> None:
    """Exact sums of multiples of 2^-40: they have low bits too, in equal measure."""
    claim = claimed(EXACT + text)
    found = outcome(FloatingPoint, claim, made(noise_on_a_fine_grid, claim))
    assert found is not None
    assert found.verdict is Verdict.PASS
    assert found.finding.warnings == ()


@pytest.mark.parametrize("noise", ["discrete-laplace:2", "laplace:2;round"])
def test_it_does_not_apply_to_rounded_noise(noise: str) -> None:
    lacking = FloatingPoint.not_applicable_to(claimed(HISTOGRAM.replace("laplace:2", noise)))
    assert lacking is not None
    assert lacking.code == "no-low-bits"
    assert FloatingPoint.not_applicable_to(claimed(HISTOGRAM)) is None


def test_a_target_that_refuses_the_inputs() -> None:
    """It does not apply then, and says what was refused."""

    def aggregate(values: np.ndarray, size: int) -> np.ndarray:
        raise ValueError("fewer than 100 records")

    found = outcome(FloatingPoint, claimed(EXACT + HISTOGRAM), aggregate)
    assert found is not None
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.finding.code == "input-refused"


@pytest.mark.parametrize(("kind", "finer"), [(np.float64, 40), (np.float32, 12)])
def test_noise_on_a_grid_keeps_where_a_sum_lies(kind: Any, finer: int) -> None:
    """Always beside its own sum; beside another, and for noise that lies on no grid, seldom."""
    rng, exact = np.random.default_rng(3), (2.0 / 3.0, 2.0 / 3.0 + 12.0 / 7.0)
    own, other = (grid_events(exact, 2.0)[k + (kind is np.float32)] for k in (0, 2))
    noise = rng.laplace(scale=2.0, size=4_000)
    on_grid = np.ldexp(np.rint(np.ldexp(noise, finer - 1)), 1 - finer)
    kept = (exact[0] + on_grid).astype(kind).astype(np.float64)
    assert own.test(kept).all()
    assert other.test(kept).mean() < 0.1
    assert own.test(exact[0] + noise).mean() < 0.1
