"""Answers that are wrong at times: a share of all of them, or the first ones of each start.

For diagnoses alone: what is found here names the cause of what wagers have refuted.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.mechanisms import Labels
from ....findings.note import Note
from ..planning.laws import (
    LabelFault,
    Law,
    first_plurality,
    mechanism_law,
    plurality,
    release,
    uniform,
)
from ..planning.plan import Plan
from .fitted import FITTING_COSTS, AskedLabels, Fitted, highest, nearest_rounding

_LEAST, _MOST = 1e-3, 0.99  # of the answers
_FIRST = 2048  # labels of a start that are looked at
_BARE = "noise-missing"


def fit_shares(plan: Plan, counts: Matrix, ratios: Vector) -> Iterator[Fitted]:
    """For each law that answers may have at times, the likeliest share of them, if it fits best.

    counts: of labels (streams, o); ratios: log-likelihood ratios (a,) of the known faults.
    """
    known = {fault.note.code: place for place, fault in enumerate(plan.faults)}
    bare = "the plurality, the first class of a tie, without noise"
    for code, words, law in (
        ("noise-missing-at-times", "the plurality without noise", plurality),
        ("noise-missing-at-times", bare, first_plurality),
        ("votes-ignored-at-times", "a uniform draw", uniform),
    ):
        if code in known and counts.any():
            found = _fit_share(plan, counts, Note(code, words), law, known[code])
            if found.log_ratio > ratios[known[code]]:
                yield found


def _fit_share(plan: Plan, counts: Matrix, of: Note, law: Law, stands_for: int) -> Fitted:
    claim, asked = plan.claim.mechanism, AskedLabels(plan, counts)
    seen, log_q, histograms = asked.counts, asked.log_q, asked.histograms
    wrong, right = release(claim, law), mechanism_law(claim.mechanism())
    with np.errstate(divide="ignore", over="ignore"):
        odds = np.where(seen > 0, np.exp(np.log(wrong(histograms)) - log_q), 1.0)
    odds = np.minimum(odds, 1e300)

    def gained(share: float) -> float:
        return float((seen * np.log1p(share * (odds - 1.0))).sum())

    share = nearest_rounding(gained, highest(gained, _LEAST, _MOST), 1.0)

    def mixed(votes: Matrix) -> Matrix:
        return (1.0 - share) * right(votes) + share * wrong(votes)

    note = Note(of.code, f"{of} in about {share:.3g} of the answers", {"share": share})
    return asked.fitted(LabelFault(note, mixed), stands_for)


class BareStarts:
    """Log-ratios of labels without noise, by their place since a start of the target."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._places = [at for at, fault in enumerate(plan.faults) if fault.note.code == _BARE]
        self._starts: list[Matrix] = [np.zeros((len(self._places), 0))]

    def begin(self) -> None:
        """Is told that the target was started again."""
        self._starts.append(np.zeros((len(self._places), 0)))

    def observe(self, ratios: Matrix, labels: Labels) -> None:
        """Adds labels (n,) in order, by the log-ratios (a, o) of the faults of their stream."""
        room = _FIRST - self._starts[-1].shape[1]
        outcomes: NDArray[np.int64] = np.asarray(labels, dtype=np.int64)[:room]
        if outcomes.size:
            more = np.nan_to_num(ratios[self._places][:, outcomes])
            self._starts[-1] = np.concatenate([self._starts[-1], more], axis=1)

    def likeliest(self) -> Fitted | None:
        """That the first labels of each start have no noise; None where that fits no better.

        Of all starts, or of those after the first one: which, and how many, has its price.
        """
        found = [
            one
            for since in range(min(2, len(self._starts)))
            if (one := self._of(self._starts[since:], after=since)) is not None
        ]
        return max(found, key=lambda one: one.log_ratio, default=None)

    def _of(self, starts: list[Matrix], after: int) -> Fitted | None:
        longest = max(start.shape[1] for start in starts)
        if not longest or not self._places:
            return None
        gained = np.zeros((len(self._places), longest))
        for start in starts:
            summed = np.cumsum(start, axis=1)
            gained[:, : summed.shape[1]] += summed
            gained[:, summed.shape[1] :] += summed[:, -1:] if summed.size else 0.0
        best, place = np.unravel_index(int(np.argmax(gained)), gained.shape)
        labels = int(place) + 1
        at = self._places[int(best)]
        fault = self._plan.faults[at]
        price = FITTING_COSTS + math.log(2.0 * longest)
        which = "a restart" if after else "a start"
        words = f"{fault.wording}, in about the first {labels:,} answers after {which}"
        note = Note("noise-missing-after-start", words, {"answers": labels, "first": not after})
        law = LabelFault(note, fault.law)
        none = np.zeros(len(self._plan.streams))
        return Fitted(law, float(gained[best, place]) - price, none, at)
