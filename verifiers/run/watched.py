"""A deployment's own account of its budget, watched while the deployment is asked."""

from collections.abc import Callable
from time import monotonic

from ..claims.tables import PrivacyClaim
from ..findings.note import Fields
from ..targets import Target
from .account import Account

AGAIN = 3
"""Consecutive calls that must be refused for the budget to count as spent."""

LONG_AGAIN = 200
"""As `AGAIN`, at the end: a deployment may renew its budget after enough refused calls."""

_LINGER = 30.0  # seconds after which fewer refused calls are enough

SECONDS = 600.0
"""Seconds after which no more is asked."""

IGNORES_DELTA = "the account ignores delta: spent says the same epsilon whatever delta it gets"
"""The diagnosis of an account that is too small at a smaller delta, and constant in delta."""

UNDERCHARGED = "the account charges less than the answers certainly cost"
"""The diagnosis of an account that says less than the answers cost."""


NOT_RESTARTED = "; it was not restarted: its budget lives for one run (lifetime in [gate])"
"""The end of a message on a budget that no restart is held against."""


class Watched:
    """Watches a deployment's own account, over its restarts too, until a violation.

    answered: queries answered so far; violation, diagnosis: what is wrong, in words, if anything;
    code, fields: of that; constant: whether the account last gave the same epsilon at every delta;
    resumed: how often a call was answered that had been refused just before.
    """

    def __init__(self, privacy: PrivacyClaim) -> None:
        self.privacy = privacy
        self.account = Account(privacy.epsilon, privacy.delta)
        self.answered = self.resumed = 0
        self.constant = False
        self.violation: str | None = None
        self.diagnosis, self.code = "the budget is not enforced", "budget-not-enforced"
        self.fields: Fields = {}
        self._until = monotonic() + SECONDS

    def looked_over_deltas(self, target: Target) -> tuple[float, float] | None:
        """Reads the account at three deltas; epsilon must not rise with delta.

        Returns the smallest delta with an epsilon, and that epsilon; None if it is no smaller than
        the claimed delta, or if epsilon rises.
        """
        spent = self.account.over_deltas(target)
        rise = self.account.rise(spent)
        if rise is not None:
            self.violation = f"spent rises with delta: it says {rise}"
            self.diagnosis = "the account uses delta wrongly, such as the sign of its logarithm"
            self.code = "account-rises-with-delta"
            return None
        self.constant = len(spent) > 1 and spent[0][1] == spent[-1][1] > 0
        return spent[-1] if spent and spent[-1][0] < self.privacy.delta else None

    @property
    def in_time(self) -> bool:
        """Whether there is time to ask more."""
        return monotonic() < self._until

    def until_refused(self, call: Callable[[], bool], more: Callable[[], bool], again: int) -> int:
        """Makes calls until enough are refused or a violation; returns how many were refused last.

        call: makes one, and is False where the budget is spent; again: consecutive calls that must
        be refused, of which only the first few are made where calls take too long.
        """
        refused, since, few = 0, monotonic(), min(AGAIN, again)
        while self.violation is None and more() and self.in_time:
            if refused >= few and not (refused < again and monotonic() < since + _LINGER):
                break
            if call():
                self.resumed += refused > 0
                refused, since = 0, monotonic()
            else:
                refused += 1
        return refused

    def reopened(self, target: Target) -> None:
        """Reads the account after a restart, at which it must not have fallen."""
        before = self.account.now
        fell = self.account.look(target, self.answered)
        if fell is not None:
            self.violation = f"spent fell when it was restarted, {fell}"
            self.diagnosis = "the account is forgotten when the deployment is restarted"
            self.code = "account-lost-on-restart"
            self.fields = {"before": before, "after": self.account.now}

    def looked(self, target: Target, *, refused: bool = False) -> None:
        """Reads the account, which must not fall or, after an answer, exceed the claim.

        refused: whether the last call was refused, after having perhaps been charged.
        """
        before = self.account.now
        fell = self.account.look(target, self.answered)
        if fell is not None:
            self.fields = {"before": before, "after": self.account.now}
            self.violation = f"spent fell {fell}"
            self.diagnosis = "the account is not kept: what was spent is forgotten"
            self.code = "account-falls"
        elif self.account.exceeds and not refused:
            self.violation = (
                f"it answered {self.answered:,} queries, although its own account then says "
                f"epsilon {self.account.now:.6g}, more than the claimed {self.privacy.epsilon:g}"
            )
            self.diagnosis = "the budget is not enforced: the account is kept, and nothing stops"
            self.fields = {"answers": self.answered, "spent": self.account.now}

    def undercharged(
        self, answers: str, *, others: int, spent: float, cost: float, delta: float, proof: str
    ) -> None:
        """What the account says is less than what the answers to one input alone cost.

        answers: these in words; others: how many answers were given beside; proof: how it is known.
        """
        asked = "spent" if delta == self.privacy.delta else f"spent({delta:g})"
        beside = f" and {others:,} to others" if others else ""
        these = "the former alone" if others else "that"
        self.violation = (
            f"{asked} said epsilon {spent:.6g} after {answers}{beside}, but {these} cost "
            f"at least {cost:.6g} at delta {delta:g}{proof}"
        )
        self.diagnosis, self.code = UNDERCHARGED, "account-too-low"
        self.fields = {"spent": spent, "cost": cost, "delta": delta}
