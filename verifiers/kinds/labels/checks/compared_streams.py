"""The checks that compare the labels of two related histograms, and need no formula for Q.

`shift-invariance` and `permutation-equivariance`: twin histograms have the same law.
`vote-monotonicity`: a class that gains votes from another is released no less often.
"""

import numpy as np

from .....reference import REFUSAL
from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....evidence.dirichlet import split_levels
from ....evidence.outcomes import Outcomes, as_outcomes
from ....evidence.same_law import LevelsOfOneLaw, SameLawEvidence, log_e_value_larger
from ....findings.excluded import SURE_TO_SEE, Excluded
from ....findings.finding import Finding
from ....findings.note import Note
from ....run.checks import Reason
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.streams import Stream
from .base import CACHED, PLAIN, TOO_FEW, Circumstances, LabelsEvidence

MOST_REFUSED = 0.85
"""Least share of labels that must be compared: at 85 %, simulated power is at least 0.99."""

ORDERED = Note(
    "symmetry-not-claimed", "noisy counts are rounded: of equal ones the first class wins"
)
CUT = Note(
    "symmetry-not-claimed", "noisy counts are cut towards zero, which a shift of all votes moves"
)
_SAMPLED = Note(
    "symmetry-not-claimed",
    "teachers are drawn: as many votes more for every class change what is drawn",
)

PAIR_REFUSED = Note("input-refused", "the target refuses a histogram of the pair")

_BY_SIMULATION = "the evidence of so many pairs, approximated (verifiers/evidence/power.py)"


class _ComparedStreams(LabelsEvidence):
    """Bets on pairs of labels, one of stream `base` and one of stream `other`.

    pairs: how many are planned; deviation: the smallest effect
    in words; code: of its failure; related: how the two inputs are, in words; unserved: why a plan
    has no such inputs, where the claim does not give them.
    """

    deviation: str
    code: str
    related: str
    unserved = Note(
        "other-totals-refused",
        "totals of votes far from the claimed teachers are not served, or not claimed",
    )

    @classmethod
    def not_applicable_in(cls, plan: Plan) -> Reason:
        if cls.id in plan.compared_streams:
            return None
        if not plan.extent.symmetries:
            return TOO_FEW
        if plan.claim.given:
            return Note(
                "no-related-inputs",
                "no two inputs that max_queries has room to compare are related as this check "
                f"needs: {cls.related}",
            )
        return cls.unserved

    @classmethod
    def needs(cls, plan: Plan, at: int, stream: Stream) -> bool:
        compared = plan.compared_streams.get(cls.id)
        return compared is not None and at in (compared.base, compared.other)

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.base, self.other, self.pairs = plan.compared_streams[self.id]
        empty = np.zeros(0, dtype=np.int64)
        self._waiting: dict[int, Outcomes] = {self.base: empty, self.other: empty}

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        """Labels wait until the other stream has as many."""
        super().observe(stream, labels, how)
        if stream not in self._waiting:
            return
        self.queries += labels.size
        compared = self._select(stream, labels)
        self._waiting[stream] = np.concatenate([self._waiting[stream], compared])
        ready = min(queue.size for queue in self._waiting.values())
        if ready:
            base, other = (self._waiting[i][:ready] for i in (self.base, self.other))
            self._waiting = {i: queue[ready:] for i, queue in self._waiting.items()}
            self.follow(self._bet(base, other))

    def _select(self, stream: int, labels: Labels) -> Outcomes:
        """What is compared of labels of a stream, for each of them or for fewer."""
        raise NotImplementedError

    def _bet(self, base: Outcomes, other: Outcomes) -> float:
        """Adds pairs (n,), (n,) of what is compared; the evidence after them."""
        raise NotImplementedError

    def drop(self, stream: int) -> Note | None:
        """Neither of the two can be spared."""
        return PAIR_REFUSED if stream in self._waiting else None

    def pass_text(self, excludes: tuple[Excluded, ...]) -> str:
        said = " and ".join(
            f"{self.deviation.format(one.size['total_variation'])} on {' and '.join(one.where)}"
            for one in excludes
        )
        return f"{said} would have been caught with probability {SURE_TO_SEE:g}"

    def excluded_by(self, answered: Vector) -> tuple[Excluded, ...]:
        pair = (self.base, self.other)
        if min(answered[i] for i in pair) < self.pairs:  # a stream may be asked for more
            return ()
        size = {"total_variation": self.plan.claim.gate.smallest_effect}
        return (self.entry_on(pair, answered, self.code, size, method=_BY_SIMULATION),)


