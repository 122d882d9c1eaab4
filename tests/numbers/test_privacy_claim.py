"""`privacy-claim` of numbers: what is claimed beside what the claimed noise costs."""

import math
import re

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import BALL, COUNT, GAUSSIAN, GRADIENT, HISTOGRAM, PRIVATE, SUM

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.numbers import NoisyHistogram, ThresholdedHistogram, parse_number_noise
from dpassay.reference.numbers.costs import epsilon_bracket
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.finding import Outcome
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds.keys.checks.privacy_claim import KeysPrivacyClaim
from dpassay.verifiers.kinds.numbers.checks.privacy_claim import NumbersPrivacyClaim
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

WIDE = (
    'name = "noisy-sum"\nnoise = "{}"\nadjacency = "add-remove"\ndimensions = 2000\n'
    "lower = -1.0\nupper = 1.0"
)


def told(claim: NumbersClaim) -> Outcome:
    """What the check says of a claim; it asks for nothing."""
    return NumbersPrivacyClaim(claim, claim.inputs(0), 0).conclude()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("text", "queries", "true"),
    [
        (COUNT, 1, 1.0),
        (HISTOGRAM.replace("add-remove", "replace-one"), 3, 3.0),  # two cells, a half each
        (SUM, 1, 1.5),
        (GAUSSIAN, 8, 4.5703765),  # as one release sqrt(8) times as far: Balle and Wang's formula
        (GAUSSIAN, 90_000, 5_474.3),  # 100 sigma apart: 100^2 / 2 + 4.743 x 100
        (GRADIENT, 5, 11.215629),
    ],
)
def test_a_claim_is_refuted_just_below_its_cost(text: str, queries: int, true: float) -> None:
    """A thousandth more passes; half the sensitivity, or one query less, would not be told."""
    for factor, verdict in ((1.001, Verdict.PASS), (0.999, Verdict.FAIL)):
        found = told(claimed(text + PRIVATE.format(factor * true, queries)))
        assert found.verdict is verdict, found.finding.message


PURE = "\n[privacy]\nepsilon = {}\ndelta = 0\nqueries = {}"


@pytest.mark.parametrize(
    ("text", "queries", "true"),
    [
        (COUNT, 1, 1.0),
        (COUNT, 7, 7.0),
        (HISTOGRAM, 3, 1.5),
        (HISTOGRAM.replace("add-remove", "replace-one"), 3, 3.0),
        (SUM, 2, 3.0),
        (HISTOGRAM.replace("laplace:2", "laplace:2;round"), 1, 0.5),
        (HISTOGRAM.replace("laplace:2", "laplace:2;cut"), 1, 0.5),
    ],
)
def test_a_claim_of_pure_privacy_is_refuted_just_below_its_cost(
    text: str, queries: int, true: float
) -> None:
    """Sensitivity over scale for each release: Dwork, McSherry, Nissim, Smith 2006."""
    for factor, verdict in ((1.001, Verdict.PASS), (0.999, Verdict.FAIL)):
        found = told(claimed(text + PURE.format(factor * true, queries)))
        assert found.verdict is verdict, found.finding.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GAUSSIAN, "gaussian noise has no finite epsilon there, expected a delta above 0"),
        (
            'name = "thresholded-histogram"\nnoise = "laplace:2"\nadjacency = "add-remove"\n'
            "cells = 40\nthreshold = 8",
            "a key that one unit alone has may be released, expected a delta above 0",
        ),
    ],
)
def test_pure_privacy_is_claimed_where_noise_may_have_it(text: str, why: str) -> None:
    with pytest.raises(ClaimError, match=re.escape(f"privacy.delta = 0: {why}")):
        claimed(text + PURE.format(1.0, 1))


def test_a_scope_is_refused_in_a_line() -> None:
    """It was accepted, and changed nothing."""
    more = PRIVATE.format(3.0, 8) + '\nscope = "asked.csv"'
    with pytest.raises(ClaimError, match=r'privacy.scope = "asked.csv".*expected "any-queries"'):
        claimed(GAUSSIAN + more)
    assert claimed(GAUSSIAN + more.replace("asked.csv", "any-queries")).privacy is not None


def test_the_fields_name_both() -> None:
    found = told(claimed(GAUSSIAN + PRIVATE.format(3.0, 8)))
    claim = {"epsilon": 3.0, "delta": 1e-6, "queries": 8}
    assert found.finding.code == "cost-above-claim"
    assert found.finding.fields == pytest.approx({"cost": 4.57038, **claim}, rel=1e-6)


def test_the_message_shows_digits_that_tell_the_two_apart() -> None:
    """It read: epsilon 3.33333 is claimed, and it costs at least 3.33333."""
    thirds = COUNT.replace("discrete-laplace:1", "discrete-laplace:0.3")
    message = told(claimed(thirds + PURE.format(3.333333, 1))).finding.message
    assert message.startswith("epsilon 3.333333 at")
    assert re.search(r"at least 3\.3333333? \(.*; 3\.333333\d? ", message), message
    passed = told(claimed(thirds + PURE.format(3.4, 1))).finding
    assert passed.code is None
    assert re.match(r"epsilon 3\.4 at delta 0.* 3\.33333;", passed.message)


