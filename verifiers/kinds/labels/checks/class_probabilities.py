"""`class-probabilities`: the labels of every histogram are draws from the claimed Q(H)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....evidence.dirichlet import FROM_THE_START
from ....evidence.outcomes import telling_outcomes
from ....evidence.parts import Parts
from ....findings.evidence_text import NEAREST, times_likelier
from ....findings.excluded import Excluded
from ....findings.finding import Finding
from ....findings.note import Note
from ....run.cause import SURE
from ....text import counted, four_digits
from ..planning.plan import (
    BRANCHES,
    GENERAL,
    POINTED,
    POOLED,
    POOLED_FIRST,
    POOLED_SINGLES,
    Plan,
)
from ..planning.streams import Role, Stream, WayOfAsking
from .at_branches import BranchHistogram, LabelsAtBranches, outcome_words
from .base import PLAIN, Circumstances, LabelsEvidence
from .labels_seen import LabelsSeen

_RARELY, _BARE, _ON_RARELY = "the plurality without noise one time in a hundred", 0.01, 1 / 8
"""What is wagered on over runs alone: in words, its share of the answers, its weight."""
_LEAST = -700.0  # of a log-probability
NO_KNOWN_FAULT = "no known fault fits"
_BY_BOUND = "a quantile of the evidence of so many labels (verifiers/evidence/power.py)"


_SAME_LABELS = {
    "noise-missing": "one draw of noise that all classes share, since it cancels in the argmax",
    "votes-ignored": "noise that is added to the number of the winning class, after the argmax",
}
"""By the code of a cause, another one with the same labels, which no run can tell from it."""


class ClassProbabilities(LabelsEvidence):
    """A weighted average of e-processes: one per stream, over all streams, and over single calls.

    An average of nonnegative martingales is a martingale, however streams are interleaved. In a
    product over streams, sound inputs would mask a fault that few inputs have.
    """

    id = "class-probabilities"
    named = 1

    @classmethod
    def needs(cls, plan: Plan, at: int, stream: Stream) -> bool:
        return stream.role.asked not in (WayOfAsking.IN_CALLS, WayOfAsking.IN_TURN)

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.seen = LabelsSeen(plan)
        self.counts, self.pooled = self.seen.counts, self.seen.pooled
        self.branches: LabelsAtBranches | None = None
        self._leaders = np.array([np.argmax(stream.histogram) for stream in plan.streams])
        self._single = np.zeros(len(plan.streams))

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        super().observe(stream, labels, how)
        self.queries += labels.size
        self.seen.observe(stream, labels, how)
        self._single[stream] = np.logaddexp(
            np.log(GENERAL) + self.seen.general[stream],
            np.log(POINTED) + self.seen.pointed[stream].log_e_value,
        )
        self.follow(self._log_average())

    def begin_branches(self, inputs: Sequence[BranchHistogram]) -> None:
        """Is told the inputs that are steered to decisions of the target's code."""
        self.branches = LabelsAtBranches(self.plan, inputs)

    def observe_branch(self, place: int, labels: Labels) -> None:
        """Adds labels (n,) of one of these inputs, which no other evidence counts."""
        assert self.branches is not None
        self.branches.observe(place, labels)
        self.queries += labels.size
        self.follow(self._log_average())

    def _log_average(self) -> float:
        branches = 0.0 if self.branches is None else self.branches.log_e_value
        return float(np.logaddexp(self._log_planned(), np.log(BRANCHES) + branches))

    @property
    def parts(self) -> Parts:
        """Known faults of all labels from the first one on, one by one; the rest as a whole.

        Answers that are bare so rarely show over runs alone, so that no single run wagers on them.
        """
        branches = 0.0 if self.branches is None else self.branches.log_e_value
        each = POOLED * FROM_THE_START
        rest = np.logaddexp(
            self._log_planned_with(self.pooled.log_late), np.log(BRANCHES) + branches
        )
        names = (*(str(fault.note) for fault in self.plan.faults), "all else", _RARELY)
        weights = np.append(self.pooled.log_weights + np.log(each), np.log1p(-each))
        logs = np.append(self.pooled.log_ratios, rest - np.log1p(-each))
        return Parts(
            names,
            np.append(weights + np.log1p(-_ON_RARELY), np.log(_ON_RARELY)),
            np.append(logs, self._log_rarely_bare()),
        )

    def _log_rarely_bare(self) -> float:
        """Log-ratio of answers of which a hundredth are the plurality, to the claim."""
        leaders = self._leaders[:, None]
        came = np.take_along_axis(self.counts, leaders, 1)[:, 0]
        log_q = np.maximum(np.take_along_axis(self.plan.log_q, leaders, 1)[:, 0], _LEAST)
        miss = np.log1p(-_BARE)
        more = np.logaddexp(miss, np.log(_BARE) - log_q) - miss
        return float(came @ more + self.counts.sum() * miss)

    def _log_planned(self) -> float:
        """Of what the plan asks, with its weight."""
        return self._log_planned_with(self.pooled.log_e_value)

    def _log_planned_with(self, pooled: float) -> float:
        """Of what the plan asks, with its weight; pooled: log of what stands for all labels."""
        # _single of a stream not yet asked is 0 = log 1; its weights are GENERAL + POINTED of 1
        asked = self.counts.sum(-1) > 0
        single = np.where(asked, self._single, np.log(GENERAL + POINTED))
        each = float(logsumexp(single, b=self.plan.weights))
        others = (
            np.log(POOLED) + pooled,
            np.log(POOLED_SINGLES) + self.seen.single_calls.log_e_value,
            np.log(POOLED_FIRST) + self.seen.first_labels.log_e_value,
        )
        return float(np.logaddexp.reduce([each, *others]))

    def samples_needed(self) -> int:
        """Labels that anchors still need to see the smallest effect.

        As long as any are needed, those planned of the deployment's own histograms count too.
        """
        if self.dropped.issuperset(self.anchors):
            return self.plan.queries
        own = set(self.plan.of(Role.OWN))
        return self.missing(own.union(self.anchors)) if self.missing(self.anchors) else 0

    @property
    def shown_by_branches(self) -> bool:
        """Whether inputs steered to decisions of the code tell more than all others, weighted."""
        if self.branches is None:
            return False
        return float(np.log(BRANCHES)) + self.branches.log_e_value > self._log_planned()

    def _shown_stream(self) -> int:
        """A simple histogram that shows the violation by itself; else that with most evidence."""
        simple = self.plan.of(Role.SIMPLE)
        best = max(simple, key=lambda i: float(self._single[i]))
        asked = self.counts.any(-1)
        heaviest = int(np.argmax(np.where(asked, self._single, -np.inf)))
        return best if self._single[best] > SURE else heaviest

    def fail_finding(self) -> Finding:
        if self.shown_by_branches:
            assert self.branches is not None
            return self.branches.finding()
        at = self._shown_stream()
        counts, q = self.counts[at], np.exp(self.plan.log_q[at])
        telling = telling_outcomes(counts, self.plan.log_q[at])
        fits, histogram = self.seen.fits(), self.plan.streams[at].histogram
        times, expected = int(counts[telling].sum()), float(counts.sum() * q[telling].sum())
        message = (
            f"labels do not follow the exact probabilities of the histogram: "
            f"{outcome_words(telling, self.plan.claim.mechanism.classes, counts.size)} came "
            f"{'once' if times == 1 else f'{times} times'} in {int(counts.sum())} from "
            f"{self.plan.claim.named(histogram)}, {four_digits(expected)} expected"
        )
        miscounted = self.seen.other_numbering(fits)
        if miscounted is not None:
            odds, cause = miscounted.log_ratio, miscounted.cause
            diagnosis = f"{cause} {_against(odds)}; {miscounted.advice}"
            found = Finding.caused(message, cause, odds)
            return replace(found, diagnosis=diagnosis, histogram=histogram)
        if not fits.explained:
            advice = f"{NO_KNOWN_FAULT}; compare the observed with the expected labels"
            counted = {"times": times, "asked": int(counts.sum()), "expected": expected}
            return Finding(message, advice, histogram, code="law-unexplained", fields=counted)
        where = "in the first answer to a histogram, " if fits.first else ""
        where = "in calls for one label, " if fits.single else where
        fault = self.seen.note_of(fits.best, fits)
        calls = "first" if fits.first else "single" if fits.single else None
        cause = Note(
            fault.code,
            f"{where}labels fit {fault.message}",
            fault.fields if calls is None else {**fault.fields, "calls": calls},
        )
        same, near = self.seen.rivals(fits)
        alike = "" if same is None else f"; the same labels come of {same}"
        if not alike and fault.code in _SAME_LABELS:
            alike = f"; the same labels come of {_SAME_LABELS[fault.code]}"
        diagnosis = f"{cause} {_against(fits.log_odds)}{alike}"
        found = Finding.caused(message, cause, fits.log_odds)
        found = replace(found, diagnosis=diagnosis, histogram=histogram)
        return found if near is None else found.with_near(near)

    def excluded_by(self, answered: Vector) -> tuple[Excluded, ...]:
        """On anchors any deviation, on the ladder missing noise."""
        plan = self.plan
        whole = [i for i, n in enumerate(answered) if 0 < self.planned[i] <= n]
        anchors = [i for i in whole if i in self.anchors]
        ladder = [i for i in whole if plan.streams[i].role is Role.LADDER]
        found = []
        if anchors:
            size = {"total_variation": plan.claim.gate.smallest_effect}
            found.append(
                self.entry_on(anchors, answered, "law-unexplained", size, method=_BY_BOUND)
            )
        if ladder:
            votes = np.sort([plan.streams[i].histogram for i in ladder], axis=-1)
            size = {"lead": int((votes[:, -1] - votes[:, -2]).max())}
            found.append(self.entry_on(ladder, answered, "noise-missing", size, method=_BY_BOUND))
        return tuple(found)

    def pass_text(self, excludes: tuple[Excluded, ...]) -> str:
        asked = self.counts.sum(-1) > 0
        streams = [s for s, seen in zip(self.plan.streams, asked, strict=True) if seen]
        deep = {stream.histogram for stream in streams if stream.is_anchor}
        others = len({stream.histogram for stream in streams} - deep)  # one has several roles
        said = {one.code: one for one in excludes}
        anchors, ladder = said.get("law-unexplained"), said.get("noise-missing")
        text = []
        if anchors is not None:
            text.append(
                f"a deviation of {anchors.size['total_variation']:g} in total variation would have "
                f"been caught with probability {anchors.probability:g} on each of "
                f"{counted(len(anchors.where), 'histogram', 'histograms')}"
            )
        if ladder is not None:
            lead = ladder.size["lead"]
            text.append(f"noise left out for leaders up to {lead} votes ahead would have been too")
        text.append(f"{others} more were looked at for faults of no stated size")
        inputs = self.plan.claim.inputs
        if inputs is not None and inputs.form in ("votes", "one-hot"):
            text.append(
                "teachers were not compared one by one: one who counts for a vote or two more, as "
                "to break a tie, may not have shown"
            )
        if self.branches is not None:
            text.append(self.branches.words)
        return ". ".join([text[0], *(f"{one[:1].upper()}{one[1:]}" for one in text[1:])])


def _against(log_odds: float) -> str:
    """How much likelier a cause is than the claim, in parentheses; log_odds: natural log."""
    return f"({NEAREST}, {times_likelier(log_odds / np.log(10.0))} than under the claim)"
