"""`shift-invariance` and `permutation-equivariance`: twin histograms have the same law."""

import numpy as np

from .....reference import REFUSAL
from .....reference.mechanisms import Labels
from ....evidence import LevelsOfOneLaw, Outcomes, SameLawEvidence, as_outcomes
from ....evidence.dirichlet import split_levels
from ....findings.finding import Finding
from ....run.checks import Judged
from ....run.error_budget import log_threshold
from ....run.phase import Phase
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..registry import SHARES
from .base import PLAINLY, How
from .spec import CACHED, NO_RELATED_INPUTS, TOO_FEW, LabelsSpec, needs_compared_streams

MOST_REFUSED = 0.85
"""Least share of labels that must be compared: at 85 %, simulated power is at least 0.99."""

_REASONS = {
    "shift-invariance": "the same votes added to every class (Theorem 2 of Wang et al. 2022)",
    "permutation-equivariance": "the same votes under other class numbers",
}


class Symmetry(Judged):
    """Bets on pairs of labels, one of the base and one of its twin, that their laws differ.

    It needs no formula for Q, so it separates a fault of the symmetry from one of the noise. The
    screen of Confident-GNMax depends on the largest count, which a shift changes, so for shifts
    only answers are compared.
    """

    def __init__(self, check: str, plan: Plan) -> None:
        self.id = check
        self.plan = plan
        self.queries = 0
        self.base, self.other, self.pairs = plan.compared_streams[check]
        self.log_threshold = log_threshold(SHARES[check], plan.claim.gate.false_alarm)
        levels = split_levels(plan.log_q[self.base], plan.claim.gate.smallest_effect)
        self.evidence = (
            SameLawEvidence(plan.log_q.shape[1]) if levels is None else LevelsOfOneLaw(levels.rest)
        )
        empty = np.zeros(0, dtype=np.int64)
        self._waiting: dict[int, Outcomes] = {self.base: empty, self.other: empty}
        self._asked = {self.base: 0, self.other: 0}
        self._highest = 0.0

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        """See `Check.observe`; labels wait until the other stream has as many."""
        if stream not in self._waiting:
            return
        self.queries += labels.size
        self._asked[stream] += labels.size
        if self.id == "shift-invariance":
            labels = labels[labels != REFUSAL]
        relabel = self.plan.streams[stream].relabel
        if relabel is not None:
            labels = np.where(labels == REFUSAL, REFUSAL, np.array(relabel)[labels])
        outcomes = as_outcomes(labels, self.plan.log_q.shape[1])
        self._waiting[stream] = np.concatenate([self._waiting[stream], outcomes])
        ready = min(queue.size for queue in self._waiting.values())
        if ready:
            self.evidence.observe(
                self._waiting[self.base][:ready], self._waiting[self.other][:ready]
            )
            self._waiting = {i: queue[ready:] for i, queue in self._waiting.items()}
            self._highest = max(self._highest, self.evidence.log_e_value)

    @property
    def log_e_value(self) -> float:
        """See `Check.log_e_value`; the highest so far."""
        return self._highest

    def samples_needed(self) -> int:
        """See `Check.samples_needed`; a few refusals are covered by the plan, many are not."""
        if self.evidence.pairs < MOST_REFUSED * min(self._asked.values()):
            return max(self.pairs, 2 * (self.pairs - self.evidence.pairs))
        return sum(max(0, self.pairs - asked) for asked in self._asked.values())

    def drop(self, stream: int) -> str | None:
        """See `Check.drop`: neither of the two can be spared."""
        return "the target refuses a histogram of the pair" if stream in self._waiting else None

    def fail_finding(self) -> Finding:
        """See `Check.fail_finding`."""
        first, second = self.evidence.counts
        worst = int(np.argmax(np.abs(first - second)))
        other = self.plan.streams[self.other].histogram
        return Finding(
            f"two histograms that must have one law do not: label {worst} came "
            f"{int(first[worst])} and {int(second[worst])} times in {self.evidence.pairs} each; "
            f"the second is {self.plan.claim.named(other)}",
            f"labels depend on more than the claim allows: {_REASONS[self.id]}",
            self.plan.streams[self.base].histogram,
        )

    def pass_finding(self) -> Finding:
        """See `Check.pass_finding`."""
        effect = self.plan.claim.gate.smallest_effect
        return Finding(
            f"a difference of {effect:g} in total variation would have been caught with "
            "probability 0.99"
        )


def _not_applicable(claim: LabelsClaim) -> str | None:
    return CACHED if claim.mechanism.caching else None


def _spec(check: str, named: int) -> LabelsSpec:
    def not_applicable_in(plan: Plan) -> str | None:
        if check in plan.compared_streams:
            return None
        if not plan.extent.symmetries:
            return TOO_FEW
        if plan.claim.given:
            return f"{NO_RELATED_INPUTS}: {_REASONS[check]}"
        return "the target refuses totals other than the claimed teachers"

    return LabelsSpec(
        id=check,
        phase=Phase.SHARED,
        not_applicable=_not_applicable,
        not_applicable_in=not_applicable_in,
        needs=needs_compared_streams(check),
        named=named,
        make=lambda setting: Symmetry(check, setting.plan),
    )


SPECS = (_spec("shift-invariance", named=4), _spec("permutation-equivariance", named=5))
