"""`budget-enforcement`: a deployment stops before its budget is exceeded, and keeps its account."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Self

from .....reference import Gaussian
from .....reference.accounting.analyses import answered_share
from .....reference.accounting.neighbourhood import MOVED_VOTE
from .....reference.clock import OutOfTime, step
from ....claims.open_target import open_claimed
from ....claims.tables import ANY_QUERIES
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.report import Verdict
from ....run.checks import NO_PRIVACY, Reason, RunContext, Setting
from ....run.phase import Phase
from ....run.several_accounts import given_at_the_end, several_accounts
from ....run.watched import NOT_RESTARTED, SECONDS
from ....targets import Refused, Target
from ..claim import LabelsClaim
from .base import LabelsCheck
from .budget_asking import BudgetAsking
from .budget_by_query import BudgetByQuery
from .budget_histograms import costliest, in_scope, telling
from .budget_readings import above_one_reading
from .certain_cost import MOST_ANSWERS, AskedHistogram, CertainCost

_BATCHES = 20  # about so many calls until answers to a histogram have certainly cost too much
_FEW = 40  # allowed answers below which only one kind of histogram is asked beside the costliest
_FAR = 10**5  # most answers to a histogram other than the costliest
_SPARE = 1.05  # answers asked over those that cost too much, as proofs may need some more
_PATIENCE = 3  # labels asked over the expected number for so many answers, where some are refused
_BY_BALLS = "so many answers to the histogram cost more than the claim, in ball arithmetic"
_LIVES = 10  # most restarts, as long as each start gives answers
_EARLY_LIVES = 2  # restarts before the budget is spent


class BudgetEnforcement(LabelsCheck):
    """Asks until the deployment stops, or provably exceeds its budget or undercharges.

    First come single labels of histograms of each kind, from clear leads to the costliest. The
    costliest is then asked in equal single calls and, after restarts, in calls larger than the
    budget, in calls for a few labels, and to the end. The other kinds follow, and the costliest
    again after more restarts. For a claim about a file of histograms, only those are asked, in its
    proportions. The budget is exceeded if the answers to one histogram cost more than the claim,
    and undercharged if they cost more than `spent` says, by bounds in ball arithmetic. `spent` may
    not fall, also after a restart, exceed the claim, or rise with delta. Without refusals, the
    costliest histogram may get no more answers than claimed, or than a published analysis allows.
    """

    id = "budget-enforcement"
    phase = Phase.ACCOUNTING

    @classmethod
    def make(cls, setting: Setting) -> Self:
        """On the claim's `budget_target` if it names one."""
        spec = setting.claim.gate.budget_target
        if spec is None:
            return cls(setting.claim)
        return cls(setting.claim, lambda: open_claimed(spec, setting.claim, plainly=True))

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        if claim.privacy is None:
            return NO_PRIVACY
        return _CACHING if claim.mechanism.caching else None

    def __init__(self, claim: LabelsClaim, reopen: Callable[[], Target] | None = None) -> None:
        assert claim.privacy is not None
        self.claim, self.privacy, self.reopen = claim, claim.privacy, reopen
        self.asking, self.by_query = BudgetAsking(claim), BudgetByQuery(claim)
        self.worst: AskedHistogram | None = None
        self.unended = False  # whether time ran out before the budget
        self._reopened: Target | None = None  # the target opened here, to be closed here

    def conclude(self, context: RunContext) -> Outcome:
        step(self.id)
        self._reopened = None if self.reopen is None else self.reopen()
        try:
            lacking = self.run(self._reopened or context.target)
        except Refused as refusal:
            message = f"the target refuses the costliest histogram: {refusal}"
            lacking = Note("input-refused", message)
        except OutOfTime:
            if self.violation is None:
                raise
            lacking = None  # the violation was found in time, though not its cause
        finally:
            if self._reopened is not None:
                self._reopened.close()
        if lacking is not None:
            return Outcome(Verdict.NOT_APPLICABLE, Finding.of(lacking))
        return Outcome(self.verdict, self.finding())

    def run(self, target: Target) -> Reason:
        """Asks until the end; returns why, if there is no budget to test."""
        if not self.asking.account.open(target) and self.reopen is None:
            message = "the target has no spent(delta), and [gate] names no budget_target"
            return Note("not-offered", message)
        any_queries = self.privacy.scope == ANY_QUERIES
        lacking = self._ask_kinds(target) if any_queries else self._ask_scope(target)
        self.unended = not self.asking.in_time
        if self.violation is not None and self.worst is not None:
            self._tell_accounts(self._reopened or target, self.worst)
        return lacking if self.violation is None else None

    # -- which histograms, in which calls --------------------------------------------------------

    def _ask_kinds(self, target: Target) -> Reason:
        found = self._costliest
        if found is None:
            return _NEVER_EXCEEDED
        worst = self.worst = self._asked(*found)
        self.asking.limit, self.asking.costliest = found[1], worst
        most = self._patience(worst)
        if most > MOST_ANSWERS:
            message = f"exceeding the claim takes {found[1]:,} answers, or over {most:,} queries"
            return Note(_TOO_LONG, message, {"answers": found[1], "queries": most})
        kinds = telling(self.claim)
        if self.by_query.sound < _FEW:  # a budget of a few answers: the clearest lead alone
            kinds = kinds[:1]
        others = [self._asked(cost, cost.answers_beyond(self.privacy.epsilon)) for cost in kinds]
        calls = self.asking
        calls.singly(target, [*others, worst])
        calls.diagnose(target, worst)
        calls.in_a_row(target, worst)
        target = self._restart_early(target, worst)
        calls.wholly(target, worst, most)
        calls.severally(target, worst)
        calls.to_the_end(target, worst, most)
        if worst.asked >= most:
            message = (
                f"it refused all but {worst.answered:,} of {worst.asked:,} queries, and went on"
            )
            asked = {"answers": worst.answered, "queries": worst.asked}
            return Note("hardly-answered", message, asked)
        for kind in others:
            if kind.limit is not None and kind.limit <= _FAR:
                size = max(1, kind.limit // _BATCHES)
                calls.until_spent(target, kind, size, self._patience(kind))
        self._restart(lambda again: calls.to_the_end(again, worst, most))
        self._judge_queries(worst)
        return None

    def _judge_queries(self, worst: AskedHistogram) -> None:
        """Checks the number of answers to the costliest histogram, if nothing else is wrong."""
        if self.violation is None:
            found = self.by_query.violation(worst)
            if found is None:
                return
            self.asking.violation, self.asking.code = found.message, found.code
            self.asking.fields = found.fields
            moved = self.claim.mechanism.neighbourhood == MOVED_VOTE
            self.asking.diagnosis = (
                "answers are charged less than they cost by the published analyses"
                f"{' (half, as if a moved vote changed one count?)' if moved else ''}, or they are "
                "not counted"
            )

    def _tell_accounts(self, target: Target, worst: AskedHistogram) -> None:
        """Asks on for the cause, where more was answered than may be and there is no account."""
        if self.asking.code not in ("budget-not-enforced", "too-many-answers"):
            return
        asking, allowed = self.asking, self.by_query.allowances
        given = given_at_the_end(asking, lambda: target.ask(worst.votes, 1), asking.asked, allowed)
        found = None if given is None else self._accounts(given)
        if found is not None:
            asking.diagnosis, asking.code = found.message, found.code
            asking.fields = {**asking.fields, **found.fields}

    def _accounts(self, given: int) -> Note | None:
        """What so many queries in all suggest; outcomes may end one account, and a query fit it."""
        resumed = 0 if self.claim.mechanism.refuses else self.asking.resumed
        return several_accounts(given, resumed, self.by_query.allowances)

    def _ask_scope(self, target: Target) -> Reason:
        """Asks passes over the scope file: first one query of each histogram, then the rest."""
        try:
            found = in_scope(self.claim)
        except ValueError as error:
            return Note("file-unreadable", f"privacy.scope: {error}")
        beyond = self.privacy.epsilon
        rows = [(self._asked(cost, cost.answers_beyond(beyond)), times) for cost, times in found]
        passes = [kind.limit / times for kind, times in rows if kind.limit is not None]
        if not passes:
            return _NEVER_EXCEEDED
        most = int(_SPARE * min(passes)) + 2
        if most * sum(times for _, times in rows) > MOST_ANSWERS:
            message = (
                f"exceeding the claim takes {most:,} passes over the scope, which take too long"
            )
            return Note(_TOO_LONG, message, {"passes": most})
        self.asking.limit = min(kind.limit for kind, _ in rows if kind.limit is not None)
        self._pass_through(target, rows, most)
        self._restart(lambda again: self._pass_through(again, rows, most))
        return None

    def _pass_through(
        self, target: Target, rows: list[tuple[AskedHistogram, int]], most: int
    ) -> None:
        for kind, _ in rows:
            if self.asking.until_spent(target, kind, 1, 1):
                return
        for through in [1, *range(2, most, max(1, most // _BATCHES)), most]:
            for kind, times in rows:
                if self.asking.until_spent(target, kind, MOST_ANSWERS, through * times):
                    return

    def _restart_early(self, target: Target, worst: AskedHistogram) -> Target:
        """Restarts the target before its budget is spent, each time just after a call.

        It does so twice, so that an account saved every few answers is unsaved at least once.
        """
        if not self._restarts or self.by_query.sound < _FEW:
            return target
        for _ in range(_EARLY_LIVES):
            if self.violation is None:
                self.asking.until_spent(target, worst, 1, worst.asked + 1)
                target = self._live_again()
        return target

    def _restart(self, ask: Callable[[Target], None]) -> None:
        """Restarts and asks again; a new start must have the old account, and no more answers."""
        for _ in range(_LIVES):
            if self.violation is not None or not self._restarts:
                return
            before = self.answered
            ask(self._live_again())
            if self.answered == before:
                return

    @property
    def _restarts(self) -> bool:
        """Whether the target can be opened anew, and its account must be there again."""
        return self.reopen is not None and not self.claim.gate.for_one_run

    def _live_again(self) -> Target:
        """Ends the current start, begins the next, and reads its account."""
        if self._reopened is not None:
            self._reopened.close()
        assert self.reopen is not None
        self._reopened = self.reopen()
        self.asking.reopened(self._reopened)
        return self._reopened

    @cached_property
    def _costliest(self) -> tuple[CertainCost, int] | None:
        return costliest(self.claim)

    @property
    def foreseen(self) -> tuple[Excluded, ...]:
        """Answers to the costliest histogram, by the claim alone.

        Of a claim about a file, several histograms are asked in turn: of none so many answers alone
        are expected.
        """
        if self.privacy.scope != ANY_QUERIES or self._costliest is None:
            return ()
        cost, limit = self._costliest
        where = (self.claim.named(cost.here),)
        size: Fields = {"answers": limit}
        return (self.entry(self.asking.code, size, where, limit, method=_BY_BALLS),)

    # -- what is enough --------------------------------------------------------------------------

    def _asked(self, cost: CertainCost, limit: int | None) -> AskedHistogram:
        whole = screens = None
        charges, delta = self.claim.charges, self.privacy.delta
        made, near = self.claim.mechanism.mechanism(), self.claim.mechanism.neighbourhood
        if self.claim.mechanism.refuses:
            whole = CertainCost(made, cost.here, delta, near)
        if charges == "realised":
            screens = CertainCost(made, cost.here, delta, near, screening=True)
        return AskedHistogram(cost, whole, screens, charges, limit)

    def _patience(self, kind: AskedHistogram) -> int:
        """Labels to ask for until enough are answered to cost too much, at the claimed rate."""
        assert kind.limit is not None
        limit = int(_SPARE * kind.limit) + _BATCHES
        if not self.claim.mechanism.refuses:
            return limit
        share = answered_share(kind.votes, self.claim.mechanism.mechanism())
        return int(min(_PATIENCE * limit / max(share, 1e-9), 2.0 * MOST_ANSWERS))

    # -- what was found --------------------------------------------------------------------------

    @property
    def answered(self) -> int:
        """Labels that were not refused, in all starts."""
        return self.asking.answered

    @property
    def violation(self) -> str | None:
        """The violation in words, if there is one."""
        return self.asking.violation

    @property
    def verdict(self) -> Verdict:
        """The verdict, after `run`; inconclusive without any answer, or if time ran out."""
        if self.violation is not None:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if self.answered == 0 or self.unended else Verdict.PASS

    def finding(self) -> Finding:
        """The finding, after `run`."""
        if self.violation is not None:
            asking = self.asking
            return Finding(self.violation, asking.diagnosis, code=asking.code, fields=asking.fields)
        now = self.asking.account.now
        message = "" if now is None else f", with epsilon {now:.4g} spent by its own account"
        if self.answered == 0:
            return Finding(
                f"its budget was spent before it answered anything{message}: give an instance that "
                "has its whole budget, as budget_target in [gate]",
                code="budget-exhausted",
                fields={} if now is None else {"spent": now},
            )
        answers = f"{self.answered:,} answer{'s' * (self.answered != 1)}"
        asked = self.asking.asked
        queries = f" to {asked:,} queries" if asked > self.answered else ""
        if self.unended:
            message = f"{answers}{queries} took {SECONDS:g} s, and it had not stopped"
            return Finding(message, code="out-of-time", fields={"answers": self.answered})
        factor = self.by_query.factor(self.answered)
        return Finding(
            f"it stopped after {answers}{queries}{message}; {factor}, and the costliest pair known "
            f"exceeds the claim from {self.asking.limit:,} answers on"
            + NOT_RESTARTED
            * (self.reopen is not None and not self._restarts),
            warnings=tuple(filter(None, self._warnings())),
            excludes=self.foreseen,
        )

    def _warnings(self) -> Iterator[Note | None]:
        """Warnings of what is no violation by itself."""
        yield self.asking.account.still(self.answered)
        if self.claim.charges != "realised":
            yield self.asking.rises.warning
        if self.asking.constant and isinstance(self.claim.mechanism.noise.unrounded, Gaussian):
            yield Note(
                "account-constant-in-delta",
                f"spent said epsilon {self.asking.account.now:.4g} at every delta: an account that "
                "ignores delta, which it is asked for",
                {"spent": self.asking.account.now},
            )
        if self.worst is not None:
            above = above_one_reading(self.claim, self.worst)
            many = self.by_query.warning(self.worst) if above is None else above
            yield None if many is None else self._by_workers(many)

    def _by_workers(self, above: Note) -> Note:
        """The same warning, with the accounts that so many queries suggest."""
        found = None if self.asking.account.now is not None else self._accounts(self.asking.asked)
        if found is None:
            return above
        message = f"{above.message}; {found.message}"
        return Note(above.code, message, {**above.fields, **found.fields})


_CACHING = Note("answers-cached", "a caching deployment may repeat an answer for ever")
_NEVER_EXCEEDED = Note(
    "cannot-be-seen-here",
    f"even {MOST_ANSWERS:,} answers cannot be proved to exceed the claim",
    {"answers": MOST_ANSWERS},
)
_TOO_LONG = "takes-too-many-queries"
