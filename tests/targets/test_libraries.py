"""Aggregators of public libraries pass their true claims, and fail at half the claimed noise."""

import importlib
import importlib.util

import pytest

from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

MORE = pytest.mark.slow("other families of the same library")
LIBRARIES = [
    ("opendp", "exponential"),
    ("diffprivlib", "gumbel"),
    pytest.param("diffprivlib", "exponential", marks=MORE),
    pytest.param("diffprivlib", "laplace", marks=MORE),
]


@pytest.mark.slow("whole runs of libraries")
@pytest.mark.parametrize(("library", "family"), LIBRARIES)
def test_a_library_passes_its_true_claim_and_fails_at_half(library, family) -> None:
    """None of them can be seeded: a correct one fails with probability 1e-6 by the gate itself."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    targets = importlib.import_module(f"{library}_targets")
    mechanism = {"name": "report-noisy-max", "classes": 3, "teachers": 24}
    mechanism["noise"] = f"{family}:{targets.SCALE:g}"
    gate = {"smallest_effect": 0.15, "tolerance": 0.25}
    made = parse_claim({"mechanism": mechanism, "gate": gate})
    right = verify(InProcessTarget(getattr(targets, family)), made, seed=0)
    assert right.verdict.value == "pass", [check.message for check in right.checks]
    wrong = verify(InProcessTarget(getattr(targets, f"{family}_half")), made, seed=0)
    assert wrong.verdict.value == "fail"
    failed = [check for check in wrong.checks if check.verdict.value == "fail"]
    assert any(f"labels fit {family}:" in check.diagnosis for check in failed)
