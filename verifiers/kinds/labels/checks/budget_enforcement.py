"""`budget-enforcement`: a deployment stops before its budget is exceeded, and keeps its account."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Self

import numpy as np

from .....reference import Gaussian
from .....reference.clock import step
from ....claims.tables import ANY_QUERIES
from ....findings.excluded import Excluded
from ....findings.note import Note
from ....run.budget import NOT_ENFORCED
from ....run.budget_check import LIVES, BudgetCheck, budget_target, several_accounts
from ....run.checks import NO_PRIVACY, Reason, Setting
from ....targets import Target
from ..claim import LabelsClaim
from .base import LabelsCheck
from .budget_allowed import BudgetAllowed, above_one_reading
from .budget_asking import LabelsBudgetAsking
from .budget_histograms import costliest, in_scope, telling
from .certain_cost import MOST_ANSWERS, BudgetHistogram, CertainCost, accounts_of

_BATCHES = 20  # about so many calls until answers to a histogram have certainly cost too much
_FEW = 40  # allowed answers below which only one kind of histogram is asked beside the costliest
_FAR = 10**5  # most answers to a histogram other than the costliest
_SPARE = 1.05  # answers asked over those that cost too much, as proofs may need some more
_PATIENCE = 3  # labels asked over the expected number for so many answers, where some are refused
_BY_BALLS = "so many answers to the histogram cost more than the claim, in ball arithmetic"
_EARLY_LIVES = 2  # restarts before the budget is spent
_CACHING = Note("answers-cached", "a caching deployment may repeat an answer for ever")
_NEVER_EXCEEDED = Note(
    "cannot-be-seen-here",
    f"even {MOST_ANSWERS:,} answers cannot be proved to exceed the claim",
    {"answers": MOST_ANSWERS},
)
_TOO_LONG = "takes-too-many-queries"


class LabelsBudgetEnforcement(BudgetCheck, LabelsCheck):
    """Asks until the deployment stops, or provably exceeds its budget or undercharges.

    First single labels of each kind of histogram, from clear leads to the costliest; that one then
    in equal single calls and, after restarts, in calls larger than the budget, in small ones, and
    to the end; then the other kinds. Of a claim about a file only its histograms are asked, in its
    proportions. Costs are bounded in ball arithmetic; without refusals, the costliest histogram may
    get no more answers than claimed, or than a published analysis allows.
    """

    claim: LabelsClaim
    asking: LabelsBudgetAsking
    worst: BudgetHistogram | None = None
    named_worst = "the costliest histogram"

    @classmethod
    def make(cls, setting: Setting) -> Self:
        return cls(setting.claim, budget_target(setting.claim))

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        if claim.privacy is None:
            return NO_PRIVACY
        return _CACHING if claim.mechanism.caching else None

    def __init__(self, claim: LabelsClaim, reopen: Callable[[], Target] | None = None) -> None:
        self.claim, self.privacy, self.reopen = claim, claim.private, reopen
        self.asking, self.allowed = LabelsBudgetAsking(claim), BudgetAllowed(claim)

    # -- which histograms, in which calls --------------------------------------------------------

    def _ask(self) -> Reason:
        step(self.id)
        if self.privacy.scope != ANY_QUERIES:
            return self._ask_scope()
        found, calls = self._costliest, self.asking
        if found is None:
            return _NEVER_EXCEEDED
        worst = self.worst = calls.costliest = self._one(*found)
        calls.limit, most = found[1], self._patience(worst)
        if most > MOST_ANSWERS:
            message = f"exceeding the claim takes {found[1]:,} answers, or over {most:,} queries"
            return Note(_TOO_LONG, message, {"answers": found[1], "queries": most})
        kinds = telling(self.claim)
        if self.allowed.sound < _FEW:  # a budget of a few answers: the clearest lead alone
            kinds = kinds[:1]
        others = [self._one(cost, cost.answers_beyond(self.privacy.epsilon)) for cost in kinds]
        calls.ask_singly([*others, worst])
        calls.diagnose(worst)
        calls.ask_in_a_row(worst)
        self._restart_early(worst)
        calls.ask_unsplit(worst, most)
        calls.ask_several(worst)
        calls.ask_to_the_end(worst, most)
        if worst.asked >= most:
            message = (
                f"it refused all but {worst.answered:,} of {worst.asked:,} queries, and went on"
            )
            asked = {"answers": worst.answered, "queries": worst.asked}
            return Note("hardly-answered", message, asked)
        for kind in others:
            if kind.limit is not None and kind.limit <= _FAR:
                calls.until_spent(kind, max(1, kind.limit // _BATCHES), self._patience(kind))
        self._restart(lambda: calls.ask_to_the_end(worst, most))
        if self.violation is None:
            calls.violation = self.allowed.violation(worst)
        return None

    def _ask_scope(self) -> Reason:
        """Asks passes over the scope file: first one query of each histogram, then the rest."""
        try:
            found = in_scope(self.claim)
        except ValueError as error:
            return Note("file-unreadable", f"privacy.scope: {error}")
        beyond = self.privacy.epsilon
        rows = [(self._one(cost, cost.answers_beyond(beyond)), times) for cost, times in found]
        limits = [(kind.limit, times) for kind, times in rows if kind.limit is not None]
        if not limits:
            return _NEVER_EXCEEDED
        most = int(_SPARE * min(limit / times for limit, times in limits)) + 2
        if most * sum(times for _, times in rows) > MOST_ANSWERS:
            message = (
                f"exceeding the claim takes {most:,} passes over the scope, which take too long"
            )
            return Note(_TOO_LONG, message, {"passes": most})
        self.asking.limit = min(limit for limit, _ in limits)
        self._pass_through(rows, most)
        self._restart(lambda: self._pass_through(rows, most))
        return None

    def _pass_through(self, rows: list[tuple[BudgetHistogram, int]], most: int) -> None:
        for kind, _ in rows:
            if self.asking.until_spent(kind, 1, 1):
                return
        for through in [1, *range(2, most, max(1, most // _BATCHES)), most]:
            for kind, times in rows:
                if self.asking.until_spent(kind, MOST_ANSWERS, through * times):
                    return

    def _ask_one(self) -> object:
        assert self.worst is not None
        return self.asking.target.ask(self.worst.votes, 1)

    def _restart_early(self, worst: BudgetHistogram) -> None:
        """Restarts the target before its budget is spent, each time just after a call.

        It does so twice, so that an account saved every few answers is unsaved at least once.
        """
        if not self._restarts or self.allowed.sound < _FEW:
            return
        for _ in range(_EARLY_LIVES):
            if self.violation is None:
                self.asking.until_spent(worst, 1, worst.asked + 1)
                self._live_again()

    def _restart(self, ask: Callable[[], None]) -> None:
        """Restarts and asks again; a new start must have the old account, and no more answers."""
        for _ in range(LIVES):
            if self.violation is not None or not self._restarts:
                return
            before = self.asking.answered
            self._live_again()
            ask()
            if self.asking.answered == before:
                return

    def _live_again(self) -> None:
        """Ends the current start, begins the next, and reads its account."""
        if self._opened is not None:
            self._opened.close()
        assert self.reopen is not None
        self._opened = self.reopen()
        self.asking.restart(self._opened)

    # -- what is enough --------------------------------------------------------------------------

    @cached_property
    def _costliest(self) -> tuple[CertainCost, int] | None:
        return costliest(self.claim)

    def _one(self, cost: CertainCost, limit: int | None) -> BudgetHistogram:
        return BudgetHistogram(cost.here, accounts_of(self.claim, cost), limit)

    def _patience(self, kind: BudgetHistogram) -> int:
        """Labels to ask for until enough are answered to cost too much, at the claimed rate."""
        assert kind.limit is not None
        limit = int(_SPARE * kind.limit) + _BATCHES
        if not self.claim.mechanism.refuses:
            return limit
        share = float(np.exp(self.claim.mechanism.mechanism().log_screening(kind.votes)[0]))
        return int(min(_PATIENCE * limit / max(share, 1e-9), 2.0 * MOST_ANSWERS))

    # -- what was found --------------------------------------------------------------------------

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Answers to the costliest histogram, by the claim alone.

        Of a claim about a file, several histograms are asked in turn: of none so many answers alone
        are expected.
        """
        if self.privacy.scope != ANY_QUERIES or self._costliest is None:
            return ()
        cost, limit = self._costliest
        where, size = (self.claim.named(cost.here),), {"answers": limit}
        return (self.entry(NOT_ENFORCED.code, size, where, limit, method=_BY_BALLS),)

    def _limits(self, excludes: tuple[Excluded, ...]) -> str:
        factor = self.allowed.factor(self.asking.answered)
        return (
            f"; {factor}, and the costliest pair known exceeds the claim from "
            f"{self.asking.limit:,} answers on"
        )

    @property
    def _allowances(self) -> set[int]:
        return self.allowed.allowances

    def _accounts(self, given: int) -> Note | None:
        """Outcomes may end one account, and a query fit it, where some are refused."""
        resumed = 0 if self.claim.mechanism.refuses else self.asking.resumed
        return several_accounts(given, resumed, self._allowances)

    def _warnings(self) -> Iterator[Note | None]:
        asking = self.asking
        yield asking.account.still(asking.answered)
        if self.claim.charges != "realised":
            yield asking.rises.warning
        if asking.constant and isinstance(self.claim.mechanism.noise.unrounded, Gaussian):
            yield Note(
                "account-constant-in-delta",
                f"spent said epsilon {asking.account.now:.4g} at every delta: an account that "
                "ignores delta, which it is asked for",
                {"spent": asking.account.now},
            )
        if self.worst is not None:
            above = above_one_reading(self.claim, self.worst)
            many = self.allowed.warning(self.worst) if above is None else above
            yield None if many is None else self._with_accounts(many)
