"""`vote-monotonicity`: a class that gains votes from another is released no less often."""

import numpy as np

from .....reference.mechanisms import Labels
from ....evidence import log_e_value_larger
from ....findings.finding import Finding
from ....run.checks import Judged
from ....run.error_budget import log_threshold
from ....run.phase import Phase
from ....run.registry import always_applicable
from ..planning.plan import Plan
from ..registry import SHARES
from .base import PLAINLY, How
from .spec import NO_RELATED_INPUTS, TOO_FEW, LabelsSpec, needs_compared_streams

_REASON = "dQ_k/dH_k >= 0 and dQ_k/dH_j <= 0, whatever the noise"


class VoteMonotonicity(Judged):
    """Bets that the leader was released more often before it gained half the runner-up's votes.

    It needs neither a formula for Q nor the noise scale: a label's probability is nondecreasing in
    its own votes and nonincreasing in others', as Q is the gradient of a convex function.
    """

    id = "vote-monotonicity"

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.queries = 0
        self.base, self.raised, self.pairs = plan.compared_streams[self.id]
        # the class that gained votes, which may tie with others before
        before, after = (np.array(plan.streams[i].histogram) for i in (self.base, self.raised))
        self.leader = int(np.argmax(after - before))
        self.log_threshold = log_threshold(SHARES[self.id], plan.claim.gate.false_alarm)
        empty = np.zeros(0, dtype=bool)
        self._waiting = {self.base: empty, self.raised: empty}
        self._compared = np.zeros(2, dtype=np.int64)
        self.only = np.zeros(2, dtype=np.int64)
        self._seen = 0
        self._highest = 0.0

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        """See `Check.observe`; labels wait until the other stream has as many."""
        if stream not in self._waiting:
            return
        self.queries += labels.size
        self._waiting[stream] = np.concatenate([self._waiting[stream], labels == self.leader])
        ready = min(queue.size for queue in self._waiting.values())
        if ready:
            before = self._waiting[self.base][:ready]
            after = self._waiting[self.raised][:ready]
            self.only += (int((before & ~after).sum()), int((after & ~before).sum()))
            self._compared += (int(before.sum()), int(after.sum()))
            self._seen += ready
            self._waiting = {i: queue[ready:] for i, queue in self._waiting.items()}
            self._highest = max(self._highest, log_e_value_larger(*map(int, self.only)))

    @property
    def log_e_value(self) -> float:
        """See `Check.log_e_value`; the highest so far."""
        return self._highest

    def samples_needed(self) -> int:
        """See `Check.samples_needed`."""
        return 2 * max(0, self.pairs - self._seen)

    def drop(self, stream: int) -> str | None:
        """See `Check.drop`: neither of the two can be spared."""
        return "the target refuses a histogram of the pair" if stream in self._waiting else None

    def fail_finding(self) -> Finding:
        """See `Check.fail_finding`."""
        before, after = (self.plan.streams[i].histogram for i in (self.base, self.raised))
        first, second = (int(n) for n in self._compared)
        named = self.plan.claim.named
        return Finding(
            f"label {self.leader} came {first:,} times in {self._seen:,} from {named(before)}, but "
            f"{second:,} times once it had gained votes, {named(after)}; more votes should "
            f"not lower it ({_REASON})",
            "the noise, or a shortcut, depends on the votes",
            after,
        )

    def pass_finding(self) -> Finding:
        """See `Check.pass_finding`."""
        effect = self.plan.claim.gate.smallest_effect
        return Finding(
            f"a class made rarer by {effect:g} as it gains votes would have been caught with "
            "probability 0.99"
        )


def _not_applicable_in(plan: Plan) -> str | None:
    if VoteMonotonicity.id in plan.compared_streams:
        return None
    if not plan.extent.symmetries:
        return TOO_FEW
    if plan.claim.given:
        return f"{NO_RELATED_INPUTS}: some votes moved to the leader"
    return "hardly any query is answered"


SPECS = (
    LabelsSpec(
        id=VoteMonotonicity.id,
        phase=Phase.SHARED,
        not_applicable=always_applicable,
        not_applicable_in=_not_applicable_in,
        needs=needs_compared_streams(VoteMonotonicity.id),
        named=7,
        make=lambda setting: VoteMonotonicity(setting.plan),
    ),
)
