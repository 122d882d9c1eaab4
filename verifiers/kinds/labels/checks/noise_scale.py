"""`noise-scale`: the noise scale is the claimed one, within the tolerance."""

import math

from .....reference import Noise
from .....reference.mechanisms import Labels
from ....evidence import ScaleEvidence, count_outcomes
from ....findings.evidence_text import told_apart
from ....findings.finding import Finding
from ....run.checks import Judged
from ....run.error_budget import log_threshold
from ....run.phase import Phase
from ....run.registry import always_applicable
from ..planning.faults import short
from ..planning.plan import Plan, Stream
from ..planning.roles import Role
from ..registry import SHARES
from .base import PLAINLY, How
from .spec import LabelsSpec


class NoiseScale(Judged):
    """Computes the likelihood of scales of the claimed family, on all but explorers."""

    id = "noise-scale"

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.queries = 0
        self.log_threshold = log_threshold(SHARES[self.id], plan.claim.gate.false_alarm)
        self.evidence = ScaleEvidence(plan.factors)

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        """See `Check.observe`; explorers are left out, as they are many and tell little."""
        if stream < self.plan.deep:
            self.queries += labels.size
            counts = count_outcomes(labels, self.plan.log_q.shape[1])
            self.evidence.observe(counts, self.plan.scale_log_laws(stream))

    @property
    def log_e_value(self) -> float:
        """See `Check.log_e_value`."""
        return self.evidence.log_e_value

    def samples_needed(self) -> int:
        """See `Check.samples_needed`: the interval narrows with the square root of the labels."""
        tolerance = self.plan.claim.gate.tolerance
        interval = self.evidence.interval(self.log_threshold)
        if interval is None or self.queries == 0:
            return 1000
        reach = max(1.0 - interval[0], interval[1] - 1.0)
        if reach <= tolerance * (1.0 + 1e-9):  # 1 - 0.95 is a hair above 0.05
            return 0
        if not math.isfinite(reach) or reach >= 0.9:
            return 10 * self.queries
        return max(100, int(self.queries * ((reach / (0.8 * tolerance)) ** 2 - 1.0)))

    def drop(self, stream: int) -> str | None:
        """See `Check.drop`."""
        return None

    def fail_finding(self) -> Finding:
        """See `Check.fail_finding`."""
        noise = self.plan.claim.mechanism.noise
        fits = short(noise.times(self.evidence.best))
        return Finding(
            f"{self._interval_text()} leaves out the claimed {noise}",
            f"labels fit {fits} best",
        )

    def pass_finding(self) -> Finding:
        """See `Check.pass_finding`."""
        return Finding(self._interval_text())

    def _interval_text(self) -> str:
        noise = self.plan.claim.mechanism.noise
        return interval_text(noise, self.evidence.interval(self.log_threshold), self.log_threshold)


def interval_text(noise: Noise, interval: tuple[float, float] | None, log_threshold: float) -> str:
    """The interval of the noise scale in words; interval: factors of the claimed scale."""
    confidence = f"confidence 1 - {math.exp(-log_threshold):.2g}"
    if interval is None:
        return f"no scale of {noise.family} noise fits ({confidence}): the empty interval"
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


def _needs(_plan: Plan, _at: int, stream: Stream) -> bool:
    """Whether a stream is needed: probes; a run then continues with the most informative."""
    return stream.role is Role.PROBE


SPECS = (
    LabelsSpec(
        id=NoiseScale.id,
        phase=Phase.SHARED,
        not_applicable=always_applicable,
        not_applicable_in=always_applicable,
        needs=_needs,
        named=2,
        make=lambda setting: NoiseScale(setting.plan),
    ),
)
