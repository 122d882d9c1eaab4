"""Records beyond their bounds: lower bounds, replaced records, and some that are spared."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed, outcome
from numeric_zoo.claims import BALL, DIAMOND, GRADIENT, MEAN, REPLACED, SUM

from dpassay.reference.numbers import NoisyGradient, sample, sensitivity
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds.numbers.checks.clipping import ClippingCheck
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.numbers.planning.neighbours import groups, neighbours
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

# -- lower bounds that are not kept: what pulls a sum down is asked as what pulls it up is


ClipBetween = Callable[[Any, float, float], Any]
BOUNDS = [(-10.0, 1.0), (-1.0, 10.0), (-1.0, 1.0)]


def left_below(records: Any, lower: float, upper: float) -> Any:
    return np.minimum(records, upper)


def left_a_little_below(records: Any, lower: float, upper: float) -> Any:
    """What lies farther below than three times the bounds' width is clipped."""
    clipped, least = np.clip(records, lower, upper), lower - 3.0 * (upper - lower)
    return np.where((records < lower) & (records > least), records, clipped)


def left_out(records: Any, lower: float, upper: float) -> Any:
    """Correct: a record beyond the bounds adds nothing."""
    return records[((records >= lower) & (records <= upper)).all(1)]


def alone(check: str, bounds: tuple[float, float], clip: ClipBetween) -> CheckResult:
    """What a check alone says of sums in which `clip` has bounded the records."""
    lower, upper = bounds
    text = SUM.replace("lower = -1.0", f"lower = {lower}").replace(
        "upper = 1.0", f"upper = {upper}"
    )
    claim, rng = claimed(text), np.random.default_rng(3)

    def aggregate(values: Any, size: int) -> Any:
        records = np.nan_to_num(np.array(values), posinf=1e308, neginf=-1e308)
        return clip(records, lower, upper).sum(0) + rng.laplace(scale=2.0, size=(size, 3))

    target = InProcessTarget(aggregate, release=claim.release)
    report = verify(target, claim, seed=1, selection=select([check], of=SHARES))
    found: CheckResult = next(found for found in report.checks if found.id == check)
    return found


@pytest.mark.parametrize("check", ["sensitivity", "clipping"])
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.quick_cases(2)
def test_records_left_below_are_found_and_the_simplest_is_told(
    check: str, bounds: tuple[float, float]
) -> None:
    """Catches a search that tries simple records above the upper bound alone, where none shows."""
    found = alone(check, bounds, left_below)
    assert found.verdict is Verdict.FAIL
    assert found.code in ("records-not-clipped", "clipped-otherwise")
    assert re.search(r"simplest: .* alone, \[-", found.message)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.quick_cases(1)
def test_records_left_a_little_below_are_found(bounds: tuple[float, float]) -> None:
    """Catches records a little beyond that lie above the upper bound alone."""
    assert alone("clipping", bounds, left_a_little_below).verdict is Verdict.FAIL


@pytest.mark.parametrize("check", ["sensitivity", "clipping"])
@pytest.mark.parametrize("clip", [np.clip, left_out])
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.quick_cases(1)
def test_bounds_that_are_kept_pass(
    check: str, clip: ClipBetween, bounds: tuple[float, float]
) -> None:
    assert alone(check, bounds, clip).verdict is Verdict.PASS


# -- what a replaced record was before: it lies at the other end of what the bounds allow


FAR = REPLACED.replace("lower = 0.0\nupper = 2.0", "lower = 10.0\nupper = 12.0")


@pytest.mark.parametrize(
    ("text", "order"),
    [(REPLACED, 1), (FAR, 1), (BALL, 2), (DIAMOND.replace("add-remove", "replace-one"), 1)],
)
def test_correct_clipping_moves_by_the_whole_sensitivity(text: str, order: int) -> None:
    """Catches a neighbour inside the bounds, from which twice the bound looks allowed."""
    claim = claimed(text)
    aggregation = claim.mechanism.aggregation
    finite = [found for found in neighbours(claim.mechanism, 1) if found.direction is not None]
    assert len(finite) > 8
    for found in finite:
        moved = aggregation.exact(found.values) - found.exact
        whole = sensitivity(aggregation, order)
        assert float(np.linalg.norm(moved, order)) == pytest.approx(whole, rel=1e-9), found.name


