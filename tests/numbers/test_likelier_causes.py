"""Faults that were told as another one: each is told as what it is, and so are its neighbours."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numeric_zoo import Aggregate, entry
from numeric_zoo.claims import (
    BALL,
    COUNT,
    GAUSSIAN,
    GRADIENT,
    HISTOGRAM,
    MEAN,
    REPLACED,
    SUM,
    WHOLE,
)
from numeric_zoo.scale import scaled
from numeric_zoo.shelf import Make, Rng

from dpassay.reference.numbers import Aggregation, Clipping, NoisyGradient
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.run.run import verify

Key = Callable[[Any], object]
Change = Callable[[Any, Any, Rng], Any]


def judged(claim: str, make: Make, seed: int = 1) -> Report:
    one = entry("", claim, make)
    return verify(one.target(seed, 99), one.claim, seed=seed)


def told(report: Report) -> set[str | None]:
    """The codes of all failures."""
    return {check.code for check in report.checks if check.verdict is Verdict.FAIL}


def fields(report: Report) -> Mapping[str, Any]:
    return next(check.fields for check in report.checks if check.verdict is Verdict.FAIL)


def releasing(change: Change) -> Make:
    """A correct release, changed; change: of the exact numbers and the releases."""

    def make(of: Aggregation, rng: Rng) -> Aggregate:
        def aggregate(values: Any, size: int) -> Any:
            exact = of.exact(values)
            return change(exact, of.noise.sample(exact, size, rng), rng)

        return aggregate

    return make


def kept_by(key: Key) -> Make:
    """Exact sums are kept by a key, and get new noise."""

    def make(of: Aggregation, rng: Rng) -> Aggregate:
        sums: dict[object, Any] = {}

        def aggregate(values: Any, size: int) -> Any:
            exact = sums.setdefault(key(values), of.exact(values))
            return of.noise.sample(exact, size, rng)

        return aggregate

    return make


def of_the_call_before(of: Aggregation, rng: Rng) -> Aggregate:
    """One call in two gets the sum of the call before."""
    before: list[Any] = []

    def aggregate(values: Any, size: int) -> Any:
        before.append(of.exact(values))
        at = -2 if len(before) > 1 and rng.random() < 0.5 else -1
        return of.noise.sample(before[at], size, rng)

    return aggregate


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("claim", "make"),
    [
        (HISTOGRAM, kept_by(len)),
        (SUM, kept_by(len)),
        (HISTOGRAM, of_the_call_before),
        (SUM, of_the_call_before),
        (COUNT, of_the_call_before),
    ],
)
def test_a_sum_kept_for_another_input(claim: str, make: Make) -> None:
    """It was told as twice the scale, as another norm, or as a law that no claim describes."""
    report = judged(claim, make)
    assert told(report) == {"sum-of-another-input"}
    seen = fields(report)
    assert seen["input"] != seen["of"]


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize(
    ("claim", "factor"), [(COUNT, 10.0), (SUM, 3.0), (BALL, 1.38), (GAUSSIAN, 0.926)]
)
def test_another_scale_is_no_other_sum_and_no_missing_tail(claim: str, factor: float) -> None:
    seen = told(judged(claim, scaled(factor)))
    assert seen == {"scale-too-small" if factor < 1.0 else "scale-too-large"}


def without_noise(share: float, *, whole: bool) -> Change:
    """Numbers, or whole releases, that are exact now and then."""

    def change(exact: Any, released: Any, rng: Rng) -> Any:
        shape = (len(released), 1) if whole else released.shape
        return np.where(rng.random(shape) < share, exact, released)

    return change


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("claim", [HISTOGRAM, BALL])
def test_a_third_without_noise_is_told_as_about_a_third(claim: str, whole: bool) -> None:
    """Null: of 50 releases or more a share of 1/3 is within 4.2 deviations; it was told as .2."""
    report = judged(claim, releasing(without_noise(1 / 3, whole=whole)))
    assert told(report) == {"noise-missing-at-times"}
    assert fields(report)["share"] == pytest.approx(1 / 3, abs=0.14)


def last_tensor_bare(exact: Any, released: Any, rng: Rng) -> Any:
    released[:, -3:] = exact[-3:]
    return released


def added_to_the_exact_one(exact: Any, released: Any, rng: Rng) -> Any:
    return released + exact


@pytest.mark.slow("whole runs; others are")
def test_a_tensor_without_noise_is_told_as_places() -> None:
    """It was told as no noise in a fifth of all numbers."""
    report = judged(GRADIENT, releasing(last_tensor_bare))
    assert told(report) == {"noise-missing-in-places"}
    assert (fields(report)["coordinate"], fields(report)["coordinates"]) == (12, 3)


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize("claim", [GRADIENT, MEAN])
def test_the_exact_numbers_beside_are_no_other_divisor(claim: str) -> None:
    """A raw gradient that is added to the noisy one has the noise of one, not of two."""
    report = judged(claim, releasing(added_to_the_exact_one))
    assert told(report) == {"sums-multiplied"}
    assert fields(report)["factor"] == pytest.approx(2.0, abs=0.1)


def clipped_together(of: Any, rng: Rng) -> Aggregate:
    """The sum of records is clipped, and no record."""
    clipping: Clipping = of.clipping

    def aggregate(values: Any, size: int) -> Any:
        tensors = isinstance(of, NoisyGradient)
        records = of.flat(list(values)) if tensors else np.array(values, dtype=float)
        total = records.reshape(-1, of.dimensions).sum(0)
        if not np.isfinite(total).all():
            raise ValueError("expected finite numbers")
        exact = clipping.clipped(total[None])[0] / (of.divide_by or 1.0)
        return of.noise.sample(exact, size, rng)

    return aggregate


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("claim", [REPLACED, SUM, BALL, MEAN, GRADIENT])
def test_a_clipped_sum_of_records(claim: str) -> None:
    """It was told as a multiple of the exact numbers, as another norm, or as a scale."""
    report = judged(claim, clipped_together)
    assert told(report) == {"clipped-otherwise"}
    assert fields(report)["by"] == "the sum"


def cut(scales: float, *, held: bool) -> Make:
    """Noise beyond so many scales is drawn anew, or held there."""

    def make(of: Aggregation, rng: Rng) -> Aggregate:
        reach = scales * of.noise.family.scale

        def aggregate(values: Any, size: int) -> Any:
            exact = of.exact(values)
            noise = of.noise.sample(np.zeros_like(exact), size, rng)
            if held:
                return exact + np.clip(noise, -reach, reach)
            while (far := np.abs(noise) > reach).any():
                noise[far] = of.noise.sample(np.zeros(int(far.sum())), 1, rng)[0]
            return exact + noise

        return aggregate

    return make


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize(
    ("claim", "scales"),
    [(GAUSSIAN, 2.5), (GAUSSIAN, 2.0), (GAUSSIAN, 1.0), (HISTOGRAM, 2.0), (WHOLE, 1.5)],
)
def test_cut_noise_is_no_other_family_and_no_scale(claim: str, scales: float, held: bool) -> None:
    """It was told as Gaussian noise, as a scale, or as noise that comes again."""
    report = judged(claim, cut(scales, held=held))
    assert told(report) == {"noise-tails-cut"}
    scale = entry("", claim, cut(scales, held=held)).claim.mechanism.added.family.scale
    assert fields(report)["reach"] == pytest.approx(scales * scale, rel=0.02)


def carrying(part: float, *, offset: float = 0.0, scale: float = 1.0) -> Make:
    """Each release has its own noise and a part of that of the release before."""

    def make(of: Aggregation, rng: Rng) -> Aggregate:
        noise = np.zeros(of.dimensions)

        def aggregate(values: Any, size: int) -> Any:
            nonlocal noise
            exact, made = of.exact(values), []
            for _ in range(size):
                own = of.noise.sample(np.zeros_like(exact), 1, rng)[0]
                noise = part * noise + scale * own
                made.append(exact + offset + noise)
            return np.array(made)

        return aggregate

    return make


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize(
    ("claim", "make", "code"),
    [
        (COUNT, carrying(1.0), "noise-made-of-earlier"),
        (HISTOGRAM, carrying(0.9), "noise-made-of-earlier"),
        (HISTOGRAM, carrying(0.0, scale=0.5), "scale-too-small"),
        (HISTOGRAM, carrying(0.0, offset=6.0), "releases-off-centre"),
    ],
)
def test_noise_that_stays_in_is_no_other_mechanism(claim: str, make: Make, code: str) -> None:
    """It was told as a claim that may not describe the mechanism; other noise keeps its cause."""
    report = judged(claim, make)
    assert told(report) == {code}
    if code == "noise-made-of-earlier":
        assert fields(report)["carried"] in (1.0, 0.9)
