"""`budget-enforcement`: a deployment stops before its budget is spent, and forgets nothing."""

from collections.abc import Callable, Iterator

from .....reference import Gaussian
from .....reference.accounting.analyses import answered_share
from .....reference.clock import OutOfTime, step
from ....claims.open_target import open_claimed
from ....claims.tables import ANY_QUERIES
from ....findings.finding import Finding, Outcome
from ....findings.report import Verdict
from ....run.checks import Site
from ....run.phase import Phase
from ....run.registry import NO_PRIVACY, lacks_nothing
from ....run.watched import SECONDS
from ....targets import Refused, Target
from ..claim import LabelsClaim
from .asked_histogram import AskedHistogram
from .base import Unseeing
from .budget_asking import BudgetAsking
from .budget_by_query import BudgetByQuery
from .budget_calls import BudgetCalls
from .budget_histograms import costliest, in_scope, telling
from .certain_cost import MOST_ANSWERS, CertainCost
from .spec import LabelsSetting, LabelsSpec

_BATCHES = 20  # calls until answers to a histogram have certainly cost too much
_FEW = 40  # answers that a sound account allows: too few for histograms of every kind
_FAR = 10**5  # answers to other histograms than the costliest, at most
_SPARE = 1.05  # of the answers that cost too much: proofs may take some more
_PATIENCE = 3  # times the labels that so many answers should take, where some are refused
_LIVES = 10  # restarts, as long as each has answers to give
_EARLY_LIVES = 2  # restarts before the budget is spent


