"""Asking a deployment that has a budget, call by call, and watching its own account."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

from ...reference import BudgetExhausted
from ..claims.tables import PrivacyClaim
from ..findings.finding import Finding
from ..findings.note import Note
from ..targets import Target
from .account import TargetAccount

AGAIN = 3
"""Consecutive calls that must be refused for the budget to count as spent."""

LONG_AGAIN = 200
"""As `AGAIN`, at the end: a deployment may renew its budget after enough refused calls."""

SECONDS = 600.0
"""Seconds after which no more is asked."""

NOT_ENFORCED = Note("budget-not-enforced", "the budget is not enforced")
"""The cause where answers cost more than the claim, and no other is known."""

UNDERCHARGED = Note("account-too-low", "the account charges less than the answers certainly cost")
"""The cause where the account says less than the answers cost, and no other is known."""

_UNEXPLAINED = NOT_ENFORCED.message, UNDERCHARGED.message

_AS_ONE = 1.5
"""Rises of the account by a call for one query, up to which a larger call is charged as one."""

_IGNORES_DELTA = Note(
    "account-ignores-delta",
    "the account ignores delta: spent says the same epsilon whatever delta it gets",
)
_FORGOTTEN = Note(
    "account-lost-on-restart", "the account is forgotten when the deployment is restarted"
)
_NOT_KEPT = Note("account-falls", "the account is not kept: what was spent is forgotten")

_SINGLES = 32  # calls for one query, while the account does not move
_LINGER = 30.0  # seconds after which fewer refused calls are enough


class OneInput(Protocol):
    """One input that is asked; asked: queries of it, over all starts; answered: those answered."""

    asked: int
    answered: int


@dataclass(frozen=True)
class BudgetProof:
    """That some answers certainly cost `epsilon` or more.

    answers: these in words; counts: of them, as fields; others: answers that were given beside;
    how: the cost is known, in words; cause: where it is more than the claim.
    """

    epsilon: float
    answers: str
    counts: dict[str, int]
    others: int
    how: str
    cause: Note = NOT_ENFORCED


Input = TypeVar("Input", bound=OneInput)


class BudgetAsking(ABC, Generic[Input]):
    """Asks a deployment and watches its account, over its restarts too, until a violation.

    target: the start of it that is asked; asked, answered: queries so far, of all inputs;
    violation: what is wrong, if anything; constant: whether the account last gave the same epsilon
    at every delta; resumed: how often a call was answered that had been refused just before.
    """

    target: Target

    def __init__(self, privacy: PrivacyClaim) -> None:
        self.privacy = privacy
        self.account = TargetAccount(privacy.epsilon, privacy.delta)
        self.asked = self.answered = self.resumed = 0
        self.constant = False
        self.violation: Finding | None = None
        self._until = math.inf
        self._single: float | None = None  # by how much a call for one query last moved the account

    def open(self, target: Target) -> bool:
        """Begins to ask a target; False where it has no account."""
        self.target, self._until = target, monotonic() + SECONDS
        return self.account.open(target)

    def restart(self, target: Target) -> None:
        """Goes on with a new start of the target, whose account must not have fallen."""
        self.target = target
        self._read_account("when it was restarted, ", _FORGOTTEN)

    @property
    def in_time(self) -> bool:
        """Whether there is time to ask more."""
        return monotonic() < self._until

    def until_spent(
        self,
        one: Input,
        size: int,
        most: int,
        again: int = AGAIN,
        *,
        check_spent: bool = True,
    ) -> bool:
        """Calls for `size` until `most` queries of an input, or a violation.

        Args:
            one: the input, whose counts grow.
            size: of each call.
            most: queries of the input in all.
            again: calls in a row that must be refused, of which only the first few are made where
                calls take too long.
            check_spent: whether the account is read after every call. Without it, deployments show
                that stop only when asked for it.

        Returns:
            Whether the budget was spent.
        """
        refused, since, few = 0, monotonic(), min(AGAIN, again)
        while self.violation is None and one.asked < most and self.in_time:
            if refused >= few and not (refused < again and monotonic() < since + _LINGER):
                break
            if self.call(one, min(size, most - one.asked), check_spent=check_spent):
                self.resumed += refused > 0
                refused, since = 0, monotonic()
            else:
                refused += 1
        if not check_spent and self.violation is None and one.answered:
            self.judge(one, refused=refused > 0)
        if self.violation is None and one.answered and self.in_time:
            self._judge_at_other_deltas(one)
        return refused >= few

    def until_moved(self, one: Input) -> bool:
        """Calls for one query of an input, and more while the account does not move.

        Returns whether the budget was spent.
        """
        before = self.account.now
        for _ in range(_SINGLES):
            if self.until_spent(one, 1, one.asked + 1):
                return True
            if self.violation is not None or before is None or self.account.now != before:
                return False
        return False

    def call(
        self,
        one: Input,
        size: int,
        ask: Callable[[Any, int], Any] | None = None,
        *,
        check_spent: bool = True,
    ) -> bool:
        """One call, and a look at what it cost; False where the budget is spent.

        ask: makes it, `target.ask` when None, and raises as that does.
        """
        try:
            reply = (ask or self.target.ask)(self._values(one), size)
        except BudgetExhausted:
            return False
        answered = self._answered(reply, one, size)
        one.asked, one.answered = one.asked + size, one.answered + answered
        self.asked, self.answered = self.asked + size, self.answered + answered
        before = self.account.now
        if check_spent:
            self.judge(one)
            self._tell_charge(size, before)
        else:
            self._judge_unchecked(one)
        return True

    def _tell_charge(self, size: int, before: float | None) -> None:
        """Blames the charge for a call of this size, where the account moved as by one query."""
        after, found = self.account.now, self.violation
        if before is None or after is None:
            return
        rise = after - before
        if size == 1:
            self._single = rise
            return
        unexplained = found is not None and found.diagnosis in _UNEXPLAINED
        if unexplained and self._single and rise <= _AS_ONE * self._single:
            message = (
                f"a call for {size:,} queries is charged as one: spent rose by {rise:.3g} for it, "
                f"and by {self._single:.3g} for a single one before"
            )
            self.blame(Note("calls-undercharged", message, {"size": size}))

    def judge(self, one: Input, *, refused: bool = False) -> None:
        """Reads the account, and holds the claim and the account to what the answers cost.

        refused: whether the last call was refused, after having perhaps been charged.
        """
        self._read_account("", _NOT_KEPT)
        if self.violation is None and self.account.exceeds and not refused:
            self.violation = Finding(
                f"it answered {self.answered:,} queries, although its own account then says "
                f"epsilon {self.account.now:.6g}, more than the claimed {self.privacy.epsilon:g}",
                "the budget is not enforced: the account is kept, and nothing stops",
                code=NOT_ENFORCED.code,
                fields={"answers": self.answered, "spent": self.account.now},
            )
        if self.violation is None:
            self.violation = self._judge_cost(one)

    def blame(self, cause: Note) -> None:
        """Gives the violation another cause."""
        assert self.violation is not None
        fields = {**self.violation.fields, **cause.fields}
        self.violation = replace(
            self.violation, diagnosis=cause.message, code=cause.code, fields=fields
        )

    def _judge_cost(self, one: Input) -> Finding | None:
        """The violation where the answers cost more than the claim, or than the account says."""
        claimed = self.privacy
        proof = self._proof(one, claimed.epsilon, claimed.delta)
        if proof is None:
            spent = self.account.now
            return None if spent is None else self._judge_account(one, spent, claimed.delta)
        return Finding(
            f"{proof.answers} cost more than ({claimed.epsilon:g}, {claimed.delta:g}), namely "
            f"epsilon {proof.epsilon:.4g} or more{proof.how}",
            proof.cause.message,
            code=proof.cause.code,
            fields={**proof.counts, "cost": proof.epsilon, "epsilon": claimed.epsilon},
        )

    def _judge_account(self, one: Input, spent: float, delta: float) -> Finding | None:
        """The violation where the answers cost more than the account says at a delta."""
        proof = self._proof(one, spent, delta)
        if proof is None:
            return None
        cause = self._why_too_low(one, proof, spent, delta)
        asked = "spent" if delta == self.privacy.delta else f"spent({delta:g})"
        beside = f" and {proof.others:,} to others" if proof.others else ""
        these = "the former alone" if proof.others else "that"
        counts = {**proof.counts, "others": proof.others}
        return Finding(
            f"{asked} said epsilon {spent:.6g} after {proof.answers}{beside}, but {these} cost "
            f"at least {proof.epsilon:.6g} at delta {delta:g}{proof.how}",
            cause.message,
            code=cause.code,
            fields={"spent": spent, "cost": proof.epsilon, "delta": delta, **counts},
        )

    @abstractmethod
    def _values(self, one: Input) -> Any:
        """What the target is asked."""

    @abstractmethod
    def _answered(self, reply: Any, one: Input, size: int) -> int:
        """How many of the queries of a call its reply answers. Raises TargetError."""

    @abstractmethod
    def _proof(self, one: Input, epsilon: float, delta: float) -> BudgetProof | None:
        """That answers like those to an input cost more than `epsilon` at a delta, if they do."""

    @abstractmethod
    def _why_too_low(self, one: Input, proof: BudgetProof, spent: float, delta: float) -> Note:
        """The cause where the account says less than what is proved."""

    def _judge_unchecked(self, one: Input) -> None:
        """Judges after a call after which the account is not read."""

    def _judge_at_other_deltas(self, one: Input) -> None:
        """Reads the account at three deltas: it may not rise with delta.

        At the smallest, where it is smaller than the claimed one, it is held to the cost there.
        """
        spent = self.account.over_deltas(self.target)
        rise = self.account.rise(spent)
        if rise is not None:
            self.violation = Finding(
                f"spent rises with delta: it says {rise}",
                "the account uses delta wrongly, such as the sign of its logarithm",
                code="account-rises-with-delta",
            )
            return
        self.constant = len(spent) > 1 and spent[0][1] == spent[-1][1] > 0
        if not spent or spent[-1][0] >= self.privacy.delta:
            return
        delta, least = spent[-1]
        self.violation = self._judge_account(one, least, delta)
        if self.violation is not None and self.constant:
            self.blame(_IGNORES_DELTA)

    def _read_account(self, when: str, cause: Note) -> None:
        """Reads the account, which must not have fallen, by the given cause."""
        before = self.account.now
        fell = self.account.look(self.target, self.answered)
        if fell is not None:
            fields = {"before": before, "after": self.account.now}
            message = f"spent fell {when}{fell}"
            self.violation = Finding(message, cause.message, code=cause.code, fields=fields)
