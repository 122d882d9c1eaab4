"""Claims, targets that draw as claimed or otherwise, and what one check of a run says."""

import re
from functools import partial
from typing import Any

import numpy as np
from claims import gnmax, in_toml

from dpassay.reference import NoisyArgmax, parse_noise
from dpassay.verifiers.findings.finding import Finding
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.report import CheckResult, Report
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import InProcessTarget

TOML = in_toml(mechanism=gnmax())
"""What `claimed()` says, as it stands in a file."""


def claimed(
    noise: str = "gaussian:40",
    name: str = "gnmax",
    *,
    classes: int = 10,
    teachers: int = 250,
    caching: bool = False,
    privacy: dict[str, Any] | None = None,
    **gate: Any,
) -> LabelsClaim:
    """A claim of one mechanism; without `privacy`, none is made of what it costs."""
    mechanism = {"name": name, "noise": noise, "classes": classes, "teachers": teachers}
    tables = {"mechanism": mechanism | {"caching": caching}, "gate": gate}
    claim: LabelsClaim = parse_claim(tables | ({"privacy": privacy} if privacy else {}))
    return claim


few_answers = partial(
    claimed,
    "gaussian:10",
    classes=3,
    teachers=50,
    privacy={"epsilon": 1.0, "delta": 1e-5, "queries": 5},
    max_queries=400,
)
"""A claim of a budget that some answers use up."""


def drawing_with(noise: str, seed: int = 0) -> InProcessTarget:
    """Noisy argmax with this noise, whatever is claimed."""
    rng, mechanism = np.random.default_rng(seed), NoisyArgmax(parse_noise(noise))
    return InProcessTarget(lambda histogram, size: mechanism.sample(histogram, size, rng))


def result(report: Report, check: str) -> CheckResult:
    """What the report says of one check, by its id."""
    return next(found for found in report.checks if found.id == check)


def number(found: CheckResult | Finding | Note, name: str) -> float:
    """A field that must be a number."""
    value = found.fields[name]
    assert isinstance(value, int | float)
    return float(value)


def names_scale(diagnosis: str, factor: float) -> bool:
    """Whether a cause says `factor` of the claimed scale, known by name or fitted within a tenth.

    For targets without a seed: a fitted scale takes the place of the known one that is there with
    probability 0.002 (`checks/fitted.py`), and misses it by a tenth with less than 1e-9.
    """
    named = {0.5: "half the claimed scale"}.get(factor, f"{factor:g} of the claimed scale")
    fitted = re.search(r"about ([0-9.]+) times the claimed scale", diagnosis)
    return named in diagnosis or (
        fitted is not None and abs(float(fitted[1]) - factor) <= 0.1 * max(factor, 1.0)
    )
