"""The noise of two inputs has one law: told apart where it has not, by fair wagers."""

import itertools
import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.findings.report import CheckResult, Report, Verdict
from dpassay.verifiers.kinds.numbers.checks.invariance import _Comparison
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

# -- the noise of two inputs has one law: told apart where it has not, whatever the scale


HISTOGRAM = 'name = "noisy-histogram"\nnoise = "laplace:2"\nadjacency = "add-remove"\ncells = 11'
SUM = (
    'name = "noisy-sum"\nnoise = "laplace:2"\nadjacency = "add-remove"\n'
    "dimensions = 3\nlower = -1.0\nupper = 1.0"
)
CHECKS = ("shift-invariance", "permutation-equivariance")
Scales = Callable[[Any], Any]


def judged(text: str, scales: Scales, queries: int = 800) -> dict[str, CheckResult]:
    """Results by id of Laplace noise whose scales depend on the values."""
    rng = np.random.default_rng(5)
    claim = parse_claim(tomllib.loads(f"[mechanism]\n{text}\n[gate]\nmax_queries = {queries}"))

    def aggregate(values: Any, size: int) -> Any:
        exact = claim.mechanism.aggregation.exact(values)
        return exact + scales(values) * rng.laplace(size=(size, exact.size))

    target = InProcessTarget(aggregate, release=claim.release)
    report: Report = verify(target, claim, seed=2, after_failure="keep-going")
    return {check.id: check for check in report.checks}


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        (HISTOGRAM, 0.5),
        (SUM, 2.0),
        *(
            pytest.param(text, scale, marks=pytest.mark.slow("another scale of each"))
            for text, scale in ((SUM, 0.5), (HISTOGRAM, 2.0), (HISTOGRAM, 5.0), (SUM, 5.0))
        ),
    ],
)
@pytest.mark.slow("over half a second")
def test_a_scale_that_is_wrong_alike_is_no_matter_of_theirs(text: str, scale: float) -> None:
    """Catches a comparison with the claimed law: half the scale refutes that within 30 releases."""
    found = judged(text, lambda values: scale)
    for check in CHECKS:
        assert found[check].verdict is not Verdict.FAIL, found[check].message
        assert found[check].log10_e_value is not None
        assert found[check].queries > 1000
    assert (found["noise-law"].verdict is Verdict.FAIL) is (scale != 2.0)


def by_total(values: Any) -> float:
    """Twice the scale for large inputs."""
    large = len(values) > 30 if values.ndim == 2 else values.min() >= 17
    return 4.0 if large else 2.0


def by_place(values: Any) -> Any:
    """Less noise in the last cells."""
    return np.where(np.arange(len(values)) < 6, 2.0, 1.0)


def by_first_record(values: Any) -> Any:
    """Scaled by whichever record comes first."""
    return 1.0 + 2.0 * (values[0, 0] > values[-1, 0])


@pytest.mark.parametrize(
    ("text", "scales", "failing", "other"),
    [
        (HISTOGRAM, by_total, *CHECKS),
        pytest.param(SUM, by_total, *CHECKS, marks=pytest.mark.slow("of histograms too")),
        (HISTOGRAM, by_place, *CHECKS[::-1]),
        (SUM, by_first_record, CHECKS[1], "clipping"),
    ],
)
@pytest.mark.slow("over half a second")
def test_noise_that_depends_on_the_input(
    text: str, scales: Scales, failing: str, other: str
) -> None:
    """The check that it is of fails; the other does not, since its inputs have one law."""
    found = judged(text, scales, queries=3400)
    assert found[failing].verdict is Verdict.FAIL, found[failing].message
    # a scale that fits some inputs may be likelier than the claim, and is told then
    what = "size" if failing == "shift-invariance" else "order"
    fitted = {"scale-too-small", "scale-too-large"}
    assert found[failing].code in {f"noise-depends-on-{what}", *fitted}
    assert found[other].verdict is not Verdict.FAIL, found[other].message


@pytest.mark.slow("over half a second")
def test_a_single_count_has_no_order() -> None:
    text = 'name = "noisy-count"\nnoise = "laplace:2"\nadjacency = "add-remove"'
    found = judged(text, lambda values: 2.0, queries=300)
    assert found["permutation-equivariance"].verdict is Verdict.NOT_APPLICABLE
    assert found["permutation-equivariance"].code == "single-value"
    assert found["shift-invariance"].verdict is not Verdict.NOT_APPLICABLE