class Symmetry(_ComparedStreams):
    """Bets that the laws of twins differ.

    It needs no formula for Q, so it separates a fault of the symmetry from one of the noise.
    """

    deviation = "a difference of {:g} in total variation"

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        levels = split_levels(plan.log_q[self.base], plan.claim.gate.smallest_effect)
        self.evidence = (
            SameLawEvidence(plan.log_q.shape[1]) if levels is None else LevelsOfOneLaw(levels.rest)
        )

    def _select(self, stream: int, labels: Labels) -> Outcomes:
        relabel = self.plan.streams[stream].relabel
        if relabel is not None:
            labels = np.where(labels == REFUSAL, REFUSAL, np.array(relabel)[labels])
        return as_outcomes(labels, self.plan.log_q.shape[1])

    def _bet(self, base: Outcomes, other: Outcomes) -> float:
        self.evidence.observe(base, other)
        return self.evidence.log_e_value

    def samples_needed(self) -> int:
        """A few refusals are covered by the plan, many are not."""
        asked = [int(self.answered[i]) for i in self._waiting]
        if self.evidence.pairs < MOST_REFUSED * min(asked):
            return max(self.pairs, 2 * (self.pairs - self.evidence.pairs))
        return sum(max(0, self.pairs - labels) for labels in asked)

    def fail_finding(self) -> Finding:
        first, second = self.evidence.counts
        worst = int(np.argmax(np.abs(first - second)))
        other = self.plan.streams[self.other].histogram
        return Finding(
            f"two histograms that must have one law do not: label {worst} came "
            f"{int(first[worst])} and {int(second[worst])} times in {self.evidence.pairs} each; "
            f"the second is {self.plan.claim.named(other)}",
            f"labels depend on more than the claim allows: {self.related}",
            self.plan.streams[self.base].histogram,
            code=self.code,
            fields={
                "label": worst,
                "first": int(first[worst]),
                "second": int(second[worst]),
                "pairs": self.evidence.pairs,
            },
        )


class LabelsShiftInvariance(Symmetry):
    """The screen of Confident-GNMax depends on the largest count, so only answers are compared."""

    id, code = "shift-invariance", "labels-depend-on-shift"
    related = "the same votes added to every class (Theorem 2 of Wang et al. 2022)"
    named = 4

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        if claim.mechanism.caching:
            return CACHED
        if claim.mechanism.sampled is not None:
            return _SAMPLED
        return CUT if claim.mechanism.moved_by_shifts else None

    def _select(self, stream: int, labels: Labels) -> Outcomes:
        return super()._select(stream, labels[labels != REFUSAL])


class LabelsPermutationEquivariance(Symmetry):
    """The same votes under other class numbers give the same labels under those numbers."""

    id, code = "permutation-equivariance", "labels-depend-on-numbers"
    related = "the same votes under other class numbers"
    named = 5

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        if claim.mechanism.caching:
            return CACHED
        return ORDERED if claim.mechanism.ordered else None


class VoteMonotonicity(_ComparedStreams):
    """Bets that the leader was released more often before it gained half the runner-up's votes.

    It needs neither a formula for Q nor the noise scale: a label's probability is nondecreasing in
    its own votes and nonincreasing in others', as Q is the gradient of a convex function.
    """

    id, code = "vote-monotonicity", "noise-depends-on-votes"
    related = "some votes moved to the leader"
    unserved = Note("hardly-answered", "hardly any query is answered")
    named = 7
    deviation = "a class made rarer by {:g} as it gains votes"

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        # the class that gained votes, which may tie with others before
        before, after = (np.array(plan.streams[i].histogram) for i in (self.base, self.other))
        self.leader = int(np.argmax(after - before))
        self._came = np.zeros(2, dtype=np.int64)
        self.only = np.zeros(2, dtype=np.int64)
        self._seen = 0

    def _select(self, stream: int, labels: Labels) -> Outcomes:
        return np.asarray(labels == self.leader, dtype=np.int64)

    def _bet(self, base: Outcomes, other: Outcomes) -> float:
        self.only += (int((base > other).sum()), int((other > base).sum()))
        self._came += (int(base.sum()), int(other.sum()))
        self._seen += base.size
        return log_e_value_larger(*map(int, self.only))

    def samples_needed(self) -> int:
        return 2 * max(0, self.pairs - self._seen)

    def fail_finding(self) -> Finding:
        before, after = (self.plan.streams[i].histogram for i in (self.base, self.other))
        first, second = (int(n) for n in self._came)
        named = self.plan.claim.named
        return Finding(
            f"label {self.leader} came {first:,} times in {self._seen:,} from {named(before)}, but "
            f"{second:,} times once it had gained votes, {named(after)}; more votes should "
            "not lower it (dQ_k/dH_k >= 0 and dQ_k/dH_j <= 0, whatever the noise)",
            "the noise, or a shortcut, depends on the votes",
            after,
            code=self.code,
            fields={"label": self.leader, "first": first, "second": second, "pairs": self._seen},
        )