class BudgetEnforcement(Unseeing):
    """Asks until the deployment stops, or can be proved to go too far or to charge too little.

    First single labels of histograms of each kind, from clear leads to the costliest, then the
    costliest in calls that are larger than the budget, in calls for a few labels, after a restart
    in single ones to the end, the other kinds, and after a restart the costliest. Of a claim
    about a file of histograms, those alone, and as often one as another stands there.
    Too far is where the answers to one histogram have cost more than the claim, too little where
    they have cost more than `spent` says, by bounds in ball arithmetic. Nor may `spent` fall,
    exceed the claim, fall when the deployment is restarted, or rise with delta. Where nothing is
    refused, the costliest histogram may have no more answers than the claim's queries, or than a
    published analysis of it allows.
    """

    id = "budget-enforcement"

    def __init__(self, claim: LabelsClaim, reopen: Callable[[], Target] | None = None) -> None:
        assert claim.privacy is not None
        self.claim, self.privacy, self.reopen = claim, claim.privacy, reopen
        self.asking, self.by_query = BudgetAsking(claim), BudgetByQuery(claim)
        self.limit = 0  # answers to the costliest histogram that certainly cost too much
        self.worst: AskedHistogram | None = None
        self.unended = False  # whether time ran out first
        self._life: Target | None = None  # what was opened here, and is closed here

    def conclude(self, site: Site) -> Outcome:
        """See `Running.conclude`."""
        step(self.id)
        self._life = None if self.reopen is None else self.reopen()
        try:
            lacking = self.run(self._life or site.target)
        except Refused as refusal:
            lacking = f"the target refuses the costliest histogram: {refusal}"
        except OutOfTime:
            if self.violation is None:
                raise
            lacking = None  # it was found in time, and what explains it was not
        finally:
            if self._life is not None:
                self._life.close()
        if lacking is not None:
            return Outcome(Verdict.NOT_APPLICABLE, Finding(lacking))
        return Outcome(self.verdict, self.finding())

    def run(self, target: Target) -> str | None:
        """Asks until the end; the reason where the deployment has no budget to look at."""
        if not self.asking.account.open(target) and self.reopen is None:
            return "the target has no spent(delta), and [gate] names no budget_target"
        any_queries = self.privacy.scope == ANY_QUERIES
        lacking = self._ask_kinds(target) if any_queries else self._ask_scope(target)
        self.unended = not self.asking.in_time
        return lacking if self.violation is None else None

    # -- which histograms, in which calls --------------------------------------------------------

    def _ask_kinds(self, target: Target) -> str | None:
        found = costliest(self.claim)
        if found is None:
            return f"the claim cannot be proved exceeded by {MOST_ANSWERS:,} answers"
        worst = self.worst = self._asked(*found)
        self.limit, most = found[1], self._patience(worst)
        if most > MOST_ANSWERS:
            return f"{self.limit:,} answers, too many for the claim, take over {most:,} queries"
        kinds = telling(self.claim)
        if self.by_query.sound < _FEW:  # a budget of a few answers: the clearest lead alone
            kinds = kinds[:1]
        others = [self._asked(cost, cost.answers_beyond(self.privacy.epsilon)) for cost in kinds]
        calls = BudgetCalls(self.asking, self.limit)
        calls.singly(target, [*others, worst])
        self.asking.diagnose(target, worst)
        calls.in_a_row(target, worst)
        target = self._restart_early(target, worst)
        calls.wholly(target, worst, most)
        calls.severally(target, worst)
        calls.to_the_end(target, worst, most)
        if worst.asked >= most:
            return f"it refused all but {worst.answered:,} of {worst.asked:,} queries, and went on"
        for kind in others:
            if kind.limit is not None and kind.limit <= _FAR:
                size = max(1, kind.limit // _BATCHES)
                self.asking.until_spent(target, kind, size, self._patience(kind))
        self._restart(lambda again: calls.to_the_end(again, worst, most))
        self._judge_queries(worst)
        return None

    def _judge_queries(self, worst: AskedHistogram) -> None:
        """By their number, once nothing else is wrong with the answers to one histogram."""
        if self.violation is None:
            self.asking.violation = self.by_query.violation(worst)
            self.asking.diagnosis = (
                "answers are charged less than they cost by the published analyses (half, as if a "
                "moved vote changed one count?), or they are not counted"
            )

    def _ask_scope(self, target: Target) -> str | None:
        """Passes through the file: one query of each histogram alone, then the rest of them."""
        try:
            found = in_scope(self.claim)
        except ValueError as error:
            return f"privacy.scope: {error}"
        beyond = self.privacy.epsilon
        rows = [(self._asked(cost, cost.answers_beyond(beyond)), times) for cost, times in found]
        passes = [kind.limit / times for kind, times in rows if kind.limit is not None]
        if not passes:
            return f"the claim cannot be proved exceeded by {MOST_ANSWERS:,} answers"
        most = int(_SPARE * min(passes)) + 2
        if most * sum(times for _, times in rows) > MOST_ANSWERS:
            return f"{most:,} passes through the scope, too many for the claim, take too long"
        self.limit = min(kind.limit for kind, _ in rows if kind.limit is not None)
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
        """The target in a new life, before its budget is spent, when it may have saved little.

        Just after a call, and twice: what is saved every so many answers is not saved both times.
        """
        if self.reopen is None or self.by_query.sound < _FEW:
            return target
        for _ in range(_EARLY_LIVES):
            if self.violation is None:
                self.asking.until_spent(target, worst, 1, worst.asked + 1)
                target = self._live_again(self.reopen)
        return target

    def _restart(self, ask: Callable[[Target], None]) -> None:
        """A new life must have spent what the last one had, and have no more answers to give."""
        for _ in range(_LIVES):
            if self.violation is not None or self.reopen is None:
                return
            before = self.answered
            ask(self._live_again(self.reopen))
            if self.answered == before:
                return

    def _live_again(self, reopen: Callable[[], Target]) -> Target:
        """Ends the life before, and looks at the account of the next."""
        if self._life is not None:
            self._life.close()
        self._life = reopen()
        self.asking.reopened(self._life)
        return self._life

    # -- what is enough --------------------------------------------------------------------------

    def _asked(self, cost: CertainCost, limit: int | None) -> AskedHistogram:
        whole = None
        if self.claim.mechanism.refuses:
            whole = CertainCost(self.claim.mechanism.mechanism(), cost.here, self.privacy.delta)
        return AskedHistogram(cost, whole, limit)

    def _patience(self, kind: AskedHistogram) -> int:
        """Labels to ask for: enough for answers that cost too much, were they rare as claimed."""
        assert kind.limit is not None
        limit = int(_SPARE * kind.limit) + _BATCHES
        if not self.claim.mechanism.refuses:
            return limit
        share = answered_share(kind.votes, self.claim.mechanism.mechanism())
        return int(min(_PATIENCE * limit / max(share, 1e-9), 2.0 * MOST_ANSWERS))

    # -- what was found --------------------------------------------------------------------------

    @property
    def asked(self) -> int:
        """Labels asked for, of all lives."""
        return self.asking.asked

    @property
    def answered(self) -> int:
        """Those that were not refused."""
        return self.asking.answered

    @property
    def violation(self) -> str | None:
        """What is wrong, if anything."""
        return self.asking.violation

    @property
    def verdict(self) -> Verdict:
        """Once `run` has gone through: without an answer, or an end, nothing was seen."""
        if self.violation is not None:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if self.answered == 0 or self.unended else Verdict.PASS

    def finding(self) -> Finding:
        """What was found, once `run` has gone through."""
        if self.violation is not None:
            return Finding(self.violation, self.asking.diagnosis)
        now = self.asking.account.now
        said = "" if now is None else f", with epsilon {now:.4g} spent by its own account"
        if self.answered == 0:
            return Finding(
                f"its budget was spent before it answered anything{said}: give an instance that "
                "has its whole budget, as budget_target in [gate]"
            )
        answers = f"{self.answered:,} answer{'s' * (self.answered != 1)}"
        queries = f" to {self.asked:,} queries" if self.asked > self.answered else ""
        if self.unended:
            return Finding(f"{answers}{queries} took {SECONDS:g} s, and it had not stopped")
        factor = self.by_query.factor(self.answered)
        return Finding(
            f"it stopped after {answers}{queries}{said}; {factor}, and the costliest pair known "
            f"exceeds the claim from {self.limit:,} on",
            warning="; ".join(filter(None, self._warnings())) or None,
        )

    def _warnings(self) -> Iterator[str | None]:
        """What is no violation by itself, and may be one of another account."""
        yield self.asking.account.still(self.answered)
        if self.asking.constant and isinstance(self.claim.mechanism.noise, Gaussian):
            yield (
                f"spent said epsilon {self.asking.account.now:.4g} at every delta: an account that "
                "ignores delta, which it is asked for"
            )
        if self.worst is not None:
            yield self.by_query.warning(self.worst)


def _lacks(claim: LabelsClaim) -> str | None:
    if claim.privacy is None:
        return NO_PRIVACY
    caching = claim.mechanism.caching
    return "a caching deployment may repeat an answer for ever" if caching else None


def _make(setting: LabelsSetting) -> BudgetEnforcement:
    """It asks the instance that has the budget, where the claim names one."""
    spec = setting.claim.gate.budget_target
    if spec is None:
        return BudgetEnforcement(setting.claim)
    return BudgetEnforcement(setting.claim, lambda: open_claimed(spec, setting.claim, plainly=True))


SPECS = (
    LabelsSpec(
        id=BudgetEnforcement.id,
        phase=Phase.ACCOUNTING,
        lacks=_lacks,
        lacks_in=lacks_nothing,
        needs=None,
        named=0,
        make=_make,
    ),
)
