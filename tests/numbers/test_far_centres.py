"""A centre so far from 0 that floats lose the noise, or the move, is no evidence of a move.

Correct deployments were accused of broken sensitivity: a release that rounds to the next float lies
many scales from a centre that was not rounded.
"""

import math
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed, outcome
from numeric_zoo import Aggregate
from scipy.special import logsumexp

from dpassay.reference.numbers import Aggregation, NoisySum, parse_number_noise
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.numbers.checks.clipping import Clipping
from dpassay.verifiers.kinds.numbers.checks.sensitivity import Sensitivity
from dpassay.verifiers.kinds.numbers.evidence.moved import MovedTooFar
from dpassay.verifiers.kinds.numbers.planning.asked import digits_of

Kind = type[np.float64] | type[np.float32]

FAR = """name = "noisy-sum"
dimensions = 2
lower = {}
upper = {}
adjacency = "replace-one"
noise = "{}"
"""


def deployment(aggregation: Aggregation, kind: Kind, *, unclipped: bool = False) -> Aggregate:
    """Sums record after record and adds the noise in floats of one kind."""
    rng = np.random.default_rng(8)
    family = aggregation.noise.family
    assert isinstance(aggregation, NoisySum)
    bounds, width = aggregation.clipping, aggregation.width

    def aggregate(values: Any, size: int) -> Any:
        if not np.isfinite(values).all():
            raise ValueError("not finite")
        with np.errstate(over="ignore"):
            records = np.asarray(values, dtype=kind)
        if not unclipped:
            records = np.clip(records, kind(bounds.lower or 0.0), kind(bounds.upper or 0.0))
        total: Any = np.zeros(width, dtype=kind)
        for record in records:
            total = total + record
        noise = family.sample(rng, (size, width)).astype(kind)
        return aggregation.noise.rounded((total + noise).astype(np.float64))

    return aggregate


@pytest.mark.parametrize("check", [Clipping, Sensitivity])
@pytest.mark.parametrize(
    ("lower", "upper", "noise", "kind"),
    [
        (1e17, 1e17 + 64.0, "laplace:64", np.float64),  # floats of the sum are 128 apart
        (1e17, 1e17 + 1024.0, "gaussian:700", np.float64),
        (1e8, 1e8 + 8.0, "laplace:8", np.float32),  # 64 apart in single precision
        (1e8, 1e8 + 1024.0, "laplace:1024;round", np.float32),
        (2.0**53, 2.0**53 + 16.0, "discrete-laplace:16", np.float64),
    ],
)
def test_a_far_centre_is_no_evidence(
    check: Any, lower: float, upper: float, noise: str, kind: Kind
) -> None:
    """The first and the third were accused by both checks; the false alarm is 1e-6."""
    claim = claimed(FAR.format(lower, upper, noise))
    found = outcome(check, claim, deployment(claim.mechanism.aggregation, kind))
    assert found is not None
    assert found.verdict is Verdict.PASS, found.finding.message


@pytest.mark.parametrize("check", [Clipping, Sensitivity])
@pytest.mark.parametrize(
    ("lower", "upper", "noise", "kind"),
    [(1e17, 1e17 + 64.0, "laplace:64", np.float64), (1e8, 1e8 + 8.0, "laplace:8", np.float32)],
)
def test_what_is_not_clipped_shows_from_afar(
    check: Any, lower: float, upper: float, noise: str, kind: Kind
) -> None:
    """The room that floats are given does not hide a record of 10^12 among ones of 10^17."""
    claim = claimed(FAR.format(lower, upper, noise))
    found = outcome(check, claim, deployment(claim.mechanism.aggregation, kind, unclipped=True))
    assert found is not None
    assert found.verdict is Verdict.FAIL


@pytest.mark.parametrize("exact", [0.0, 1e16, 1e17])
@pytest.mark.parametrize(
    "text", ["laplace:1", "gaussian:3", "discrete-laplace:2", "laplace:4;round", "laplace:4;cut"]
)
def test_a_wager_far_out_expects_at_most_1(text: str, exact: float) -> None:
    """By enumeration of floats, of a centre that has moved by what is allowed: exact integers."""
    noise = parse_number_noise(text)
    allowed = 4.0
    gap = max(1.0, float(np.spacing(exact)))
    sums = np.arange(-400.0, 401.0)
    if noise.grid or noise.family.whole:  # whole sums, of which floats hold some: ties go to even
        log_mass = noise.family.log_mass(sums - allowed + 0.5 * noise.cut, 0.5)
        cut_up = noise.cut and exact == 0.0  # of sums below 0
        released = np.array([float(int(exact) + int(k) + (cut_up and k < 0)) for k in sums])
    else:  # cells of width 1, none of which reaches beyond the middle between two floats
        middle = sums + 0.5 if gap > 1.0 else sums
        log_mass = noise.family.log_mass(middle - allowed, 0.5)
        released = exact + gap * np.rint(middle / gap)
    values, where = np.unique(released, return_inverse=True)
    log_law = np.full(values.size, -np.inf)
    np.logaddexp.at(log_law, where.ravel(), log_mass)
    half = np.maximum(noise.half_width(values), 0.5 * gap if not noise.family.whole else 0.0)
    evidence = MovedTooFar(noise, values.size)
    evidence.observe(values[None], np.full(values.size, exact), allowed, half[None])
    expected = np.exp(logsumexp(log_law[None, :, None] + evidence.gains, axis=1))
    assert math.fsum(np.exp(log_law)) == pytest.approx(1.0, abs=1e-9)
    assert expected.max() <= 1.0 + 1e-6, expected.max((0, 1))


@pytest.mark.parametrize(
    ("noise", "bound"),
    [("laplace:2;grid=0.1", 2e14), ("laplace:2;round", 2e15), ("laplace:2;grid=0.001", 2e14)],
)
def test_a_grid_that_floats_hardly_hold_is_refused(noise: str, bound: float) -> None:
    """Sums in floats, then rounded, and true sums, rounded: one of two right deployments failed."""
    with pytest.raises(ClaimError, match="floats decide") as error:
        claimed(FAR.format(0.0, bound, noise))
    assert "\n" not in str(error.value)
    claimed(FAR.format(0.0, 1e8, noise))
    claimed(FAR.format(0.0, bound, noise.replace(":2", ":1e9")))  # steps that no check tells apart
    claimed(FAR.format(0.0, bound, "laplace:2;grid=2^-40"))  # which floats hold, or are far beyond


def test_single_precision_is_seen_in_the_numbers() -> None:
    rng = np.random.default_rng(1)
    drawn = rng.standard_normal((5, 2))
    assert digits_of(drawn) == 53
    assert digits_of(drawn.astype(np.float32).astype(np.float64)) == 24
    assert isinstance(claimed(FAR.format(0.0, 1.0, "laplace:1")).mechanism.aggregation, NoisySum)
