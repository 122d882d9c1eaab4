"""Asking a deployment of numbers that has a budget, call by call, and judging its account."""

import math
from dataclasses import dataclass
from typing import Any

from ....reference import BudgetExhausted
from ....reference.numbers.certified import CertifiedPair
from ...run.watched import AGAIN, IGNORES_DELTA, Watched
from ...targets import Target
from .claim import NumbersClaim

PER_INPUT = "a budget is kept for each input, and what they cost adds up"
"""What is wrong where answers to one input stay below the claim, and those to several do not."""

_GROWN = 1.1  # times the answers, from one proof of their cost to the next
_ROUNDING = 1.0 + 1e-9  # of figures that are compared


@dataclass
class AskedInput:
    """An input that is asked, in words; answered: releases of it, over all starts of the target.

    next_look: answers from which their cost is proved again, which takes a while; beside: answers
    to other inputs before, whose neighbours are as far: a person in all of them pays for all.
    """

    words: str
    values: Any
    answered: int = 0
    next_look: int = 1
    beside: int = 0

    @property
    def paid(self) -> int:
        """Answers that cost what so many to one input do."""
        return self.answered + self.beside

    @property
    def answers(self) -> str:
        """The answers that were paid for, in words."""
        alike = f" and {self.beside:,} of inputs like it" if self.beside else ""
        return (
            f"{self.answered:,} quer{'y' if self.answered == 1 else 'ies'} of {self.words}{alike}"
        )


class NumbersBudgetAsking(Watched):
    """Counts what was answered, over all starts of a deployment, until a violation.

    One unit more may come to any input, or be replaced in it, so that releases of each cost what
    the farthest neighbours do. limit: the least number that certainly costs more than the claim;
    paid: the most answers whose cost was looked at together.
    """

    def __init__(self, claim: NumbersClaim, pair: CertifiedPair) -> None:
        assert claim.privacy is not None
        super().__init__(claim.privacy)
        self.claim, self.pair, self.limit, self.paid = claim, pair, 0, 0

    def until_spent(
        self, target: Target, asked: AskedInput, size: int, most: int, again: int = AGAIN
    ) -> bool:
        """Calls for `size` until `most` releases of the input; True where the budget was spent.

        again: calls in a row that must be refused.
        """
        refused = self.until_refused(
            lambda: self._ask(target, asked, min(size, most - asked.answered)),
            lambda: asked.answered < most,
            again,
        )
        if self.violation is None and asked.answered and self.in_time:
            self._judge_at_other_deltas(target, asked)
        return refused >= min(AGAIN, again)

    def _ask(self, target: Target, asked: AskedInput, size: int) -> bool:
        """One call and a look; False where the budget is spent."""
        try:
            reply = target.ask(asked.values, size)
        except BudgetExhausted:
            return False
        self.claim.release.shaped(reply, asked.values, size)
        asked.answered += size
        self.answered += size
        self.paid = max(self.paid, asked.paid)
        self._judge(target, asked)
        return True

    def cost(self, releases: int, delta: float | None = None) -> float:
        """Epsilon that so many releases of one input certainly cost, from below.

        delta: the claimed one when None.
        """
        delta = self.privacy.delta if delta is None else delta
        return self.pair.epsilon_lower(releases, delta) if releases else 0.0

    def _judge(self, target: Target, asked: AskedInput) -> None:
        self.looked(target)
        if self.violation is not None:
            return
        claimed, cost = self.privacy, 0.0
        if asked.paid >= min(asked.next_look, self.limit):
            cost = self.cost(asked.paid)
            asked.next_look = math.ceil(_GROWN * asked.paid)
        if cost > claimed.epsilon * _ROUNDING:
            self.violation = (
                f"it answered {asked.answers}, which cost more than "
                f"({claimed.epsilon:g}, {claimed.delta:g}), namely epsilon {cost:.4g} or more "
                "(certified in ball arithmetic)"
            )
            self.fields = {"answers": asked.paid, "cost": cost, "epsilon": claimed.epsilon}
            if asked.beside:
                self.diagnosis, self.code = PER_INPUT, "budget-per-input"
        elif self.account.now is not None and cost > self.account.now * _ROUNDING:
            self._hold_to_account(asked, self.account.now, cost, claimed.delta)

    def _judge_at_other_deltas(self, target: Target, asked: AskedInput) -> None:
        """Compares the account at a smaller delta with the cost at that delta."""
        small = self.looked_over_deltas(target)
        if small is None:
            return
        delta, spent = small
        cost = self.cost(asked.paid, delta)
        if cost <= spent * _ROUNDING:
            return
        self._hold_to_account(asked, spent, cost, delta)
        if self.constant:
            self.diagnosis, self.code = IGNORES_DELTA, "account-ignores-delta"

    def _hold_to_account(self, asked: AskedInput, spent: float, cost: float, delta: float) -> None:
        answers = f"{asked.answered:,} answer{'s' * (asked.answered != 1)} to {asked.words}"
        answers += f" and {asked.beside:,} to inputs like it" if asked.beside else ""
        self.undercharged(
            answers,
            others=self.answered - asked.paid,
            spent=spent,
            cost=cost,
            delta=delta,
            proof=" (certified in ball arithmetic)",
        )
        if spent == self.account.start:
            self.diagnosis = f"answers to {asked.words} are not charged"
            self.code = "answers-not-charged"
        elif asked.beside:
            self.diagnosis, self.code = PER_INPUT, "budget-per-input"