@pytest.mark.slow("over half a second")
def test_many_releases_of_other_noise_are_bounded_by_a_thousand_of_them() -> None:
    claim = claimed(COUNT + PRIVATE.format(400.0, 10**12))
    found = told(claim)
    assert found.verdict is Verdict.FAIL
    assert found.finding.code == "cost-above-claim"
    assert "the cost of 1,000 of 1,000,000,000,000 releases" in found.finding.message


@pytest.mark.slow("over half a second")
def test_coarse_grids_of_losses_hold_the_truth() -> None:
    """1,000 counts with discrete Laplace noise: the loss is a walk of known steps, by sampling."""
    noise = parse_number_noise("discrete-laplace:4")
    bracket = epsilon_bracket(NoisyHistogram(noise, 1, Adjacency.ADD_REMOVE), 0.01, 1_000)
    ahead = 1.0 / (1.0 + math.exp(-0.25))  # P(K >= 0), where the loss is 1/4, else -1/4
    rng = np.random.default_rng(3)
    steps = rng.binomial(1_000, ahead, 2_000_000)
    loss = 0.25 * (2 * steps - 1_000)
    for epsilon, holds in ((bracket.low, False), (1.02 * bracket.high, True)):
        delta = np.maximum(1.0 - np.exp(np.minimum(epsilon - loss, 0.0)), 0.0).mean()
        assert (delta < 0.0099) if holds else (delta > 0.0097)


def test_what_it_does_not_apply_to() -> None:
    for text, code, fields in [
        (COUNT, "no-privacy-claimed", {}),
        (
            WIDE.format("laplace:2") + PRIVATE.format(1.0, 1),
            *("cost-not-computed", {"numbers": 2_000, "most": 1_000}),
        ),
        (
            BALL.replace("gaussian", "discrete-gaussian") + PRIVATE.format(1.0, 1),
            *("whole-noise-on-fractions", {}),
        ),
    ]:
        lacking = NumbersPrivacyClaim.not_applicable_to(claimed(text))
        assert lacking is not None
        assert (lacking.code, lacking.fields) == (code, fields)
    assert (
        NumbersPrivacyClaim.not_applicable_to(
            claimed(WIDE.format("gaussian:2") + PRIVATE.format(1.0, 1))
        )
        is None
    )


def results(text: str, aggregate: object) -> dict[str, CheckResult]:
    claim = claimed(text)
    report = verify(InProcessTarget(aggregate, release=claim.release), claim, seed=1)
    return {check.id: check for check in report.checks}


def test_a_claim_is_judged_whatever_becomes_of_the_target() -> None:
    found = results(COUNT + PRIVATE.format(0.5, 1), lambda values, size: ["broken"] * size)
    assert found["input-contract"].verdict is Verdict.ERROR
    assert found["privacy-claim"].verdict is Verdict.FAIL
    assert found["floating-point"].verdict is Verdict.NOT_APPLICABLE
    assert found["floating-point"].reproduce is None
    assert found["privacy-audit"].verdict is Verdict.INCONCLUSIVE


@pytest.mark.slow("over half a second")
def test_checks_that_lack_something_say_what() -> None:
    found = results(COUNT, lambda values, size: np.tile(values, (size, 1)))
    assert found["privacy-claim"].code == "no-privacy-claimed"
    assert found["privacy-audit"].code == "no-privacy-claimed"
    assert found["floating-point"].code == "no-low-bits"


def test_whole_noise_between_whole_bounds_hides_whole_records() -> None:
    """Replaced records from -1 to 1 move each of three sums by 2: 3 in scale 2 cost 3, exactly."""
    text = SUM.replace("laplace", "discrete-laplace").replace("add-remove", "replace-one")
    assert NumbersPrivacyClaim.not_applicable_to(claimed(text + PRIVATE.format(3.0, 1))) is None
    assert told(claimed(text + PRIVATE.format(3.0, 1))).verdict is Verdict.PASS
    assert told(claimed(text + PRIVATE.format(2.99, 1))).verdict is Verdict.FAIL


def test_records_asked_for_are_whole_where_noise_and_bounds_are() -> None:
    claim = claimed(SUM.replace("laplace", "discrete-laplace"))
    for asked in claim.inputs(3).inputs:
        assert (asked.values == np.rint(asked.values)).all()
    other = claimed(SUM).inputs(3).inputs[0].values
    assert (other != np.rint(other)).any()


KEYS = (
    'name = "thresholded-histogram"\nnoise = "{}"\nadjacency = "{}"\ncells = 40\n'
    "threshold = {}\n{}\n[privacy]\nepsilon = {}\ndelta = {}\nqueries = {}"
)