@pytest.mark.slow("over half a second")
def test_an_input_that_is_refused_is_not_waited_for() -> None:
    """Catches a run that asks until its budget ends for pairs that never come."""

    def scales(values: Any) -> float:
        if values.min() >= 17:
            raise ValueError("totals of this survey alone")
        return 2.0

    found = judged(HISTOGRAM, scales, queries=20_000)
    assert found["shift-invariance"].verdict is Verdict.NOT_APPLICABLE
    assert found["shift-invariance"].code == "input-refused"
    assert found["shift-invariance"].fields == {"input": "moved by 17"}
    assert found["noise-law"].verdict is Verdict.PASS


# -- wagers that noise has one law for two inputs: their expectation, by enumeration of all draws


Laws = tuple[np.ndarray, np.ndarray]
Order = tuple[tuple[str, int], ...]

SYMBOLS = (0, 3, 15)  # cells that the laws below use, of sixteen
LAWS = (
    np.array([1.0, 1.0, 1.0]) / 3.0,
    np.array([0.98, 0.01, 0.01]),
    np.array([0.5, 0.5, 0.0]),
    np.array([0.7, 0.2, 0.1]),
)
ORDERS = (
    (("one", 2), ("other", 2)),
    (("one", 1), ("other", 1), ("one", 1), ("other", 1)),
    (("other", 1), ("one", 2), ("other", 1)),
    (("one", 1), ("one", 1), ("other", 2)),
)
"""In which releases come, so many of an input at a look: some wait for those of the other."""

COORDINATES = RELEASES = 2


def expectation(laws: Laws, order: Order, *, reversed_: bool) -> float:
    """The expected wealth after two releases of each input.

    laws: of two numbers by the value behind them; the inputs hold them in opposite orders where
    `reversed_`.
    """
    of_one = [*laws] * RELEASES
    of_other = [*(laws[::-1] if reversed_ else laws)] * RELEASES
    total, places = 0.0, range(len(SYMBOLS))
    for drawn in itertools.product(places, repeat=2 * COORDINATES * RELEASES):
        half = len(drawn) // 2
        chance = np.prod([law[d] for law, d in zip(of_one + of_other, drawn, strict=True)])
        if chance == 0.0:
            continue
        cells = {
            "one": np.array([SYMBOLS[d] for d in drawn[:half]]).reshape(RELEASES, COORDINATES),
            "other": np.array([SYMBOLS[d] for d in drawn[half:]]).reshape(RELEASES, COORDINATES),
        }
        comparison = _Comparison("one", "other", reversed_=reversed_)
        for role, number in order:
            comparison.add(role, cells[role][:number])
            cells[role] = cells[role][number:]
        assert comparison.evidence.pairs == COORDINATES * RELEASES
        total += chance * np.exp(comparison.evidence.log_e_value)
    return total


@pytest.mark.slow("over half a second")
def test_the_expectation_is_at_most_one() -> None:
    """Releases that wait for each other.

    Catches predictors that have seen the number they bet on: 1.39.
    """
    assert expectation((LAWS[0], LAWS[0]), ORDERS[2], reversed_=False) <= 1.0 + 1e-12


@pytest.mark.slow("over half a second")
def test_of_counts_in_the_opposite_order_too() -> None:
    """A law may go with the count: the places are turned, so that a pair has one law."""
    assert expectation((LAWS[1], LAWS[2]), ORDERS[1], reversed_=True) <= 1.0 + 1e-12


@pytest.mark.slow("more laws, by the same enumeration")
@pytest.mark.parametrize("laws", list(itertools.combinations_with_replacement(LAWS, 2)))
@pytest.mark.parametrize("reversed_", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_over_a_grid_of_laws(laws: Laws, reversed_: bool, order: Order) -> None:
    assert expectation(laws, order, reversed_=reversed_) <= 1.0 + 1e-12


def test_inputs_of_two_laws_are_beyond_it() -> None:
    """So that the bound above says something: here the wagers gain."""
    one, other = LAWS[1], LAWS[1][::-1]
    total = 0.0
    for drawn in itertools.product(range(3), repeat=6):
        laws = [one] * 3 + [other] * 3
        comparison = _Comparison("one", "other")
        comparison.add("one", np.array(drawn[:3])[:, None])
        comparison.add("other", np.array(drawn[3:])[:, None])
        chance = np.prod([law[d] for law, d in zip(laws, drawn, strict=True)])
        total += chance * np.exp(comparison.evidence.log_e_value)
    assert total > 1.2
