"""What is told as the cause: where no known fault fits, of divisors, and of selections."""

import math
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import HISTOGRAM, MEAN
from numeric_zoo.scale import scaled

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.arrays import Matrix
from dpassay.reference.numbers import ThresholdedHistogram, parse_number_noise, sample
from dpassay.reference.numbers.families import Laplace
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.keys.evidence.key_faults import (
    UNFITTING,
    geometric_law,
    named_selection,
)
from dpassay.verifiers.kinds.numbers.evidence.bins import TailBins
from dpassay.verifiers.kinds.numbers.evidence.described import is_refuted, squares_beyond
from dpassay.verifiers.kinds.numbers.evidence.faults import FaultKind, known_faults, log_ratios
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

# -- where no known fault describes the releases, none is named


CODE = "claim-may-not-describe"
COUNT = 'name = "noisy-count"\nnoise = "laplace:1.5"\nadjacency = "add-remove"'


def counted(noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many draws lie in each bin of Laplace noise, and the log-masses that it has there."""
    bins = TailBins(Laplace(1.0))
    place, _ = bins.place(noise)
    counts = np.bincount(place, minlength=bins.log_claimed.size).astype(float)
    return counts, bins.log_masses(Laplace(1.0))


def test_a_law_is_refuted_by_another_and_not_by_its_own_draws() -> None:
    """Null: 200 sets of 500 draws, each refuted with probability 1e-6 at most; seeds are fixed.

    Catches sums in one order for draws and another for the law, and a near law that is refuted.
    """
    for seed in range(200):
        own = np.random.default_rng([seed, 4]).laplace(size=500)
        assert not is_refuted(*counted(own))
    rng = np.random.default_rng(5)
    assert is_refuted(*counted(rng.standard_cauchy(5_000)))
    assert not is_refuted(*counted(rng.laplace(scale=1.1, size=100_000)))  # .02 apart
    assert not is_refuted(np.zeros(3), np.log(np.full(3, 1 / 3)))


def test_squares_of_normal_means_stay_below_the_limit() -> None:
    rng = np.random.default_rng(6)
    for means in (1, 30):
        assert (rng.normal(size=(1_000, means)) ** 2).sum(1).max() < squares_beyond(means)
        assert squares_beyond(means) < 30 * means + 60


def judged(text: str, aggregate: Any, check: str | None = None) -> Any:
    """The report of a run on a function (values, size) -> releases."""
    claim = claimed(text)
    target = InProcessTarget(aggregate, release=claim.release)
    chosen = select([] if check is None else [check], of=claim.kind.checks.ids)
    return verify(target, claim, seed=1, selection=chosen)


def codes(report: Any) -> set[str]:
    return {check.code for check in report.checks if check.verdict is Verdict.FAIL}


@pytest.mark.slow("over half a second")
def test_a_snapping_mechanism_is_not_taken_for_another_fault() -> None:
    """Laplace noise, rounded to multiples of 2 and clamped (Mironov 2012), claimed as laplace:1.5.

    Catches the likeliest of wrong causes: its releases were "7e-06 times the exact numbers".
    """
    rng = np.random.default_rng(7)

    def snapped(counts: Any, size: int) -> Any:
        noisy = np.clip(np.sum(counts), -100.0, 100.0) + rng.laplace(scale=1.5, size=(size, 1))
        return np.clip(np.round(noisy / 2.0) * 2.0, -100.0, 100.0)

    assert codes(judged(COUNT, snapped)) == {CODE}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("check", ["noise-law", None])
def test_noise_that_has_no_scale_is_not_told_as_one(check: str | None) -> None:
    """Cauchy noise, as of a ratio; catches "10 times the claimed scale"."""
    rng = np.random.default_rng(8)

    def ratio(counts: Any, size: int) -> Any:
        return counts + 2.0 * rng.standard_cauchy((size, len(counts)))

    found = judged(HISTOGRAM, ratio, check)
    assert codes(found) == {CODE}


@pytest.mark.slow("over half a second")
def test_another_scale_is_still_told_as_one() -> None:
    """Catches a fault that is taken for refuted because its scale is none of a grid."""
    claim = claimed(HISTOGRAM)
    aggregate = scaled(0.63)(claim.mechanism.aggregation, np.random.default_rng(9))
    assert codes(judged(HISTOGRAM, aggregate)) == {"scale-too-small"}


# -- a sum and its noise divided by another number than is claimed: found, and told as what it is


@pytest.mark.parametrize("exact", [-40.0, 0.0, 3.0])
@pytest.mark.parametrize("divisor", [0.25, 2.0, 24.0])
def test_the_expectation_is_one(divisor: float, exact: float) -> None:
    """By integration over cells of 1/100 scale; catches a law that is not scaled with the sum."""
    noise = parse_number_noise("laplace:2")
    values = np.arange(-100_000.0, 100_001.0) * 0.02
    half = np.full(values.size, 0.01)
    faults = tuple(
        fault for fault in known_faults(noise, divisor=divisor) if fault.kind is FaultKind.DIVISOR
    )
    assert len(faults) == (2 if divisor == 2.0 else 4)
    shape = np.full(values.size, exact)
    ratios, _ = log_ratios(faults, noise, values, shape, half)
    log_p = noise.log_mass(values, shape, half)
    assert np.exp(log_p[:, None] + ratios).sum(0) == pytest.approx(np.ones(len(faults)), abs=1e-6)


def test_only_what_is_divided_has_a_divisor() -> None:
    """A histogram has none, nor has noise on a grid, which another divisor would leave."""
    for noise, divisor, number in (
        ("laplace:2", None, 0),
        ("laplace:2;grid=0.5", 24.0, 0),
        ("discrete-laplace:2", 24.0, 0),
        ("laplace:2", 1.0, 2),
        ("laplace:2", 1e308, 2),
        ("laplace:2", 1e-308, 2),
    ):
        faults = known_faults(parse_number_noise(noise), divisor)
        assert sum(fault.kind is FaultKind.DIVISOR for fault in faults) == number


@pytest.mark.parametrize("times", [2.0, 0.5, 24.0, 1 / 24])
@pytest.mark.slow("over half a second")
def test_the_cause_is_the_divisor(times: float) -> None:
    """It was told as noise of twice the scale, or as Laplace noise of equal variance."""
    claim, rng = claimed(MEAN), np.random.default_rng(3)

    def aggregate(values: Any, size: int) -> Any:
        return times * sample(claim.mechanism.aggregation, values, size, rng)

    report = verify(InProcessTarget(aggregate, release=claim.release), claim, seed=5)
    found = next(check for check in report.checks if check.id == "noise-law")
    assert (found.code, found.fields) == ("divisor-differs", {"factor": times})


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("noise_too", [True, False])
def test_the_cause_is_the_true_number_of_records(noise_too: bool) -> None:
    """It was told as noise of four times the scale, whichever input was the smallest."""
    claim, rng = claimed(MEAN), np.random.default_rng(4)
    aggregation = claim.mechanism.aggregation

    def aggregate(values: Any, size: int) -> Any:
        released, factor = sample(aggregation, values, size, rng), 24.0 / max(len(values), 1)
        if noise_too:
            return factor * released
        return released + (factor - 1.0) * aggregation.exact(values)

    report = verify(InProcessTarget(aggregate, release=claim.release), claim, seed=5)
    found = next(check for check in report.checks if check.id == "noise-law")
    assert (found.code, found.fields["divisor"]) == ("divisor-private", 24.0)
    assert found.fields["noise_too"] is noise_too


# -- what is named where keys are selected by another law: a threshold, truncated geometric, or none


COUNTS = np.arange(0.0, 60.0)
KEYS = 100_000


def selection(noise: str = "laplace:2", threshold: float = 20.0) -> ThresholdedHistogram:
    law = parse_number_noise(noise)
    return ThresholdedHistogram(law, COUNTS.size, threshold, Adjacency.ADD_REMOVE)


ANOTHER = Note("threshold-too-low", "another", {"threshold": 19.0})


def named(law: ThresholdedHistogram, released: Matrix, keys: int = KEYS) -> Note:
    came = np.rint(keys * np.where(COUNTS > 0, released, 0.0))
    return named_selection(law, ANOTHER, COUNTS, np.stack([came, keys - came], axis=1))


@pytest.mark.parametrize(
    ("noise", "threshold"), [("laplace:3.3", 17.4), ("gaussian:1.7", 22.0), ("laplace:2", 23.1)]
)
def test_noise_at_any_threshold_keeps_the_name_of_the_list(noise: str, threshold: float) -> None:
    true = selection(noise, threshold)
    assert _is_another(named(selection(), np.exp(true.log_released(COUNTS))))


def test_whole_noise_at_another_threshold_too() -> None:
    true = selection("discrete-laplace:1.4", 23.0)
    found = named(selection("discrete-laplace:2"), np.exp(true.log_released(COUNTS)))
    assert _is_another(found)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-5), (0.3, 1e-4), (1.1, 1e-9)])
def test_a_truncated_geometric_law_is_told_with_its_epsilon(epsilon: float, delta: float) -> None:
    """Its recursion written out here: the smallest n of rate 1 and the rates before."""
    rates = [0.0]
    while len(rates) < COUNTS.size:
        q = rates[-1]
        rates.append(
            min(math.exp(epsilon) * q + delta, 1 - math.exp(-epsilon) * (1 - q - delta), 1)
        )
    found = named(selection(), np.array(rates))
    assert found.code == "selection-geometric"
    assert found.fields["epsilon"] == pytest.approx(epsilon, rel=0.01)
    assert 0.0 < float(found.fields["delta"] or 0.0) < 1.0
    assert np.exp(geometric_law(epsilon, delta)(COUNTS)[0]) == pytest.approx(rates, abs=1e-12)


def test_what_no_law_of_selection_has_is_said_to_have_none() -> None:
    rates = np.where(COUNTS < 15, 0.0, np.where(COUNTS < 30, 0.4, 1.0))
    assert named(selection(), rates) == UNFITTING
    assert UNFITTING.code == "law-unexplained"


def test_where_keys_are_too_few_to_tell_both_are_named() -> None:
    rates = np.exp(geometric_law(0.5, 1e-5)(COUNTS)[0])
    found = named(selection(), rates, 200)
    assert _is_another(found)
    assert "(a truncated geometric" in found.message


def _is_another(found: Note) -> bool:
    return (found.code, found.fields) == (ANOTHER.code, ANOTHER.fields)
