"""A norm over more numbers than a run looks at: their projection is of all of them."""

import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed, outcome

from dpassay.reference.numbers import Clipping as Bounds
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.numbers.checks.clipping import ClippingCheck, Sensitivity
from dpassay.verifiers.kinds.reading import parse_claim

WIDE = """name = "noisy-gradient"
noise = "{}"
adjacency = "add-remove"
shapes = [[40, 30], [30], [30, 10], [10]]
clip_norm = 1.0
divide_by = 32
"""


def per_tensor(tensors: list[Any], bound: float) -> Any:
    clip = Bounds(norm_bound=bound).clipped
    return np.concatenate([clip(tensor) for tensor in tensors], axis=1)


def together(tensors: list[Any], bound: float) -> Any:
    return Bounds(norm_bound=bound).clipped(np.concatenate(tensors, axis=1))


Clipped = Callable[[list[Any], float], Any]


def deployment(clipped: Clipped, bound: float, kind: Any) -> Any:
    rng = np.random.default_rng(5)

    def aggregate(values: Any, size: int) -> Any:
        tensors = [np.reshape(np.asarray(t, dtype=np.float64), (len(t), -1)) for t in values]
        if not all(np.isfinite(tensor).all() for tensor in tensors):
            raise ValueError("not finite")
        total = (clipped(tensors, bound).sum(0) / 32).astype(kind)
        noise = rng.standard_normal((size, total.size), dtype=kind)
        return total + kind(1.1 / 32) * noise

    return aggregate


@pytest.mark.parametrize(
    ("check", "clipped", "bound"),
    [
        pytest.param(Sensitivity, per_tensor, 1.0, marks=pytest.mark.slow("a norm of 2 too")),
        pytest.param(
            *(Sensitivity, together, 2.0),
            marks=pytest.mark.slow("clipping shows it; of fewer numbers, tensors in the zoo"),
        ),
        (ClippingCheck, together, 20.0),
    ],
)
def test_a_norm_of_many_numbers_shows(check: Any, clipped: Clipped, bound: float) -> None:
    """These passed: of 1,540 numbers 1,000 were looked at, and nothing was said of their norm."""
    found = outcome(check, claimed(WIDE.format("gaussian:1.1")), deployment(clipped, bound, float))
    assert found is not None
    assert found.verdict is Verdict.FAIL


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "check",
    [
        ClippingCheck,
        pytest.param(Sensitivity, marks=pytest.mark.slow("the same norms, more releases")),
    ],
)
def test_a_bounded_norm_of_many_numbers_passes(check: Any) -> None:
    """In single precision too, whose losses add up over all numbers."""
    claim = claimed(WIDE.format("gaussian:1.1"))
    found = outcome(check, claim, deployment(together, 1.0, np.float32))
    assert found is not None
    assert found.verdict is Verdict.PASS, found.finding.message
    assert "single numbers" not in found.finding.message


NORM1 = """name = "noisy-sum"
noise = "{}"
adjacency = "add-remove"
dimensions = 6
clip_norm1 = 1.0
"""
NORM2 = NORM1.replace("clip_norm1", "clip_norm")
BOX = Bounds(lower=-1.0, upper=1.0)


def summed(of: Any, clipped: Any) -> Any:
    rng = np.random.default_rng(7)

    def aggregate(values: Any, size: int) -> Any:
        records = np.asarray(values, dtype=np.float64)
        if not np.isfinite(records).all():
            raise ValueError("not finite")
        return of.noise.sample(clipped(records).sum(0), size, rng)

    return aggregate


def halves(clip: Any) -> Any:
    return lambda records: np.concatenate([clip(records[:, :3]), clip(records[:, 3:])], axis=1)


@pytest.mark.parametrize("check", [ClippingCheck, Sensitivity])
@pytest.mark.parametrize(
    "noise",
    [
        "laplace:2",
        pytest.param("laplace:2;grid=2^-20", marks=pytest.mark.slow("values have masses in both")),
        "discrete-laplace:2",
    ],
)
@pytest.mark.parametrize(
    ("text", "clipped"),
    [
        (NORM1, BOX.clipped),
        (NORM1, halves(Bounds(norm_bound=1.0, norm=1).clipped)),
        (NORM1, Bounds(norm_bound=1.0).clipped),
        (NORM2, BOX.clipped),
    ],
    ids=["box for L1", "two halves for L1", "L2 for L1", "box for L2"],
)
@pytest.mark.quick_cases(2)
def test_a_norm_shows_under_any_noise(check: Any, noise: str, text: str, clipped: Any) -> None:
    """No number moves too far by itself: all of these passed, the norm not looked at."""
    claim = claimed(text.format(noise))
    right = claim.mechanism.aggregation.clipping.clipped  # type: ignore[attr-defined]
    passed = outcome(check, claim, summed(claim.mechanism.aggregation, right))
    assert passed is not None
    assert passed.verdict is Verdict.PASS, passed.finding.message
    if check is ClippingCheck:
        return  # 40 releases do not show so little; those of `sensitivity` do
    found = outcome(check, claim, summed(claim.mechanism.aggregation, clipped))
    assert found is not None
    assert found.verdict is Verdict.FAIL


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "noise",
    [
        "laplace:1.1;min=-9",
        pytest.param(
            "gaussian:1.1;grid=2^-20;max=9", marks=pytest.mark.slow("clamped at the other end")
        ),
    ],
)
def test_a_pass_says_that_no_norm_was_looked_at(noise: str) -> None:
    claim, rng = claimed(WIDE.format(noise)), np.random.default_rng(3)
    aggregation = claim.mechanism.aggregation

    def released(values: Any, size: int) -> Any:
        kept = [np.nan_to_num(tensor, posinf=1e300, neginf=-1e300) for tensor in values]
        return aggregation.noise.sample(aggregation.exact(kept), size, rng)

    found = outcome(ClippingCheck, claim, released)
    assert found is not None
    assert "not the norm" in found.finding.message


def test_the_bound_has_the_name_of_libraries_too() -> None:
    """`l1_clip_norm` is read as `clip_norm1`, which reports go on writing; both are one mistake."""
    text = f"[mechanism]\n{NORM1.format('laplace:1')}"
    made = parse_claim(tomllib.loads(text.replace("clip_norm1", "l1_clip_norm")))
    assert made.mechanism.clip_norm1 == 1.0
    assert "clip_norm1" in made.model_dump()["mechanism"]
    with pytest.raises(ClaimError, match=r"l1_clip_norm and clip_norm1"):
        parse_claim(tomllib.loads(f"{text}l1_clip_norm = 1.0\n"))
