"""All that sees a run's labels: the checks, the simulated attacker and the audit of a pair."""

import numpy as np

from ...reference.mechanisms import Labels
from ..checks import ClassProbabilities, FreshNoise, HistogramLeakage, NoiseScale, PrivacyAudit
from ..planning.plan import Batch, Plan
from .applicable import checks_of, has_pair
from .results import is_refuted
from .selection import Selection


class Observers:
    """What looks at the labels of one plan.

    checks: those that gather evidence; lacking: check id -> why it is not among them; labels,
    scale, fresh: checks of which the run needs more than the verdict (None where it lacks them);
    leakage, audited: the simulated attacker and the audit; answered: which streams (streams,) have
    been answered.
    """

    def __init__(self, plan: Plan, seed: int, selection: Selection) -> None:
        self.checks, self.lacking = checks_of(plan, selection)
        self.labels = next((c for c in self.checks if isinstance(c, ClassProbabilities)), None)
        self.scale = next((c for c in self.checks if isinstance(c, NoiseScale)), None)
        self.fresh = next((c for c in self.checks if isinstance(c, FreshNoise)), None)
        self.answered = np.zeros(len(plan.streams), dtype=bool)
        leakage, audit = (selection.keeps(c.id) for c in (HistogramLeakage, PrivacyAudit))
        self.leakage = HistogramLeakage(plan, seed) if leakage else None
        self.audited = PrivacyAudit(plan) if audit and has_pair(plan) else None

    @property
    def refuted(self) -> bool:
        """Whether any check's evidence has reached its threshold."""
        return any(is_refuted(check) for check in self.checks)

    @property
    def law_refuted(self) -> bool:
        """Whether the labels turned out to have another law, so that a simplest case exists."""
        return any(check and is_refuted(check) for check in (self.labels, self.scale))

    def observe(self, batch: Batch, labels: Labels, calls: tuple[int, ...]) -> None:
        """Shows the fresh labels of a batch to all; calls: sizes of the calls that gave them."""
        stream = batch.stream
        self.answered[stream] = True
        for check in self.checks:
            if isinstance(check, ClassProbabilities):
                check.observe(stream, labels, batch.turn, single=max(calls) == 1)
            elif isinstance(check, FreshNoise):
                goes_on = batch.other is not None
                check.observe(stream, labels, batch.turn, calls, goes_on=goes_on)
            else:
                check.observe(stream, labels)
        if self.leakage is not None:
            self.leakage.observe(stream, labels)
        if self.audited is not None:
            self.audited.observe(stream, labels)

    def drop(self, stream: int) -> None:
        """Does without a stream that the target refuses; a check that cannot goes to `lacking`."""
        if self.leakage is not None:
            self.leakage.drop(stream)
        if self.audited is not None:
            self.audited.drop(stream)
        for check in list(self.checks):
            reason = check.drop(stream)
            if reason is not None:
                self.checks.remove(check)
                self.lacking[check.id] = reason
