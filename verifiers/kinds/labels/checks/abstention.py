"""`abstention`: queries are refused with the probability that threshold and noise imply."""

import numpy as np
from scipy.special import logsumexp

from .....reference import REFUSAL
from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....evidence.dirichlet import dirichlet_log_e_value
from ....findings.excluded import SURE_TO_SEE, Excluded
from ....findings.finding import Finding
from ....findings.note import Note
from ....run.checks import Reason
from ....text import four_digits
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.streams import Role, Stream, WayOfAsking
from .base import PLAIN, Circumstances, LabelsEvidence

_AS_LABELS = "as class-probabilities, of answers and refusals alone"


class Abstention(LabelsEvidence):
    """A weighted average of e-processes, one per stream, on whether queries are answered.

    Labels are merged into answers and refusals, among which a wrong threshold, or missing noise,
    shows sooner than among all classes. The probability is by Papernot et al. 2018, Algorithm 1.
    """

    id = "abstention"
    named = 3

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        if claim.mechanism.refuses:
            return None
        return Note("no-refusals-claimed", f"{claim.mechanism.name} refuses no query")

    @classmethod
    def needs(cls, plan: Plan, at: int, stream: Stream) -> bool:
        elsewhere = (WayOfAsking.IN_CALLS, WayOfAsking.IN_TURN, WayOfAsking.ONE_BY_ONE)
        return stream.role.asked not in elsewhere and stream.role is not Role.LADDER

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        refused = plan.log_q[:, -1]
        answered = logsumexp(plan.log_q[:, :-1], axis=1)
        self.log_q = np.stack([answered, refused], -1)
        self.counts = np.zeros_like(self.log_q)
        self._each = np.zeros(len(plan.streams))

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        super().observe(stream, labels, how)
        refused = int((labels == REFUSAL).sum())
        self.queries += labels.size
        self.counts[stream] += (labels.size - refused, refused)
        self._each[stream] = dirichlet_log_e_value(
            self.counts[stream], self.log_q[stream], self.plan.claim.gate.smallest_effect
        )
        self.follow(float(logsumexp(self._each, b=self.plan.weights)))

    def samples_needed(self) -> int:
        """What `class-probabilities` needs is enough here too."""
        return self.missing(self.anchors)

    def fail_finding(self) -> Finding:
        asked = self.counts.sum(-1) > 0
        at = int(np.argmax(np.where(asked, self._each, -np.inf)))
        answered, refused = (int(count) for count in self.counts[at])
        expected = float(np.exp(self.log_q[at, 1])) * (answered + refused)
        histogram = self.plan.streams[at].histogram
        seldom = refused < expected
        few = "too few" if seldom else "too many"
        return Finding(
            f"{refused:,} of {answered + refused:,} queries of "
            f"{self.plan.claim.named(histogram)} were refused, {four_digits(expected)} expected",
            f"{few} refusals: look at the threshold, and at the noise of its test",
            histogram,
            code="refuses-too-seldom" if seldom else "refuses-too-often",
            fields={"refused": refused, "asked": answered + refused, "expected": expected},
        )

    def pass_text(self, excludes: tuple[Excluded, ...]) -> str:
        effect = self.plan.claim.gate.smallest_effect
        where = {one.code: ", ".join(one.where) for one in excludes}
        ways = {"refuses-too-often": "more", "refuses-too-seldom": "less"}
        said = [f"by {effect:g} {ways[code]} on each of: {names}" for code, names in where.items()]
        if said:
            return (
                "a refusal probability that is off would have been caught with probability "
                f"{SURE_TO_SEE:g}, {'; '.join(said)}"
            )
        return (
            f"no deviation of refusals was seen; on no anchor could they be {effect:g} more or less"
        )

    def excluded_by(self, answered: Vector) -> tuple[Excluded, ...]:
        """What `class-probabilities` needs is enough here too."""
        whole = [i for i in self.anchors if answered[i] >= self.planned[i]]
        effect = self.plan.claim.gate.smallest_effect
        room = np.exp(self.log_q)  # for more refusals, and for fewer
        found = {
            code: [i for i in whole if room[i, side] >= effect]
            for side, code in enumerate(("refuses-too-often", "refuses-too-seldom"))
        }
        size = {"total_variation": effect}
        return tuple(
            self.entry_on(where, answered, code, size, method=_AS_LABELS)
            for code, where in found.items()
            if where
        )
