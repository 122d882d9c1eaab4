"""`budget-enforcement` of any kind: what it comes to, and whether workers keep accounts each."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import monotonic
from typing import Any

from ...reference import BudgetExhausted
from ...reference.clock import OutOfTime
from ..claims.open_target import open_claimed
from ..findings.excluded import Excluded
from ..findings.finding import Finding, Outcome
from ..findings.note import Note
from ..findings.verdict import Verdict
from ..targets import NotOffered, Refused, Target, TargetError
from ..text import counted
from .budget import AGAIN, NOT_ENFORCED, SECONDS, BudgetAsking
from .checks import Check, Reason, RunContext
from .phase import Phase

NOT_RESTARTED = "; it was not restarted: its budget lives for one run (lifetime in [gate])"
"""The end of a message on a budget that no restart is held against."""

_IN_TURN = (
    "; requests were made one at a time: an account that requests at one time each read before "
    "another has written it would not have shown"
)

LIVES = 10
"""Most restarts, as long as each start gives answers."""

_REFUSED = 60  # calls in a row: of two accounts one is missed by all of them once in 10^18
_MOST = 16  # accounts that are looked for
_SECONDS = 30.0  # for asking on
_LEAST = 20  # queries of one account, of which multiples are looked for
_SURPRISING = 0.05  # share of counts that are near a multiple, from which on a match says nothing
_NEAR = 250  # and from which on it may be off by one


class BudgetCheck(Check):
    """Asks until the deployment stops, or provably exceeds its budget or undercharges.

    reopen: opens the claim's `budget_target`, None where it names none; asking: what was asked, and
    what is wrong; worst: the input that is asked most, where others may be left for it; unended:
    whether time ran out before the budget.
    """

    id = "budget-enforcement"
    phase = Phase.ACCOUNTING
    asking: BudgetAsking[Any]
    reopen: Callable[[], Target] | None
    named_worst: str
    worst: Any = None
    unended = False
    _opened: Target | None = None  # by `reopen`, to be closed here

    def conclude(self, context: RunContext) -> Outcome:
        self._opened = None if self.reopen is None else self.reopen()
        try:
            lacking = self.run(self._opened or context.target)
        except Refused as refusal:
            message = f"the target refuses {self.named_worst}: {refusal}"
            lacking = Note("input-refused", message)
        except NotOffered as lack:
            lacking = Note("not-offered", str(lack))
        except OutOfTime:
            if self.violation is None:
                raise
            lacking = None  # the violation was found in time, though not its cause
        finally:
            if self._opened is not None:
                self._opened.close()
        if lacking is not None:
            return Outcome(Verdict.NOT_APPLICABLE, Finding.of(lacking))
        return Outcome(self.verdict, self.finding(), self.queries)

    def run(self, target: Target) -> Reason:
        """Asks until the end; returns why, if there is no budget to test."""
        if not self.asking.open(target) and self.reopen is None:
            lacking = f"{self.asking.account.lacking}, and [gate] names no budget_target"
            return Note("not-offered", lacking)
        reason = self._ask()
        self.unended = not self.asking.in_time
        if self.violation is None:
            return reason
        if self.worst is not None:
            self._tell_accounts()
        return None

    @property
    def violation(self) -> Finding | None:
        """What is wrong, after `run`."""
        return self.asking.violation

    @property
    def verdict(self) -> Verdict:
        """The verdict, after `run`; inconclusive without any answer, or if time ran out."""
        if self.violation is not None:
            return Verdict.FAIL
        undecided = self.unended or not self.asking.answered
        return Verdict.INCONCLUSIVE if undecided else Verdict.PASS

    def finding(self) -> Finding:
        """The finding, after `run`."""
        asking = self.asking
        if asking.violation is not None:
            return asking.violation
        now = asking.account.now
        spent = "" if now is None else f", with epsilon {now:.4g} spent by its own account"
        if not asking.answered:
            return Finding(
                f"its budget was spent before it answered anything{spent}: give an instance that "
                "has its whole budget, as budget_target in [gate]",
                code="budget-exhausted",
                fields={} if now is None else {"spent": now},
            )
        answers = counted(asking.answered, "answer", "answers")
        if asking.asked > asking.answered:
            answers += f" to {asking.asked:,} queries"
        if self.unended:
            message = f"{answers} took {SECONDS:g} s, and it had not stopped"
            return Finding(message, code="out-of-time", fields={"answers": asking.answered})
        excludes = self.excluded
        once = NOT_RESTARTED if self.reopen is not None and not self._restarts else ""
        return Finding(
            f"it stopped after {answers}{spent}{self._limits(excludes)}{once}{_IN_TURN}",
            warnings=tuple(filter(None, self._warnings())),
            excludes=excludes,
        )

    @abstractmethod
    def _ask(self) -> Reason:
        """Asks until the end; the reason where no budget can be looked at, or reached."""

    @abstractmethod
    def _ask_one(self) -> object:
        """Makes a call for one query of `worst`."""

    @abstractmethod
    def _limits(self, excludes: tuple[Excluded, ...]) -> str:
        """What a pass says of the answers that the claim allows."""

    @abstractmethod
    def _warnings(self) -> Iterator[Note | None]:
        """Warnings of what is no violation by itself."""

    @property
    @abstractmethod
    def _allowances(self) -> set[int]:
        """Queries that one account may allow."""

    @property
    def _restarts(self) -> bool:
        """Whether the target can be opened anew, and its account must be there again."""
        return self.reopen is not None and not self.claim.gate.for_one_run

    def _tell_accounts(self) -> None:
        """Asks on for the cause, where more was answered than may be and there is no account."""
        assert self.violation is not None
        if self.violation.code not in (NOT_ENFORCED.code, "too-many-answers"):
            return
        given = self._given_at_the_end()
        found = None if given is None else self._accounts(given)
        if found is not None:
            self.asking.blame(found)

    def _given_at_the_end(self) -> int | None:
        """Makes calls for one query until they are refused; returns the queries charged in all.

        None where the target has an account to look at, or does not stop within what several
        accounts allow.
        """
        asking, given = self.asking, self.asking.asked
        if asking.account.now is not None:
            return None
        refused, until = 0, monotonic() + _SECONDS
        most = max(given, _MOST * max(self._allowances))
        while refused < _REFUSED:
            if given > most or monotonic() > until:
                return None
            try:
                self._ask_one()
            except BudgetExhausted:
                refused += 1
            except (Refused, TargetError):
                return None  # what was found stands without it
            else:
                given += 1
                asking.resumed += refused > 0
                refused = 0
        return given

    def _accounts(self, given: int) -> Note | None:
        """What so many queries in all suggest."""
        return several_accounts(given, self.asking.resumed, self._allowances)

    def _with_accounts(self, many: Note) -> Note:
        """A warning of many answers, with the accounts that they suggest where none is shown."""
        found = None if self.asking.account.now is not None else self._accounts(self.asking.asked)
        if found is None:
            return many
        message = f"{many.message}; {found.message}"
        return Note(many.code, message, {**many.fields, **found.fields})


def budget_target(claim: Any) -> Callable[[], Target] | None:
    """Opens the target whose budget may be used up; None where the claim names none."""
    spec = claim.gate.budget_target
    return None if spec is None else partial(open_claimed, spec, claim, plainly=True)


def several_accounts(given: int, resumed: int, allowed: Iterable[int]) -> Note | None:
    """What queries until the end suggest: so many accounts, one for each worker; None if nothing.

    given: queries that were charged, in all; resumed: how often a call was answered that had been
    refused just before, which one account never does; allowed: queries that one account may allow.
    """
    shown, tried = resumed >= AGAIN, sorted(allowed)
    found = next(filter(None, (_accounts(given, one) for one in tried)), None)
    if not shown and _by_chance(given, tried) > _SURPRISING:
        found = None
    if found is None and not shown:
        return None
    again = f"{resumed:,} calls were answered that had been refused just before"
    fields, seen = {"given": given, "resumed": resumed}, [again] if shown else []
    if found is not None:
        accounts, one = found
        seen.append(f"{given:,} queries are as many as {accounts} accounts of {one:,} allow")
        fields |= {"accounts": accounts, "allowed": one}
    keeps = "each worker seems to keep an account of its own"
    if not shown:
        keeps = "each worker may keep an account of its own, or a query is charged a part of it"
    return Note("account-for-each-worker", f"{', and '.join(seen)}: {keeps}", fields)


def _by_chance(given: int, tried: list[int]) -> float:
    """About the share of counts like this one that are near a multiple of what is allowed."""
    near = [(one, round(given / one) if one >= _NEAR else 0) for one in tried if one >= _LEAST]
    return sum((2 * accounts + 1) / one for one, accounts in near)


def _accounts(given: int, one: int) -> tuple[int, int] | None:
    """How many accounts of `one` query each give so many, if a whole number does, and `one`."""
    if one < _LEAST:
        return None
    accounts = round(given / one)
    near = abs(given - accounts * one) <= (accounts if one >= _NEAR else 0)
    return (accounts, one) if 2 <= accounts <= _MOST and near else None
