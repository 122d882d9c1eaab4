"""Evidence on inputs that were steered to decisions in the target's code, each by itself."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from .....reference.numbers import NumberNoise
from ....findings.evidence_text import NEAREST
from ....findings.finding import Finding
from ....paths.decision import asked_words
from ....paths.search import Reached
from ..evidence.described import NOT_DESCRIBED
from ..evidence.noise_law import NoiseLawEvidence
from ..planning.asked import Asked, Draws

BRANCHES = 0.05
"""Weight of these inputs beside those of the plan, whether or not there are any."""

_SURE = 3.0  # nats by which a known fault must be likelier to be named


def with_branches(planned: float, branches: float) -> float:
    """The evidence on the plan's inputs, with that on these, natural logs."""
    return float(np.logaddexp(math.log1p(-BRANCHES) + planned, math.log(BRANCHES) + branches))


@dataclass(frozen=True)
class BranchInput:
    """An input that takes an outcome of a decision: that of the last call of a sequence."""

    asked: Asked
    reached: Reached

    @property
    def how(self) -> str:
        """How it is asked."""
        size = self.reached.candidate.calls[-1][1]
        call = "" if size == 1 else f", in calls for {size:,} releases"
        return f"{self.asked.name}{call}{self.reached.after}"


class NumbersAtBranches:
    """The mean of one e-process for each input, with equal weights fixed before the first release.

    Each wagers on known faults and on any other law, as `noise-law` does on all draws together, on
    the releases of its input alone: a fault behind a branch is masked by those of other inputs.
    """

    def __init__(
        self, noise: NumberNoise, inputs: Sequence[BranchInput], divisor: float | None
    ) -> None:
        self.inputs, self.noise = tuple(inputs), noise
        self.evidence = [NoiseLawEvidence(noise, 0, divisor) for _ in inputs]
        self.draws = [0] * len(self.inputs)

    def observe(self, place: int, draws: Draws) -> None:
        """Adds fresh releases of one input."""
        self.evidence[place].observe(draws.placed.flat, {})
        self.draws[place] += draws.released.size

    @property
    def _each(self) -> list[float]:
        return [one.log_e_value for one in self.evidence]

    @property
    def log_e_value(self) -> float:
        """Log of the mean: at most 1 in expectation under the claim."""
        each = self._each
        if math.inf in each:  # a release that the claim forbids
            return math.inf
        return float(logsumexp(each) - math.log(len(each)))

    @property
    def words(self) -> str:
        """What a pass says of the inputs that were asked."""
        return asked_words(sum(self.draws), "draws", [one.reached.words for one in self.inputs])

    def finding(self) -> Finding:
        """What the input with most evidence shows."""
        at = int(np.argmax(self._each))
        given, evidence = self.inputs[at], self.evidence[at]
        where, words = given.reached.fields, given.reached.words
        message = (
            f"releases do not follow {self.noise} where {words}: "
            f"{self.draws[at]:,} draws from {given.how}"
        )
        if evidence.forbidden is not None:
            y, x = evidence.forbidden
            message = f"{message}; {y!r} was released where the exact value is {x:g}"
            return Finding(message, code="release-impossible", fields=where, log_odds=math.inf)
        _, fault, nats = evidence.worst()
        if nats < _SURE:
            return Finding(message, code="law-unexplained", fields=where)
        cause = evidence.cause(None, fault)
        if not evidence.describes(None, fault):
            return Finding(message, code=NOT_DESCRIBED.code, fields=where, log_odds=nats)
        words = f"{cause} where {words}"
        cause = replace(cause, message=words, fields={**cause.fields, **where})
        return replace(Finding.caused(message, cause, nats), diagnosis=f"{words} ({NEAREST})")
