"""`budget-enforcement`: a deployment of numbers stops before its budget is spent."""

from collections.abc import Callable
from functools import partial

from .....reference.clock import OutOfTime
from .....reference.numbers.costs import pure_epsilon
from .....reference.searches import last_from_zero
from ....claims.open_target import open_claimed
from ....findings.excluded import PROVED, Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.verdict import Verdict
from ....run.checks import Check, Reason, RunContext, without_privacy
from ....run.phase import Phase
from ....run.several_accounts import given_at_the_end, several_accounts
from ....run.watched import AGAIN, LONG_AGAIN, NOT_RESTARTED, SECONDS
from ....targets import NotOffered, Refused, Target
from ....text import counted
from ..budget_asking import AskedInput, NumbersBudgetAsking
from ..claim import NumbersClaim
from ..planning.asked import Role
from ..planning.pairs import charged_pair, inputs_alike
from ..planning.plan import NumbersPlan, at_once
from .pair_check import fractions

MOST_ANSWERS = 10**6
"""More answers than are asked for."""

_BY_BALLS = "so many answers to one input cost more than the claim, in ball arithmetic"
_NUMBERS = 10**9  # of all answers together
_BATCHES, _CALLS = 20, 2_000  # calls until answers have certainly cost too much; small ones then
_SINGLES = 32  # calls for one release, while the account stands still
_SPARE = 1.02  # of the answers that cost too much
_LIVES = 10  # most restarts, as long as each start gives answers
_ROLES = (Role.EMPTY, Role.TYPICAL, Role.ONE_RECORD)


