"""Asks a deployment with a budget, call by call, and checks its account after each."""

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from .....reference import REFUSAL, BudgetExhausted, Histogram
from .....reference.mechanisms import Labels
from ....claims.tables import PrivacyClaim
from ....targets import Refused, Target, TargetError, ask_whole, checked_labels
from ..claim import LabelsClaim
from .budget_account import Account, AskedHistogram

AGAIN = 3
"""Consecutive calls that must be refused for the budget to count as spent."""

LONG_AGAIN = 200
"""As `AGAIN`, at the end: a deployment may renew its budget after enough refused calls."""

_LINGER = 30.0  # seconds after which fewer refused calls are enough

SECONDS = 600.0
"""Seconds after which no more is asked."""

IGNORES_DELTA = "the account ignores delta: spent says the same epsilon whatever delta it gets"
"""The diagnosis of an account that is too small at a smaller delta, and constant in delta."""

SEVERAL = (2, 3, 4, 5, 6)
"""Sizes of calls for a few labels, which an account may charge as one label."""

_UNDERCHARGED = "the account charges less than the answers certainly cost"
_LARGE = 50  # labels of a call that is charged even if an account charges by blocks


class Watched:
    """Watches a deployment's own account over all its lives, until a violation.

    answered: queries answered so far; violation, diagnosis: what is wrong, in words, if anything;
    constant: whether the account last gave the same epsilon at every delta.
    """

    def __init__(self, privacy: PrivacyClaim) -> None:
        self.privacy = privacy
        self.account = Account(privacy.epsilon, privacy.delta)
        self.answered = 0
        self.constant = False
        self.violation: str | None = None
        self.diagnosis = "the budget is not enforced"
        self._until = monotonic() + SECONDS

    def looked_over_deltas(self, target: Target) -> tuple[float, float] | None:
        """Reads the account at three deltas; epsilon must not rise with delta.

        Returns the smallest delta with an epsilon, and that epsilon; None if it is no smaller than
        the claimed delta, or if epsilon rises.
        """
        said = self.account.over_deltas(target)
        rise = self.account.rise(said)
        if rise is not None:
            self.violation = f"spent rises with delta: it says {rise}"
            self.diagnosis = "the account uses delta wrongly, such as the sign of its logarithm"
            return None
        self.constant = len(said) > 1 and said[0][1] == said[-1][1] > 0
        return said[-1] if said and said[-1][0] < self.privacy.delta else None

    @property
    def in_time(self) -> bool:
        """Whether there is time to ask more."""
        return monotonic() < self._until

    def insists(self, refused: int, since: float, again: int) -> bool:
        """Whether to ask again after `refused` consecutive refused calls, up to `again` of them.

        since: time of the last answer. Only the first few are insisted on if calls take too long.
        """
        return refused < min(AGAIN, again) or (refused < again and monotonic() < since + _LINGER)

    def reopened(self, target: Target) -> None:
        """Reads the account of a new life, which must not have fallen."""
        fell = self.account.look(target, self.answered)
        if fell is not None:
            self.violation = f"spent fell when it was restarted, {fell}"
            self.diagnosis = "the account is forgotten when the deployment is restarted"

    def looked(self, target: Target, *, refused: bool = False) -> None:
        """Reads the account, which must not fall or, after an answer, exceed the claim.

        refused: whether the last call was refused, after having perhaps been charged.
        """
        fell = self.account.look(target, self.answered)
        if fell is not None:
            self.violation = f"spent fell {fell}"
            self.diagnosis = "the account is not kept: what was spent is forgotten"
        elif self.account.exceeds and not refused:
            self.violation = (
                f"it answered {self.answered:,} queries, although its own account then says "
                f"epsilon {self.account.now:.6g}, more than the claimed {self.privacy.epsilon:g}"
            )
            self.diagnosis = "the budget is not enforced: the account is kept, and nothing stops"