def told_of_keys(*parts: object) -> Outcome:
    """What the check says of noise, adjacency, threshold, more, epsilon, delta and queries."""
    claim = claimed(KEYS.format(*parts))
    return KeysPrivacyClaim(claim, claim.inputs(0), 0).conclude()


def one_release(p: float, q: float, delta: float) -> float:
    """Epsilon of an event of probabilities p and q."""
    return math.log((p - delta) / q)


REACHED = 1.0 / (1.0 + math.exp(-1.0))  # P(K >= 0) of discrete-laplace:1
BEYOND = math.exp(-1.0) * REACHED  # P(K >= 1)
TWO_USERS = 'unit = "user"\nmax_contributions = 2'


@pytest.mark.parametrize(
    ("parts", "delta", "queries", "true"),
    [
        (("discrete-laplace:1", "add-remove", 6, ""), 0.005, 1, None),
        # 20 from 19: of three releases all three, e each
        (
            ("discrete-laplace:1", "add-remove", 20, ""),
            1e-6,
            3,
            one_release(REACHED**3, BEYOND**3, 1e-6),
        ),
        # a record moved from a key of 20 to one of 19: released there, and not here
        (
            ("discrete-laplace:1", "replace-one", 20, ""),
            1e-6,
            1,
            one_release(REACHED**2, BEYOND**2, 1e-6),
        ),
        # 20 and 18 records of a user's two and others: P(K >= 2) = e^-1 P(K >= 1)
        (
            ("discrete-laplace:1", "add-remove", 20, TWO_USERS),
            1e-6,
            1,
            one_release(REACHED, math.exp(-1.0) * BEYOND, 1e-6),
        ),
    ],
)
def test_a_claim_of_keys_is_refuted_just_below_its_cost(
    parts: tuple[object, ...], delta: float, queries: int, true: float | None
) -> None:
    """A thousandth more passes, where delta alone was looked at, and any epsilon passed."""
    true = one_release(REACHED, BEYOND, delta) if true is None else true
    for factor, verdict in ((1.001, Verdict.PASS), (0.999, Verdict.FAIL)):
        found = told_of_keys(*parts, factor * true, delta, queries)
        assert found.verdict is verdict, found.finding.message
        assert f"epsilon {true:.6g} at delta {delta:g}" in found.finding.message
        if verdict is Verdict.FAIL:
            assert found.finding.code == "cost-above-claim"
            assert found.finding.fields["cost"] == pytest.approx(true, rel=1e-6)


@pytest.mark.slow("over half a second")
def test_keys_are_told_with_epsilon_and_delta() -> None:
    """A newcomer's claim, which passed: 1 for a hundredth."""
    parts = ("discrete-laplace:1", "add-remove", 6, "")
    found = told_of_keys(*parts, 0.01, 0.005, 1)
    claim = {"epsilon": 0.01, "delta": 0.005, "queries": 1}
    assert (found.verdict, found.finding.code) == (Verdict.FAIL, "cost-above-claim")
    assert found.finding.fields == pytest.approx(
        {"cost": 0.993137, "releases": 1, **claim}, rel=1e-6
    )
    found = told_of_keys(*parts, 1.0, 0.004, 2)
    least = {"delta": 0.004, "least": 1.0 - (1.0 - 0.00492596) ** 2, "queries": 2}
    assert (found.verdict, found.finding.code) == (Verdict.FAIL, "delta-too-small")
    assert found.finding.fields == pytest.approx(least, rel=1e-4)
    found = told_of_keys("laplace:1000", "add-remove", 40_000, TWO_USERS, 50, 1e-3, 10**9)
    assert "1,000,000 of 1,000,000,000" in found.finding.message


@pytest.mark.parametrize(
    "noise", ["laplace:2", "gaussian:2", "discrete-gaussian:2", "laplace:2;round", "laplace:2;cut"]
)
@pytest.mark.parametrize("queries", [1, 10])
def test_what_textbooks_charge_for_keys_is_not_refuted(noise: str, queries: int) -> None:
    """Noisy counts with epsilon of their noise, and delta of the keys of one record added to it.

    Dwork, Rothblum, Vadhan 2010: epsilon and delta over all queries; Gaussian noise by Balle and
    Wang's formula at a tenth of the delta that is claimed.
    """
    keys = claimed(KEYS.format(noise, "add-remove", 20, "", 1.0, 0.5, 1)).mechanism.law
    assert isinstance(keys, ThresholdedHistogram)
    delta = 1.2 * queries * keys.delta
    epsilon = 0.5 * queries
    if "gaussian" in noise:
        counts = NoisyHistogram(parse_number_noise("gaussian:2"), 40, Adjacency.ADD_REMOVE)
        epsilon = 1.001 * epsilon_bracket(counts, 0.1 * delta, queries).high
    found = told_of_keys(noise, "add-remove", 20, "", epsilon, delta, queries)
    assert found.verdict is Verdict.PASS, found.finding.message
    found = told_of_keys(noise, "add-remove", 20, "", 0.4 * epsilon, delta, queries)
    assert found.verdict is Verdict.FAIL, found.finding.message
