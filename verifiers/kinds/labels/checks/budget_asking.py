"""Asking a deployment that has a budget, call by call, and judging its account after each."""

from collections.abc import Callable
from functools import partial
from typing import Any

from .....reference import REFUSAL, BudgetExhausted, Histogram
from .....reference.mechanisms import Labels
from ....run.watched import AGAIN, IGNORES_DELTA, UNDERCHARGED, Watched
from ....targets import Refused, Target, TargetError, ask_whole, checked_labels
from ..claim import LabelsClaim
from .asked_histogram import AskedHistogram

SEVERAL = (2, 3, 4, 5, 6)
"""Labels of a call, by which an account may charge as one what are several."""

_LARGE = 50  # labels, for blocks by which calls may be charged


class BudgetAsking(Watched):
    """Counts what was asked and answered, over all starts of a deployment, until a violation.

    Refused queries are not counted as answers: how many there are is chance, and their cost may
    be too.
    """

    def __init__(self, claim: LabelsClaim) -> None:
        assert claim.privacy is not None
        super().__init__(claim.privacy)
        self.claim = claim
        self.asked = 0
        self.uncharged: AskedHistogram | None = None  # what moved the account not at all

    def until_spent(
        self,
        target: Target,
        kind: AskedHistogram,
        size: int,
        most: int,
        again: int = AGAIN,
        *,
        unlooked: bool = False,
    ) -> bool:
        """Calls for `size` until `most` labels were asked; True where the budget was spent.

        again: calls in a row that must be refused; unlooked: whether `spent` is not asked until
        then, as one that is asked after every call may be what stops it.
        """
        kind.before = self.account.now if kind.asked == 0 else kind.before
        refused = self.until_refused(
            lambda: self._ask(target, kind, min(size, most - kind.asked), unlooked=unlooked),
            lambda: kind.asked < most,
            again,
        )
        if unlooked and self.violation is None and kind.answered:
            self._judge(target, kind, refused=refused > 0)
        if self.violation is None and kind.answered and self.in_time:
            self._judge_at_other_deltas(target, kind)
        return refused >= min(AGAIN, again)

    def diagnose(self, target: Target, other: AskedHistogram) -> None:
        """Tells answers that are free from histograms, and from calls for one label, that are."""
        free = self.uncharged
        if free is None:
            return
        try:
            if other is not free and self._moves(target, other, 1):
                kinds = "inputs" if self.claim.given else "histograms"
                of = f" to {kinds} such as {self.claim.named(free.votes)}"
            else:
                of = " to calls for one label" if self._moves(target, free, _LARGE) else ""
        except (BudgetExhausted, Refused, TargetError):
            return  # what was found stands without it
        self.diagnosis = f"answers{of} are not charged"

    def diagnose_few(self, target: Target, kind: AskedHistogram) -> None:
        """Tells calls for a few labels that are charged as one from charges that are too low."""
        if self.diagnosis != UNDERCHARGED or self.account.now is None:
            return
        messages = [self.account.now]
        try:
            for size in (1, SEVERAL[-1]):
                self._labels(target.ask(kind.votes, size), kind, size)
                self.account.look(target, self.answered)
                messages.append(self.account.now)
        except (BudgetExhausted, Refused, TargetError):
            return  # what was found stands without it
        one, several = messages[1] - messages[0], messages[2] - messages[1]
        if 0.0 < several < 0.5 * SEVERAL[-1] * one:
            self.diagnosis = "calls for a few labels are charged as calls for fewer"

    def _moves(self, target: Target, kind: AskedHistogram, size: int) -> bool:
        """Whether a call moves the account."""
        before = self.account.now
        self._labels(target.ask(kind.votes, size), kind, size)
        self.account.look(target, self.answered)
        return self.account.now != before

    def _labels(self, reply: Any, kind: AskedHistogram, size: int) -> Labels:
        """The labels of a reply; raises as `checked_labels`."""
        refuses, release = self.claim.mechanism.refuses, self.claim.release
        return checked_labels(reply, kind.votes, size, refuses, release)

    def ask_whole(self, target: Target, kind: AskedHistogram, size: int) -> bool:
        """One call, unsplit, and a look; False where the budget is spent. Raises as `ask` does."""
        return self._ask(target, kind, size, ask=partial(ask_whole, target))

    def _ask(
        self,
        target: Target,
        kind: AskedHistogram,
        size: int,
        *,
        unlooked: bool = False,
        ask: Callable[[Histogram, int], Any] | None = None,
    ) -> bool:
        """One call and a look; False where the budget is spent."""
        try:
            reply = (ask or target.ask)(kind.votes, size)
        except BudgetExhausted:
            return False
        labels = self._labels(reply, kind, size)
        answered = int((labels != REFUSAL).sum())
        kind.asked, kind.answered = kind.asked + size, kind.answered + answered
        self.asked, self.answered = self.asked + size, self.answered + answered
        if unlooked:
            self._judge_unlooked(target, kind)
        else:
            self._judge(target, kind)
        return True

    def _judge_unlooked(self, target: Target, kind: AskedHistogram) -> None:
        """Looks at the account once the answers cost too much, and whether that stops it."""
        if kind.costs_more_than(self.privacy.epsilon) is None:
            return
        self._judge(target, kind)
        try:
            self._labels(target.ask(kind.votes, 1), kind, 1)
        except BudgetExhausted:
            self.diagnosis = "the budget is enforced only where spent is asked"
        except (Refused, TargetError):
            return  # what was found stands without it

    def _judge(self, target: Target, kind: AskedHistogram, *, refused: bool = False) -> None:
        self.looked(target, refused=refused)
        if self.violation is not None:
            return
        claimed = self.privacy
        if (proof := kind.costs_more_than(claimed.epsilon)) is not None:
            self.violation = (
                f"it answered {kind.answered:,} queries of {self.claim.named(kind.votes)}, "
                f"which cost more than ({claimed.epsilon:g}, {claimed.delta:g}), namely epsilon "
                f"{proof.epsilon:.4g} or more: certified, against {self.claim.named(proof.there)}"
            )
        elif self.account.now is not None:
            self._hold_to_account(kind, self.account.now, claimed.delta)

    def _judge_at_other_deltas(self, target: Target, kind: AskedHistogram) -> None:
        """What it says of another delta than the claimed one must hold there."""
        small = self.looked_over_deltas(target)
        if small is None:
            return
        delta, spent = small
        self._hold_to_account(kind.at(delta), spent, delta)
        if self.violation is not None and self.constant:
            self.diagnosis = IGNORES_DELTA

    def _hold_to_account(self, kind: AskedHistogram, spent: float, delta: float) -> None:
        """What it says must be at least what the answers to this histogram alone cost."""
        proof = kind.costs_more_than(spent)
        if proof is None:
            return
        named = self.claim.named
        self.undercharged(
            f"{kind.answered:,} answer{'s' * (kind.answered != 1)} to {named(kind.votes)}",
            others=self.answered - kind.answered,
            spent=spent,
            cost=proof.epsilon,
            delta=delta,
            proof=f": certified, against its neighbour {named(proof.there)}, by counting labels "
            f"{list(proof.labels)} ({proof.least:,} or more of {proof.times:,})",
        )
        claimed = delta == self.privacy.delta
        self.uncharged = kind if claimed and spent == kind.before else None
