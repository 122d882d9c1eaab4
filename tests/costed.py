"""Claims of numbers that cost what a formula says, and a check concluded on a target."""

from typing import Any

from dpassay.verifiers.findings.finding import Outcome
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.run.outcome import RunOutcome
from dpassay.verifiers.run.state import RunState
from dpassay.verifiers.targets import Target

GAUSSIAN = 'name = "noisy-histogram"\nnoise = "gaussian:3"\nadjacency = "add-remove"\ncells = 4'
REPLACED = GAUSSIAN.replace("add-remove", "replace-one")
LAPLACE = GAUSSIAN.replace("gaussian:3", "laplace:2")
BOX = (
    'name = "noisy-sum"\nnoise = "laplace:4"\nadjacency = "replace-one"\n'
    "dimensions = 2\nlower = -1.0\nupper = 1.0"
)
BALL = (
    'name = "noisy-mean"\nnoise = "gaussian:0.5"\nadjacency = "replace-one"\n'
    "dimensions = 4\nclip_norm = 1.0\ndivide_by = 8"
)


def concluded(check: type[Any], claim: NumbersClaim, target: Target) -> Outcome:
    """What a check comes to on a target."""
    standing = RunState(target, claim, RunOutcome(None), None)
    found = check(claim, claim.inputs(0), 0).conclude(standing)
    assert isinstance(found, Outcome)
    return found
