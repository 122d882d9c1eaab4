"""Evidence on inputs that were steered to decisions in the target's code, each by itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .....reference.mechanisms import Labels
from ....evidence.dirichlet import PointedEvidence, dirichlet_log_e_value
from ....evidence.outcomes import count_outcomes, telling_outcomes
from ....findings.finding import Finding
from ....paths.decision import asked_words, decision_words
from ....run.cause import NEAR
from ....text import four_digits
from ..planning.laws import fault_laws, log_laws
from ..planning.plan import Plan

_GENERAL, _POINTED = 0.4, 0.6  # any law, and the known faults


@dataclass(frozen=True)
class BranchHistogram:
    """A histogram (c,) that takes an outcome of a decision.

    place: `file.py:12`, empty where no line is known; text: of the source, or what is known;
    outcome: the way that it goes; calls: in all, of which the last one is judged.
    """

    histogram: tuple[int, ...]
    place: str
    text: str
    outcome: str
    calls: int

    @property
    def words(self) -> str:
        """The decision and its outcome, as reports name them."""
        return decision_words(self.place, self.text, self.outcome)


class LabelsAtBranches:
    """The mean of one e-process for each input, with equal weights fixed before the first label.

    Each is a mixture of any law and of known faults, on the labels of its input alone: a fault
    behind a branch is masked by the labels of other inputs, and of the same one elsewhere.
    """

    def __init__(self, plan: Plan, inputs: Sequence[BranchHistogram]) -> None:
        self.inputs, self._plan = tuple(inputs), plan
        votes = np.array([one.histogram for one in inputs], dtype=np.float64)
        self.log_q = log_laws(plan.claim.mechanism, votes)
        with np.errstate(invalid="ignore"):
            ratios = fault_laws(plan.faults, self.log_q, votes) - self.log_q[:, None, :]
        self._ratios = np.nan_to_num(ratios)
        self.pointed = [PointedEvidence(plan.fault_weights) for _ in inputs]
        self.counts = np.zeros((len(self.inputs), self.log_q.shape[-1]))
        self._each = np.zeros(len(self.inputs))

    def observe(self, place: int, labels: Labels) -> None:
        """Adds labels (n,) of one input."""
        fresh = count_outcomes(labels, self.counts.shape[1])
        self.counts[place] += fresh
        self.pointed[place].observe(fresh, self._ratios[place])
        effect = self._plan.claim.gate.smallest_effect
        general = dirichlet_log_e_value(self.counts[place], self.log_q[place], effect)
        self._each[place] = np.logaddexp(
            np.log(_GENERAL) + general, np.log(_POINTED) + self.pointed[place].log_e_value
        )

    @property
    def log_e_value(self) -> float:
        """Log of the mean: at most 1 in expectation under the claim."""
        return float(logsumexp(self._each) - np.log(len(self.inputs)))

    @property
    def words(self) -> str:
        """What a pass says of the inputs that were asked."""
        return asked_words(int(self.counts.sum()), "labels", [one.words for one in self.inputs])

    def finding(self) -> Finding:
        """What the input with most evidence shows."""
        at = int(np.argmax(self._each))
        given, counts, q = self.inputs[at], self.counts[at], np.exp(self.log_q[at])
        telling = telling_outcomes(counts, self.log_q[at])
        times, expected = int(counts[telling].sum()), float(counts.sum() * q[telling].sum())
        claim = self._plan.claim
        after = "" if given.calls == 1 else f", the last of {given.calls} calls"
        message = (
            f"labels do not follow the exact probabilities where {given.words}: "
            f"{outcome_words(telling, claim.mechanism.classes, counts.size)} came "
            f"{times} times in {int(counts.sum())} from {claim.named(given.histogram)}{after}, "
            f"{four_digits(expected)} expected"
        )
        ratios = self.pointed[at].log_ratios
        best = int(np.argmax(ratios))
        where = {"file": given.place, "outcome": given.outcome} if given.place else {}
        if ratios[best] < self._each[at] - NEAR:
            advice = f"no known fault fits the labels where {given.words}; look there"
            return Finding(
                message, advice, given.histogram, code="law-unexplained", fields={**where}
            )
        note = self._plan.faults[best].note
        cause = replace(note, message=f"labels fit {note.message} where {given.words}")
        found = Finding.caused(message, cause, float(ratios[best]), **where)
        return replace(found, histogram=given.histogram)


def outcome_words(named: NDArray[np.intp], classes: int, outcomes: int) -> str:
    """The outcomes `named` in words; several by the others, if these are fewer.

    classes: outcomes from this index on are refusals; outcomes: how many there are.
    """
    others = sorted(set(range(outcomes)) - set(named.tolist()))
    if named.size == 1:
        only = int(named[0])
        return "refusals" if only >= classes else f"label {only}"
    if len(others) < named.size:
        return f"labels other than {_name_outcomes(others, classes)}"
    return f"{_name_outcomes(named.tolist(), classes)} together"


def _name_outcomes(outcomes: list[int], classes: int) -> str:
    """Outcomes in words, such as "0, 1 and refusals"."""
    words = ["refusals" if outcome >= classes else str(outcome) for outcome in outcomes]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
