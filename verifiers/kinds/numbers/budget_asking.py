"""Asking a deployment of numbers that has a budget, call by call, and judging its account."""

import math
from dataclasses import dataclass
from typing import Any

from ....reference.numbers.certified import CertifiedPair
from ...findings.finding import Finding
from ...findings.note import Note
from ...run.account import ROUNDING
from ...run.budget import NOT_ENFORCED, BudgetAsking
from ...text import counted
from .claim import NumbersClaim

PER_INPUT = Note("budget-per-input", "a budget is kept for each input, and what they cost adds up")
"""The cause where answers to one input stay below the claim, and those to several do not."""

_GROWN = 1.1  # times the answers, from one proof of their cost to the next
_CERTIFIED = " (certified in ball arithmetic)"


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
    asked: int = 0

    @property
    def paid(self) -> int:
        """Answers that cost what so many to one input do."""
        return self.answered + self.beside


class NumbersBudgetAsking(BudgetAsking[AskedInput]):
    """Counts what was answered, over all starts of a deployment, until a violation.

    One unit more may come to any input, or be replaced in it, so that releases of each cost what
    the farthest neighbours do. limit: the least number that certainly costs more than the claim;
    paid: the most answers whose cost was looked at together.
    """

    def __init__(self, claim: NumbersClaim, pair: CertifiedPair) -> None:
        assert claim.privacy is not None
        super().__init__(claim.privacy)
        self.claim, self.pair, self.limit, self.paid = claim, pair, 0, 0

    def cost(self, releases: int, delta: float | None = None) -> float:
        """Epsilon that so many releases of one input certainly cost, from below.

        delta: the claimed one when None.
        """
        delta = self.privacy.delta if delta is None else delta
        return self.pair.epsilon_lower(releases, delta) if releases else 0.0

    def _values(self, one: AskedInput) -> Any:
        return one.values

    def _answered(self, reply: Any, one: AskedInput, size: int) -> int:
        self.claim.release.shaped(reply, one.values, size)
        return size

    def _judge_cost(self, one: AskedInput) -> Finding | None:
        self.paid = max(self.paid, one.paid)
        if one.paid < min(one.next_look, self.limit):
            return None
        one.next_look = math.ceil(_GROWN * one.paid)
        claimed, cost = self.privacy, self.cost(one.paid)
        if cost <= claimed.epsilon * ROUNDING:
            spent = self.account.now
            return None if spent is None else self._too_low(one, spent, cost, claimed.delta)
        alike = f" and {one.beside:,} of inputs like it" if one.beside else ""
        queries = counted(one.answered, "query", "queries")
        cause = PER_INPUT if one.beside else NOT_ENFORCED
        return Finding(
            f"it answered {queries} of {one.words}{alike}, which cost more than "
            f"({claimed.epsilon:g}, {claimed.delta:g}), namely epsilon {cost:.4g} or more"
            f"{_CERTIFIED}",
            cause.message,
            code=cause.code,
            fields={"answers": one.paid, "cost": cost, "epsilon": claimed.epsilon},
        )

    def _judge_account(self, one: AskedInput, spent: float, delta: float) -> Finding | None:
        return self._too_low(one, spent, self.cost(one.paid, delta), delta)

    def _too_low(self, one: AskedInput, spent: float, cost: float, delta: float) -> Finding | None:
        """The violation where the account says less than the answers cost."""
        if cost <= spent * ROUNDING:
            return None
        answers = f"{counted(one.answered, 'answer', 'answers')} to {one.words}"
        answers += f" and {one.beside:,} to inputs like it" if one.beside else ""
        cause = PER_INPUT if one.beside else None
        if spent == self.account.start:
            cause = Note("answers-not-charged", f"answers to {one.words} are not charged")
        return self.undercharged(
            answers,
            others=self.answered - one.paid,
            spent=spent,
            cost=cost,
            delta=delta,
            proof=_CERTIFIED,
            cause=cause,
        )
