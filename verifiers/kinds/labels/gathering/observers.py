"""The checks that see a run's labels, made from the registry before the first label."""

from collections.abc import Iterator

import numpy as np

from .....reference.mechanisms import Labels
from ....run.phase import Phase
from ....run.selection import Selection
from ..checks import ClassProbabilities, LabelsEvidence, LabelsFreshNoise, LabelsNoiseScale, Order
from ..checks.base import Circumstances, LabelsCheck, LabelsSetting, labels_checks
from ..registry import CHECKS


class Observers:
    """The checks that look at the labels of one plan.

    checks: those that gather evidence; lacking: check id -> why it is not among them; labels,
    scale, fresh, order: checks of which the run needs more than the verdict (None where it lacks
    them); answered: which streams (streams,) have been answered.
    """

    def __init__(self, setting: LabelsSetting, selection: Selection) -> None:
        claim, plan = setting.claim, setting.plan
        self.lacking = {**CHECKS.lacking(claim, plan), **selection.left_out}
        seeing = [check for check in labels_checks(claim, plan) if check.sees_labels]
        kept = [check for check in seeing if selection.keeps(check.id)]
        self._running: list[LabelsCheck] = [
            check.make(setting) for check in sorted(kept, key=lambda check: check.named)
        ]
        self.checks = [check for check in self._running if isinstance(check, LabelsEvidence)]
        self.labels = next((c for c in self.checks if isinstance(c, ClassProbabilities)), None)
        self.scale = next((c for c in self.checks if isinstance(c, LabelsNoiseScale)), None)
        self.fresh = next((c for c in self.checks if isinstance(c, LabelsFreshNoise)), None)
        self.order = next((c for c in self.checks if isinstance(c, Order)), None)
        self.answered = np.zeros(len(plan.streams), dtype=bool)

    def of(self, phase: Phase) -> Iterator[LabelsCheck]:
        """The checks that conclude in a phase."""
        return (check for check in self._running if check.phase is phase)

    @property
    def refuted(self) -> bool:
        """Whether any check's evidence has reached its threshold."""
        return any(check.refuted for check in self.checks)

    def observe(self, stream: int, labels: Labels, how: Circumstances) -> None:
        """Shows fresh labels of a stream to all checks that see labels."""
        self.answered[stream] = True
        for check in self._running:
            check.observe(stream, labels, how)

    def drop(self, stream: int) -> None:
        """Does without a stream that the target refuses; a check that cannot goes to `lacking`."""
        for check in list(self._running):
            reason = check.drop(stream)
            if reason is not None:
                self._running.remove(check)
                self.checks = [kept for kept in self.checks if kept is not check]
                self.lacking[check.id] = reason
