"""`budget-enforcement`: a deployment of numbers stops before its budget is spent."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from .....reference.numbers.certified import CertifiedPair
from .....reference.numbers.costs import pure_epsilon
from .....reference.searches import last_from_zero
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....run.account import ROUNDING
from ....run.budget import (
    AGAIN,
    LONG_AGAIN,
    NOT_ENFORCED,
    UNDERCHARGED,
    BudgetAsking,
    BudgetProof,
)
from ....run.budget_check import LIVES, BudgetCheck, budget_target
from ....run.checks import Reason, RunContext, without_privacy
from ....targets import Refused
from ....text import counted
from ..claim import NumbersClaim
from ..planning.asked import InputRole
from ..planning.pairs import charged_pair, inputs_alike
from ..planning.plan import NumbersPlan, at_once
from .pair_check import fractions

PER_INPUT = Note("budget-per-input", "a budget is kept for each input, and what they cost adds up")
"""The cause where answers to one input stay below the claim, and those to several do not."""

_CLAMPED = Note(
    "farthest-neighbour-clamped", "the noise is clamped, and the farthest neighbour lies below"
)
_GROWN = 1.1  # times the answers, from one proof of their cost to the next


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
        super().__init__(claim.private)
        self.claim, self.pair, self.limit, self.paid = claim, pair, 0, 0
        self._certain = lru_cache(maxsize=4)(pair.epsilon_lower)

    def cost(self, releases: int, delta: float | None = None) -> float:
        """Epsilon that so many releases of one input certainly cost, from below.

        delta: the claimed one when None.
        """
        delta = self.privacy.delta if delta is None else delta
        return self._certain(releases, delta) if releases else 0.0

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
        return super()._judge_cost(one)

    def _proof(self, one: AskedInput, epsilon: float, delta: float) -> BudgetProof | None:
        cost = self.cost(one.paid, delta)
        if cost <= epsilon * ROUNDING:
            return None
        return BudgetProof(
            cost,
            f"{counted(one.answered, 'answer', 'answers')} to {one.words}"
            + (f" and {one.beside:,} to inputs like it" if one.beside else ""),
            {"answers": one.paid},
            self.answered - one.paid,
            " (certified in ball arithmetic)",
            PER_INPUT if one.beside else NOT_ENFORCED,
        )

    def _why_too_low(self, one: AskedInput, proof: BudgetProof, spent: float, delta: float) -> Note:
        if spent == self.account.start:
            return Note("answers-not-charged", f"answers to {one.words} are not charged")
        return PER_INPUT if one.beside else UNDERCHARGED


MOST_ANSWERS = 10**6
"""More answers than are asked for."""

_BY_BALLS = "so many answers to one input cost more than the claim, in ball arithmetic"
_NUMBERS = 10**9  # of all answers together
_BATCHES, _CALLS = 20, 2_000  # calls until answers have certainly cost too much; small ones then
_SPARE = 1.02  # of the answers that cost too much
_ROLES = (InputRole.EMPTY, InputRole.TYPICAL, InputRole.ONE_RECORD)


class BudgetEnforcement(BudgetCheck):
    """Asks until the deployment stops, or provably exceeds its budget or undercharges.

    First single releases of some inputs; then one input whose neighbour lies as far as any, in
    large and in small calls, and two more like it, which must not have budgets of their own; with a
    `budget_target`, the first one again after a restart.
    """

    claim: NumbersClaim
    plan: NumbersPlan
    asking: NumbersBudgetAsking
    worst: AskedInput

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self.reopen = budget_target(claim)
        found = charged_pair(claim.mechanism)
        assert found is not None, "a claim to which it applies"
        self.asking = NumbersBudgetAsking(claim, found[1])
        self.worst = AskedInput(claim.release.input_text(found[0]), found[0])
        self.named_worst = self.worst.words

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        lacking = without_privacy(claim) or fractions(claim)
        return lacking or (_CLAMPED if charged_pair(claim.mechanism) is None else None)

    def conclude(self, context: RunContext) -> Outcome:
        outcome = super().conclude(context)
        context.spend(self.asking.answered)
        return outcome

    @property
    def queries(self) -> int:
        return self.asking.answered

    def _ask(self) -> Reason:
        limit = self._limit
        if limit is None:
            message = f"the claim cannot be proved exceeded by {self._most:,} answers"
            return Note("cannot-be-seen-here", message, {"answers": self._most})
        self.asking.limit = limit
        for one in (*self._others(), self.worst):
            self.asking.until_moved(one)
        self._ask_most(self.worst)
        self._ask_alike()
        self._ask_restarted()
        return None

    def _ask_one(self) -> object:
        return self.asking.target.ask(self.worst.values, 1)

    @property
    def _most(self) -> int:
        """Answers that are asked for at most."""
        return min(MOST_ANSWERS, max(1, _NUMBERS // self.claim.mechanism.width))

    @cached_property
    def _limit(self) -> int | None:
        """Answers to one input from which on the claim is certainly exceeded; None for too many."""
        asking, most = self.asking, self._most
        epsilon = asking.privacy.epsilon
        limit = last_from_zero(lambda times: asking.cost(times) <= epsilon, most) + 1
        return None if limit > most else limit

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Answers to the input that costs most, by the claim alone."""
        limit = self._limit
        if limit is None:
            return ()
        where, size = (self.named_worst,), {"answers": limit}
        return (self.entry(NOT_ENFORCED.code, size, where, limit, method=_BY_BALLS),)

    def _others(self) -> list[AskedInput]:
        """Inputs whose releases cost as much, which an account may take for cheaper ones."""
        if self.claim.mechanism.replaces:
            return []
        asked = [a for role in _ROLES for a in self.plan.inputs if a.role == role]
        return [AskedInput(a.name, a.values) for a in asked]

    def _ask_most(self, one: AskedInput) -> None:
        """Asks large calls, then small ones: a refused call may only have been too large."""
        asking, limit = self.asking, self.asking.limit
        most = int(_SPARE * limit) + 1 - one.beside
        size = at_once(self.claim.mechanism.width, max(1, limit // _BATCHES))
        if asking.until_spent(one, size, most):
            asking.until_spent(one, max(1, (limit - one.paid) // _CALLS), most)
            asking.until_spent(one, 1, most, AGAIN if one.beside else LONG_AGAIN)

    def _ask_alike(self) -> None:
        """Asks inputs that cost as much as the worst, whose answers add to the cost of its own."""
        worst, paid = self.worst, self.worst.answered
        alike = inputs_alike(self.claim.mechanism, worst.values, self.asking.pair)
        for values in alike if paid else []:
            one = AskedInput(self.claim.release.input_text(values), values, beside=paid)
            try:
                self._ask_most(one)
            except Refused:
                continue  # what was asked before is judged without it
            paid = one.paid

    def _ask_restarted(self) -> None:
        """Asks new starts, beside the first one, which is asked again for the cause."""
        first = self.asking.target
        for _ in range(LIVES):
            if self.violation is not None or self.reopen is None or not self._restarts:
                return
            before, again = self.asking.answered, self.reopen()
            try:
                self.asking.restart(again)
                self._ask_most(self.worst)
            finally:
                again.close()
                self.asking.target = first
            if self.asking.answered == before:
                return

    def _limits(self, excludes: tuple[Excluded, ...]) -> str:
        return "".join(
            f"; those to one input exceed the claim from {one.size['answers']:,} on"
            for one in excludes
        )

    @property
    def _allowances(self) -> set[int]:
        """As claimed, by pure costs, or by the exact cost."""
        privacy = self.asking.privacy
        pure = pure_epsilon(self.claim.mechanism.aggregation)
        return {privacy.queries, int(privacy.epsilon / pure), self.asking.limit - 1}

    def _warnings(self) -> Iterator[Note | None]:
        """More answers than the claim names too, which cost no more than it says."""
        asking, claimed = self.asking, self.asking.privacy
        yield asking.account.still(asking.answered)
        if asking.answered <= claimed.queries:
            return
        cost = asking.cost(asking.paid)
        many = (
            f"it gave {asking.answered:,} answers, more than the claim's queries = "
            f"{claimed.queries:,}; those to one input, and to inputs like it, are shown to cost "
            f"epsilon {cost:.4g} of the claimed {claimed.epsilon:g}"
        )
        fields = {"answers": asking.answered, "allowed": claimed.queries, "cost": cost}
        yield self._with_accounts(Note("many-answers", many, fields))