@pytest.mark.parametrize("text", [REPLACED, FAR])
@pytest.mark.quick_cases(1)
def test_a_lower_bound_that_is_not_kept_is_found(text: str) -> None:
    """The one takes -2 for the bound 0, the other a NaN for 0 where the bounds are 10 and 12."""
    claim, rng = claimed(text), np.random.default_rng(6)
    mechanism = claim.mechanism
    least = -2.0 if text == REPLACED else 10.0

    def aggregate(values: Any, size: int) -> Any:
        records = np.nan_to_num(np.clip(np.array(values), least, mechanism.upper))
        return records.sum(0) + rng.laplace(scale=2.0, size=(size, 1))

    def correct(values: Any, size: int) -> Any:
        return sample(mechanism.aggregation, np.nan_to_num(np.array(values)), size, rng)

    chosen = select(["clipping", "sensitivity"], of=SHARES)
    for target, verdict in ((aggregate, Verdict.FAIL), (correct, Verdict.PASS)):
        served = InProcessTarget(target, release=claim.release)
        report = verify(served, claim, seed=1, selection=chosen)
        assert report.verdict is verdict


# -- records that are left unclipped where others are clipped: by place, by number and by size


Clip = Callable[[Any], Any]
TEXTS = {"sum": SUM, "ball": BALL, "mean": MEAN, "gradient": GRADIENT}
USERS = 'unit = "user"\nmax_contributions = 20'


def deployment(claim: NumbersClaim, clipped: Callable[[Any, Clip], Any]) -> Any:
    """Releases the sum of what `clipped` makes of records (n, d) and a correct clip."""
    aggregation, rng = claim.mechanism.aggregation, np.random.default_rng(7)
    of: Any = aggregation
    clipping = of._sum.clipping if isinstance(aggregation, NoisyGradient) else of.clipping

    def aggregate(values: Any, size: int) -> Any:
        records = of.flat(values) if isinstance(aggregation, NoisyGradient) else np.array(values)
        if not np.isfinite(records).all():
            raise ValueError("not finite")
        total = clipped(records, clipping.clipped).sum(0) / (claim.mechanism.divide_by or 1.0)
        return aggregation.noise.sample(total, size, rng)

    return aggregate


def all_of_them(records: Any, clip: Clip) -> Any:
    return clip(records)


def dropped(records: Any, clip: Clip) -> Any:
    """Records beyond the bounds count for nothing: nobody moves a release farther."""
    return records[(clip(records) == records).all(1)]


def the_last(records: Any, clip: Clip) -> Any:
    return np.vstack([records[:-1], clip(records[-1:])])


def the_most_extreme(records: Any, clip: Clip) -> Any:
    worst = int(np.abs(records).max(1).argmax())
    records[worst] = clip(records[worst : worst + 1])[0]
    return records


def beyond_ten(records: Any, clip: Clip) -> Any:
    return np.where(np.abs(records).max(1, keepdims=True) > 10.0, clip(records), records)


def at_the_median(records: Any, clip: Clip) -> Any:
    bound = max(1.0, float(np.median(np.abs(records).max(1))))
    return bound * clip(records / bound)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("wrong", [the_last, the_most_extreme, beyond_ten, at_the_median])
def test_what_some_records_are_spared_shows(text: str, wrong: Callable[[Any, Clip], Any]) -> None:
    """These passed where the one record beyond the bounds was the last, 1,000 times beyond."""
    claim = claimed(text)
    found = outcome(ClippingCheck, claim, deployment(claim, wrong))
    assert found is not None
    assert found.verdict is Verdict.FAIL


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("correct", [all_of_them, dropped])
@pytest.mark.quick_cases(2)
def test_what_bounds_every_record_passes(text: str, correct: Callable[[Any, Clip], Any]) -> None:
    """Catches groups that are allowed less than their units are together."""
    claim = claimed(text)
    found = outcome(ClippingCheck, claim, deployment(claim, correct))
    assert found is not None
    assert found.verdict is Verdict.PASS, found.finding.message


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize("rest", ["", USERS])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_group_lies_within_what_its_units_are_allowed(
    text: str, rest: str, adjacency: str
) -> None:
    """By the reference's own clipping, which is exact."""
    adjacencies = ("replace-one", "add-remove")
    for other in adjacencies:
        text = text.replace(other, adjacency)
    claim = claimed(f"{text}\n{rest}")
    found = list(groups(claim.mechanism))
    assert found
    for group in found:
        moved = claim.mechanism.aggregation.exact(group.values) - group.exact
        assert np.abs(moved).max() <= group.allowed * (1 + 1e-12), group.name
        assert np.abs(moved).max() > 0, group.name
