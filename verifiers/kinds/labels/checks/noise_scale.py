"""`noise-scale`: the noise scale is the claimed one, within the tolerance."""

import math
from dataclasses import replace

from .....reference import Noise
from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....evidence.outcomes import count_outcomes
from ....evidence.parts import Parts
from ....evidence.scale import ScaleEvidence
from ....findings.evidence_text import told_apart
from ....findings.excluded import Excluded, Measured
from ....findings.figures import finite
from ....findings.finding import Finding
from ....findings.note import Note
from ..planning.faults import short
from ..planning.plan import Plan
from ..planning.streams import Role, Stream
from .base import PLAIN, Circumstances, LabelsEvidence

_BY_INTERVAL = "a pass needs the whole anytime-valid interval within the tolerance"


class LabelsNoiseScale(LabelsEvidence):
    """Computes the likelihood of scales of the claimed family, on all but explorers."""

    id = "noise-scale"
    named = 2

    @classmethod
    def needs(cls, plan: Plan, at: int, stream: Stream) -> bool:
        """A run then continues with the most informative."""
        return stream.role is Role.PROBE

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.evidence = ScaleEvidence(plan.factors)
        self.log_e_value = self.evidence.log_e_value

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        """Explorers are left out, as they are many and tell little."""
        super().observe(stream, labels, how)
        if stream < self.plan.deep:
            self.queries += labels.size
            counts = count_outcomes(labels, self.plan.log_q.shape[1])
            self.evidence.observe(counts, self.plan.scale_log_laws(stream))
            self.log_e_value = self.evidence.log_e_value

    @property
    def parts(self) -> Parts:
        """Every scale, by its likelihood ratio to the claimed one."""
        return self.evidence.parts

    def samples_needed(self) -> int:
        """The interval narrows with the square root of the labels."""
        tolerance = self.plan.claim.gate.tolerance
        interval = self.evidence.interval(self.log_threshold)
        if interval is None or self.queries == 0:
            return 1000
        if is_within(interval, tolerance):
            return 0
        reach = max(1.0 - interval[0], interval[1] - 1.0)
        if not math.isfinite(reach) or reach >= 0.9:
            return 10 * self.queries
        return max(100, int(self.queries * ((reach / (0.8 * tolerance)) ** 2 - 1.0)))

    def fail_finding(self) -> Finding:
        noise = self.plan.claim.mechanism.noise
        fits = fitting_best(noise, self.evidence.best)
        return Finding(
            f"{self._interval_text()} leaves out the claimed {noise}",
            fits.message,
            code=fits.code,
            fields=fits.fields,
            measured=self._measured,
        )

    def pass_finding(self) -> Finding:
        return replace(super().pass_finding(), measured=self._measured)

    def pass_text(self, excludes: tuple[Excluded, ...]) -> str:
        family = self.plan.claim.mechanism.noise.unrounded.family
        return f"{self._interval_text()}, if the noise is {family} and alike in all labels"

    @property
    def _measured(self) -> Measured | None:
        interval = self.evidence.interval(self.log_threshold)
        noise = self.plan.claim.mechanism.noise
        return None if interval is None else measured(noise, interval, self.log_threshold)

    def excluded_by(self, answered: Vector) -> tuple[Excluded, ...]:
        """A pass has the whole interval within the tolerance."""
        telling = [i for i in range(self.plan.deep) if answered[i] > 0]
        tolerance, covered = self.plan.claim.gate.tolerance, 1.0 - math.exp(-self.log_threshold)
        return tuple(
            self.entry_on(
                telling,
                answered,
                code,
                {"factor": factor},
                method=_BY_INTERVAL,
                probability=covered,
            )
            for code, factor in (
                ("scale-too-small", 1.0 - tolerance),
                ("scale-too-large", 1.0 + tolerance),
            )
            if telling
        )

    @property
    def left(self) -> str | None:
        """Which scales the labels leave, in words; None where they leave none."""
        if self.evidence.interval(self.log_threshold) is None:
            return None
        return f"all labels leave a {self._interval_text()}"

    def _interval_text(self) -> str:
        noise = self.plan.claim.mechanism.noise
        return interval_text(noise, self.evidence.interval(self.log_threshold), self.log_threshold)


def fitting_best(noise: Noise, factor: float) -> Note:
    """That labels fit another scale than the claimed `noise` best."""
    code = "scale-too-small" if factor < 1.0 else "scale-too-large"
    message = f"labels fit {short(noise.times(factor))} best, of the scales compared"
    return Note(code, message, {"factor": factor})


def measured(noise: Noise, interval: tuple[float, float], log_threshold: float) -> Measured:
    """The interval of the scale of the claimed noise; interval: factors of the claimed scale."""
    low, high = (noise.scale * end for end in interval)
    confidence = 1.0 - math.exp(-log_threshold)
    return Measured(what="scale", low=low, high=finite(high), confidence=confidence)


def is_within(interval: tuple[float, float], tolerance: float) -> bool:
    """Whether factors leave the claimed scale by no more; 1 - 0.95 is a hair above 0.05."""
    return max(1.0 - interval[0], interval[1] - 1.0) <= tolerance * (1.0 + 1e-9)


def interval_text(noise: Noise, interval: tuple[float, float] | None, log_threshold: float) -> str:
    """The interval of the noise scale in words; interval: factors of the claimed scale."""
    confidence = f"confidence 1 - {math.exp(-log_threshold):.2g}"
    if interval is None:
        return f"no scale of {noise.unrounded.family} noise fits ({confidence}): the empty interval"
    ends = [noise.scale * end for end in interval]
    low, high = (told_apart(end, noise.scale) for end in ends)
    # each end is itself refuted, which the words show where it is the claimed scale
    least, most = ("above", "below") if noise.scale in ends else ("at least", "at most")
    if interval[0] <= 0 or interval[1] == math.inf:  # none tried on that side is refuted
        bound = f"{most} {high}" if math.isfinite(interval[1]) else f"{least} {low}"
        return f"scale {bound if interval != (0.0, math.inf) else 'of any size'} ({confidence})"
    if noise.scale in ends:
        return f"scale above {low} and below {high} ({confidence})"
    return f"scale between {low} and {high} ({confidence})"
