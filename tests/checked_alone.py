"""A check of numbers that asks, run alone on an aggregator."""

import tomllib
from typing import Any

import numpy as np
from numeric_zoo import Aggregate, Make

from dpassay.verifiers.findings.finding import Outcome
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.outcome import RunOutcome
from dpassay.verifiers.run.state import RunState
from dpassay.verifiers.targets import InProcessTarget


def claimed(mechanism: str, rest: str = "") -> NumbersClaim:
    """A claim from the lines under `[mechanism]`, and other tables."""
    claim: NumbersClaim = parse_claim(tomllib.loads(f"[mechanism]\n{mechanism}\n{rest}"))
    return claim


def outcome(check: Any, claim: NumbersClaim, aggregate: Aggregate, seed: int = 1) -> Outcome | None:
    """What the check comes to on a function (values, size) -> releases."""
    target = InProcessTarget(aggregate, release=claim.release)
    standing = RunState(target, claim, RunOutcome(None), None)
    found: Outcome | None = check(claim, claim.inputs(seed), seed).conclude(standing)
    assert found is None or found.verdict.value == "not-applicable" or standing.queries > 0
    return found


def made(make: Make, claim: NumbersClaim, seed: int = 1) -> Aggregate:
    """The aggregator of a zoo entry's maker."""
    return make(claim.mechanism.aggregation, np.random.default_rng([seed, 99]))