class BudgetEnforcement(Check):
    """Asks until the deployment stops, or provably exceeds its budget or undercharges.

    It first asks single releases of some inputs. Then it asks one input whose neighbour lies as far
    as any, in large calls and in small ones, and two more like it, which must not have budgets of
    their own. Where `[gate]` has a `budget_target`, it asks the first one again after a restart.
    `spent` must not fall, exceed the claim, or say less than answers certainly cost.
    """

    id = "budget-enforcement"
    phase = Phase.ACCOUNTING
    claim: NumbersClaim
    plan: NumbersPlan

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        return without_privacy(claim) or fractions(claim)

    def conclude(self, context: RunContext) -> Outcome | None:
        found = charged_pair(self.claim.mechanism)
        if found is None:
            below = "the noise is clamped, and the farthest neighbour lies below"
            nothing = Note("farthest-neighbour-clamped", below)
            return Outcome(Verdict.NOT_APPLICABLE, Finding.of(nothing))
        values, pair = found
        spec, asking = self.claim.gate.budget_target, NumbersBudgetAsking(self.claim, pair)
        worst = AskedInput(self.claim.release.input_text(values), values)
        reopen = None if spec is None else partial(open_claimed, spec, self.claim, plainly=True)
        target = context.target if reopen is None else reopen()
        try:
            lacking = self._run(target, asking, worst, reopen)
        except Refused as refusal:
            lacking = Note("input-refused", f"the target refuses {worst.words}: {refusal}")
        except NotOffered as lack:
            lacking = Note("not-offered", str(lack))
        except OutOfTime:
            if asking.violation is None:
                raise
            lacking = None
        finally:
            self._tell_accounts(asking, target, worst)
            if reopen is not None:
                target.close()
        context.spend(asking.answered)
        if lacking is not None and asking.violation is None:
            return Outcome(Verdict.NOT_APPLICABLE, Finding.of(lacking))
        return self._outcome(asking)

    def _run(
        self,
        target: Target,
        asking: NumbersBudgetAsking,
        worst: AskedInput,
        reopen: Callable[[], Target] | None,
    ) -> Reason:
        """Asks until the end; the reason where no budget can be looked at, or reached."""
        if not asking.account.open(target) and reopen is None:
            lacking = f"{asking.account.lacking}, and [gate] names no budget_target"
            return Note("not-offered", lacking)
        limit = self._limit(asking)
        if limit is None:
            message = f"the claim cannot be proved exceeded by {self._most:,} answers"
            return Note("cannot-be-seen-here", message, {"answers": self._most})
        asking.limit = limit
        for asked in (*self._others(), worst):
            self._singly(target, asking, asked)
        self._ask_worst(target, asking, worst)
        self._ask_alike(target, asking, worst)
        for _ in range(_LIVES):
            if asking.violation is not None or reopen is None or self.claim.gate.for_one_run:
                break
            before, again = asking.answered, reopen()
            try:
                asking.reopened(again)
                self._ask_worst(again, asking, worst)
            finally:
                again.close()
            if asking.answered == before:
                break
        return None

    @property
    def _most(self) -> int:
        """Answers that are asked for at most."""
        return min(MOST_ANSWERS, max(1, _NUMBERS // self.claim.mechanism.width))

    def _limit(self, asking: NumbersBudgetAsking) -> int | None:
        """Answers to one input from which on the claim is certainly exceeded; None for too many."""
        epsilon, most = asking.privacy.epsilon, self._most
        limit = last_from_zero(lambda times: asking.cost(times) <= epsilon, most) + 1
        return None if limit > most else limit

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Answers to the input that costs most, by the claim alone."""
        found = charged_pair(self.claim.mechanism)
        if found is None:
            return ()
        values, pair = found
        asking = NumbersBudgetAsking(self.claim, pair)
        limit = self._limit(asking)
        if limit is None:
            return ()
        where, size = (self.claim.release.input_text(values),), {"answers": limit}
        return (self.entry(asking.code, size, where, limit, method=_BY_BALLS, probability=PROVED),)

    def _others(self) -> list[AskedInput]:
        """Inputs whose releases cost as much, which an account may take for cheaper ones."""
        if self.claim.mechanism.replaces:
            return []
        asked = [a for role in _ROLES for a in self.plan.inputs if a.role == role]
        return [AskedInput(a.name, a.values) for a in asked]

    def _singly(self, target: Target, asking: NumbersBudgetAsking, asked: AskedInput) -> None:
        """Asks one release, and more of them while the account does not move."""
        before = asking.account.now
        for _ in range(_SINGLES):
            if asking.until_spent(target, asked, 1, asked.answered + 1):
                return
            if asking.violation is not None or before is None or asking.account.now != before:
                return

    def _ask_worst(self, target: Target, asking: NumbersBudgetAsking, worst: AskedInput) -> None:
        """Asks large calls, then small ones: a refused call may only have been too large."""
        width, most = self.claim.mechanism.width, int(_SPARE * asking.limit) + 1 - worst.beside
        size = at_once(width, max(1, asking.limit // _BATCHES))
        if asking.until_spent(target, worst, size, most):
            few = max(1, (asking.limit - worst.paid) // _CALLS)
            asking.until_spent(target, worst, few, most)
            asking.until_spent(target, worst, 1, most, AGAIN if worst.beside else LONG_AGAIN)

    def _ask_alike(self, target: Target, asking: NumbersBudgetAsking, worst: AskedInput) -> None:
        """Asks inputs that cost as much as the worst, whose answers add to the cost of its own."""
        paid = worst.answered
        for values in inputs_alike(self.claim.mechanism, worst.values, asking.pair) if paid else []:
            asked = AskedInput(self.claim.release.input_text(values), values, beside=paid)
            try:
                self._ask_worst(target, asking, asked)
            except Refused:
                continue  # what was asked before is judged without it
            paid = asked.paid

    def _outcome(self, asking: NumbersBudgetAsking) -> Outcome:
        if asking.violation is not None:
            cause = Note(asking.code, asking.diagnosis, asking.fields)
            found = Finding.caused(asking.violation, cause)
            return Outcome(Verdict.FAIL, found, asking.answered)
        now, gate = asking.account.now, self.claim.gate
        text = "" if now is None else f", with epsilon {now:.4g} spent by its own account"
        answers = counted(asking.answered, "answer", "answers")
        if not asking.answered:
            message = (
                f"its budget was spent before it answered anything{text}: give an instance that "
                "has its whole budget, as budget_target in [gate]"
            )
            spent = Note("budget-exhausted", message, {} if now is None else {"spent": now})
            return Outcome(Verdict.INCONCLUSIVE, Finding.of(spent))
        if not asking.in_time:
            message = f"{answers} took {SECONDS:g} s, and it had not stopped"
            late = Note("out-of-time", message, {"answers": asking.answered})
            return Outcome(Verdict.INCONCLUSIVE, Finding.of(late), asking.answered)
        excludes = self.excluded
        beyond = "".join(
            f"; those to one input exceed the claim from {one.size['answers']:,} on"
            for one in excludes
        )
        message = f"it stopped after {answers}{text}{beyond}" + NOT_RESTARTED * (
            gate.budget_target is not None and gate.for_one_run
        )
        noted = (asking.account.still(asking.answered), self._many(asking))
        warnings = tuple(note for note in noted if note is not None)
        found = Finding(message, warnings=warnings, excludes=excludes)
        return Outcome(Verdict.PASS, found, asking.answered)

    def _allowances(self, asking: NumbersBudgetAsking) -> set[int]:
        """Answers that one account may allow: as claimed, by pure costs, or by the exact cost."""
        pure = pure_epsilon(self.claim.mechanism.aggregation)
        return {asking.privacy.queries, int(asking.privacy.epsilon / pure), asking.limit - 1}

    def _tell_accounts(
        self, asking: NumbersBudgetAsking, target: Target, worst: AskedInput
    ) -> None:
        """Asks on for the cause, where more was answered than may be and there is no account."""
        if asking.violation is None or asking.code != "budget-not-enforced":
            return
        allowed = self._allowances(asking)
        given = given_at_the_end(
            asking, lambda: target.ask(worst.values, 1), asking.answered, allowed
        )
        found = None if given is None else several_accounts(given, asking.resumed, allowed)
        if found is not None:
            asking.diagnosis, asking.code = found.message, found.code
            asking.fields = {**asking.fields, **found.fields}

    def _many(self, asking: NumbersBudgetAsking) -> Note | None:
        """A warning of more answers than the claim names, which cost no more than it says."""
        given, claimed = asking.answered, asking.privacy
        if given <= claimed.queries:
            return None
        cost = asking.cost(asking.paid)
        message = (
            f"it gave {given:,} answers, more than the claim's queries = {claimed.queries:,}; "
            f"those to one input, and to inputs like it, are shown to cost epsilon {cost:.4g} of "
            f"the claimed {claimed.epsilon:g}"
        )
        fields = {"answers": given, "allowed": claimed.queries, "cost": cost}
        found = None
        if asking.account.now is None:
            found = several_accounts(given, asking.resumed, self._allowances(asking))
        if found is None:
            return Note("many-answers", message, fields)
        return Note("many-answers", f"{message}; {found.message}", {**fields, **found.fields})