class BudgetAsking(Watched):
    """Asks, and counts queries and answers over all lives of a deployment, until a violation.

    Refusals do not count as answers, as their number, and perhaps their cost, is random.
    """

    def __init__(self, claim: LabelsClaim) -> None:
        assert claim.privacy is not None
        super().__init__(claim.privacy)
        self.claim = claim
        self.asked = 0
        self.uncharged: AskedHistogram | None = None  # answers to it did not change the account

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
        """Asks calls for `size` labels, up to `most` in total; True if the budget was spent.

        again: consecutive calls that must be refused; unlooked: whether `spent` is read only at the
        end, since reading it after every call may be what enforces the budget.
        """
        kind.before = self.account.now if kind.asked == 0 else kind.before
        refused, since = 0, monotonic()
        while self.violation is None and kind.asked < most and self.in_time:
            if not self.insists(refused, since, again):
                break
            if self._ask(target, kind, min(size, most - kind.asked), unlooked=unlooked):
                refused, since = 0, monotonic()
            else:
                refused += 1
        if unlooked and self.violation is None and kind.answered:
            self._judge(target, kind, refused=refused > 0)
        if self.violation is None and kind.answered and self.in_time:
            self._judge_at_other_deltas(target, kind)
        return refused >= min(AGAIN, again)

    def diagnose(self, target: Target, other: AskedHistogram) -> None:
        """Finds whether all answers are uncharged, or those to some histograms or single calls."""
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
            return  # the violation stands without it
        self.diagnosis = f"answers{of} are not charged"

    def diagnose_few(self, target: Target, kind: AskedHistogram) -> None:
        """Finds whether calls for a few labels are undercharged, or all answers are."""
        if self.diagnosis != _UNDERCHARGED or self.account.now is None:
            return
        said = [self.account.now]
        try:
            for size in (1, SEVERAL[-1]):
                self._labels(target.ask(kind.votes, size), kind, size)
                self.account.look(target, self.answered)
                said.append(self.account.now)
        except (BudgetExhausted, Refused, TargetError):
            return  # the violation stands without it
        one, several = said[1] - said[0], said[2] - said[1]
        if 0.0 < several < 0.5 * SEVERAL[-1] * one:
            self.diagnosis = "calls for a few labels are charged as calls for fewer"

    def _moves(self, target: Target, kind: AskedHistogram, size: int) -> bool:
        """Whether a call for `size` labels changes the account."""
        before = self.account.now
        self._labels(target.ask(kind.votes, size), kind, size)
        self.account.look(target, self.answered)
        return self.account.now != before

    def _labels(self, reply: Any, kind: AskedHistogram, size: int) -> Labels:
        """The labels of a reply; raises as `checked_labels`."""
        refuses, release = self.claim.mechanism.refuses, self.claim.release
        return checked_labels(reply, kind.votes, size, refuses, release)

    def ask_whole(self, target: Target, kind: AskedHistogram, size: int) -> bool:
        """Makes one unsplit call; False if the budget is spent. Raises as `Target.ask`."""
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
        """Makes one call, then checks the account; False if the budget is spent."""
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
        """Reads the account once answers cost too much, and finds whether that enforces it."""
        if kind.costs_more_than(self.privacy.epsilon) is None:
            return
        self._judge(target, kind)
        try:
            self._labels(target.ask(kind.votes, 1), kind, 1)
        except BudgetExhausted:
            self.diagnosis = "the budget is enforced only where spent is asked"
        except (Refused, TargetError):
            return  # the violation stands without it

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
        """Compares the account at a smaller delta with the cost at that delta."""
        small = self.looked_over_deltas(target)
        if small is None:
            return
        delta, spent = small
        self._hold_to_account(kind.at(delta), spent, delta)
        if self.violation is not None and self.constant:
            self.diagnosis = IGNORES_DELTA

    def _hold_to_account(self, kind: AskedHistogram, spent: float, delta: float) -> None:
        """Compares the epsilon `spent` at `delta` with the cost of answers to one histogram."""
        proof = kind.costs_more_than(spent)
        if proof is None:
            return
        named = self.claim.named
        beside = self.answered - kind.answered
        answers = f"{kind.answered:,} answer{'s' * (kind.answered != 1)} to {named(kind.votes)}"
        others = f" and {beside:,} to others" if beside else ""
        claimed = delta == self.privacy.delta
        asked = "spent" if claimed else f"spent({delta:g})"
        self.violation = (
            f"{asked} said epsilon {spent:.6g} after {answers}{others}, but the former alone cost "
            f"at least {proof.epsilon:.6g} at delta {delta:g}: certified, against its neighbour "
            f"{named(proof.there)}, by counting labels {list(proof.labels)} "
            f"({proof.least:,} or more of {proof.times:,})"
        )
        self.diagnosis = _UNDERCHARGED
        self.uncharged = kind if claimed and spent == kind.before else None
