"""The gate: spends a query budget on a target and says whether it does what it claims."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from ...reference import BudgetExhausted
from ...reference.clock import OutOfTime, run_clock, untimed
from ...reference.clock import step as clock_step
from ...reference.mechanisms import Labels
from ..checks import FreshNoise, InputContract
from ..checks.base import Life, Outcome
from ..checks.fits import MOST
from ..checks.spec import Phase, Setting
from ..claim import Claim
from ..findings.opening import Opening
from ..findings.report import CheckResult, Report, Verdict
from ..planning.plan import Batch, Plan
from ..planning.planner import make_plan
from ..planning.roles import Role
from ..planning.schedule import LARGEST_BATCH, sweeps
from ..targets import PacedTarget, Refused, Target, TargetError
from .applicable import applicable, lacking
from .asking import Asking, UsedUp
from .diagnosis import AfterFailure, diagnosing_batches, known
from .lives import LAST_CALL, Lives, last_calls, not_seen
from .lives import QUERIES as OF_LIVES
from .observers import Observers
from .recorder import Recorder
from .results import Ending, is_refuted, results
from .selection import Selection
from .simplest import find_simplest

LEAST_INFORMATION = 1e-6  # about the log of the scale, a label
_LEAST_SEARCH = 300  # queries that the search for a simplest histogram may always take


@dataclass(frozen=True)
class Progress:
    """Where a run stands: queries answered, and planned at the moment."""

    queries: int
    planned: int
    doing: str
    over: bool = False
    """Whether all is asked and judged: the report is what is left."""


_EXHAUSTED = (
    "the target's own budget was exhausted: verify an instance without one, and name the one that "
    "has it as budget_target in [gate]"
)

_UNTOLD = "no histogram that the target serves tells the noise scale"

Listener = Callable[[Progress], None]


def verify(
    target: Target,
    claim: Claim,
    *,
    seed: int | None = None,
    own: Sequence[Sequence[int]] = (),
    listener: Listener | None = None,
    reproduce: str | None = None,
    name: str | None = None,
    earlier: Opening | None = None,
    selection: Selection | None = None,
    after_failure: AfterFailure = "diagnose",
) -> Report:
    """Runs all checks of `claim` on `target` and returns the report; closes nothing.

    seed: fixes the histograms asked (drawn when None); own: histograms of the deployment, each
    (classes,), looked at too; listener: told of progress; reproduce: the command that repeats the
    run; name: of the target, for the report; earlier: the first call of an earlier run, to compare
    this one's with; selection: which checks it has, all when None; after_failure: once a check has
    failed, ask some more to tell the cause ("diagnose"), finish all checks too ("keep-going"), or
    neither ("stop"). A correct deployment gets `fail` with probability at most `false_alarm`,
    whatever is looked at and whenever the run stops (Ville's inequality, and a union over the
    shares of the checks).

    Raises ValueError for an `after_failure` that is none.
    """
    seed = secrets.randbits(32) if seed is None else seed
    if claim.gate.largest_call is not None:
        target = PacedTarget(target, claim.gate.timeout, claim.gate.largest_call)
    run = _Run(target, claim, seed=seed, own=own, listener=listener, reproduce=reproduce)
    run.earlier, run.after_failure = earlier, known(after_failure)
    run.ending.finished = after_failure == "keep-going"
    run.selection = selection or Selection()
    with run_clock(claim.gate.run_timeout, run.step):
        return replace(run.report(), target=name)


class _Run:
    def __init__(
        self,
        target: Target,
        claim: Claim,
        *,
        seed: int,
        own: Sequence[Sequence[int]],
        listener: Listener | None,
        reproduce: str | None,
    ) -> None:
        self.target, self.claim, self.seed = target, claim, seed
        self.own = tuple(tuple(int(v) for v in histogram) for histogram in own)
        self.listener = listener
        self.queries = 0
        self.began, self.started = datetime.now(UTC), time.monotonic()
        self.plan: Plan | None = None
        self.observers: Observers | None = None
        self.kept: Mapping[tuple[int, ...], int] = {}  # answers of a caching deployment
        self.opening = list(self._lives(Phase.OPENING))
        self.contract = next(life for life in self.opening if isinstance(life, InputContract))
        self.unaskable: set[int] = set()
        self.ending = Ending(reproduce=reproduce and f"{reproduce} --seed {seed}")
        self.warnings: list[str] = []
        self.recorder = Recorder()
        self.interrupted = self.timed_out = False
        self.planned, self.part, self.doing = 0, "", "before the first call"
        self.earlier: Opening | None = None
        self.selection = Selection()
        self.opened: list[Labels] = []  # of the histogram that opens the run, in order
        self.restarted = False
        self.after_failure: AfterFailure = "diagnose"
        self.found_after: int | None = None

    def report(self) -> Report:
        self._guarded(self._verify)
        if not self.interrupted:
            self._guarded(self._judge_claim)
        self._guarded(self._say_over)
        with untimed():
            return self._reported()

    def _reported(self) -> Report:
        checks = [] if self.observers is None else self.observers.checks
        unplanned = self.observers is None
        absent = lacking(self.claim) if unplanned else self.observed.lacking
        absent = {**absent, **self.selection.left_out}
        found = results(self._contract_result(), checks, absent, self.ending)
        seconds = time.monotonic() - self.started
        unseen, first = self._unseen(found), self.contract.first
        nothing = self.selection.nothing_applies(
            [result.id for result in found if result.verdict is Verdict.NOT_APPLICABLE]
        )
        caveats = (self.selection.warning, nothing, unseen)
        opening = tuple(int(votes) for votes in self.contract.opening)
        return Report(
            self.claim,
            self.queries,
            seconds,
            self.seed,
            tuple(found),
            (*filter(None, caveats), *self.warnings),
            self.recorder.figures(checks, found),
            self.interrupted,
            unseen,
            Opening(opening, tuple(first.tolist())) if first.size else None,
            started=self.began,
            left_out=self.selection.warning,
            found_after=self.found_after,
            nothing_applied=nothing is not None,
        )

    def _guarded(self, part: Callable[[], None]) -> None:
        """Runs a part of the run; what ends it early is noted, and what was found is kept."""
        try:
            part()
        except TargetError as error:
            self.ending.error = str(error)
        except BudgetExhausted:
            self.ending.stopped = _EXHAUSTED
        except OutOfTime as end:
            self._out_of_time(str(end))
        except KeyboardInterrupt:
            self.interrupted = True
            self.ending.stopped = "the run was interrupted"

    def _verify(self) -> None:
        """All that the target is asked for."""
        self._conclude(self.opening)
        self._prepare()
        self._gather()
        if self.observed.refuted:
            self._explain()
        if self._goes_on:
            self._restart()
            self._conclude(self._lives(Phase.LIVES))
            if self._goes_on:
                self._conclude(self._lives(Phase.ATTACK), "attacking")
        self._conclude(self._lives(Phase.AUDIT))
        self.tell("accounting")
        self._conclude(self._lives(Phase.ACCOUNTING))

    def _judge_claim(self) -> None:
        """What can be proved of the claim, whatever became of the target."""
        self._conclude(self._lives(Phase.CLAIM), "judging the claim")

    def _prepare(self) -> None:
        self._tell("choosing histograms", 0)
        self.warnings += self.contract.refusals
        other_totals = self.contract.serves_other_totals
        self.plan = make_plan(self.claim, self.seed, other_totals, self.own)
        self.asking = Asking(self.target, self.plan, other_totals, self.seed)
        self.kept = self.asking.kept
        self.observers = Observers(self._setting, self.selection)
        self.asked = self.selection.asks(self.plan, self.observers.lacking)
        restarts = self.target.no_restart is None and not self.claim.mechanism.caching
        if self.observers.fresh is not None and restarts:
            self.observers.fresh.expect_restart(last_calls(self.seed) * LAST_CALL + OF_LIVES)

    # -- spending the budget ---------------------------------------------------------------------

    def _gather(self) -> None:
        """Sweeps over all streams in growing batches, then on where a check is not yet sure."""
        assert self.plan is not None
        if not self.claim.mechanism.caching:
            size = self.contract.first.size
            opening = Batch(self.plan.first(Role.FRESH), size)
            self._compare_with_earlier()
            self._observe(opening, self.contract.first, (size,))
            if self.observed.fresh is not None:
                for total, labels in self.contract.others:
                    self.observed.fresh.pass_over(total, labels)
        scale = self.observed.scale
        if scale is not None and self._telling() is None:
            self.ending.hopeless[scale.id] = _UNTOLD
        for batch in sweeps(self.plan):
            if not self._goes_on or (self.asked[batch.stream] and not self._ask_batch(batch)):
                return
        while scale is not None and not is_refuted(scale):
            missing = scale.shortfall()
            if missing == 0:
                return
            telling = self._telling()
            if telling is None:
                self.ending.hopeless[scale.id] = _UNTOLD
                self.ending.stopped = self.ending.stopped or _UNTOLD
                return
            if not self._ask_batch(Batch(telling, min(LARGEST_BATCH, max(1000, missing)))):
                return

    def _telling(self) -> int | None:
        """The stream whose labels tell most of the noise scale, if those of any do."""
        assert self.plan is not None
        order = (int(i) for i in np.argsort(-self.plan.information))
        best = next((i for i in order if i not in self.unaskable), None)
        tells = best is not None and self.plan.information[best] >= LEAST_INFORMATION
        return best if tells else None

    def _ask_batch(self, batch: Batch) -> bool:
        """Feeds fresh labels of a stream to all checks; False when the run should end."""
        assert self.plan is not None
        left, size = self.left, batch.labels
        fits = batch.size if size <= left else left * batch.size // size
        if fits > 0:  # of two streams in turn, one query left asks neither
            self._ask_what_is_served(replace(batch, size=fits))
        wanted = zip(self.plan.streams, self.asked, strict=True)
        self._tell("asking", sum(stream.queries for stream, asked in wanted if asked))
        if size > left:
            self.use_up()
        return size <= left and self._goes_on

    @property
    def _goes_on(self) -> bool:
        """Whether there is no failure that ends the run."""
        return self.ending.finished or not self.observed.refuted

    def _ask_what_is_served(self, batch: Batch) -> None:
        """Feeds fresh labels of a stream to all checks, or does without a stream from now on."""
        assert self.plan is not None
        stream = batch.stream
        if stream in self.unaskable:
            return
        try:
            self._ask(batch)
        except Refused as refusal:
            if self.observed.answered[stream] and not self.claim.mechanism.caching:
                votes = list(self.plan.streams[stream].histogram)
                raise TargetError(f"{votes} is refused, but was answered: {refusal}") from None
            self._drop(stream, str(refusal))
        except UsedUp:
            self.unaskable.add(stream)
            self.ending.stopped = "an answer is kept, and no more histograms have this law"

    def _ask(self, batch: Batch) -> Labels:
        """Fresh labels of a stream, seen by all checks."""
        if batch.other is not None:
            return self._ask_in_turn(batch, batch.other)
        labels, calls = self.asking.labels(batch)
        self.queries += labels.size
        self._observe(batch, labels, calls)
        return labels

    def _ask_in_turn(self, batch: Batch, other: int) -> Labels:
        """The same of two streams in calls for one label, in turn."""
        labels, others = self.asking.in_turn(batch)
        self.queries += 2 * batch.size
        if self.observed.fresh is not None:
            self.observed.fresh.observe_in_turn(batch.stream, other, labels, others)
        self._observe(batch, labels, (1,) * batch.size)
        self._observe(Batch(other, batch.size), others, (1,) * batch.size)
        return labels

    def _observe(self, batch: Batch, labels: Labels, calls: tuple[int, ...]) -> None:
        if batch.stream == self._fresh:
            self.opened.append(labels)
        self.observed.observe(batch, labels, calls)
        self._note_failure()
        self.recorder.observe(self.observed.checks)

    def _note_failure(self) -> None:
        """Keeps how many queries the first failure took."""
        if self.found_after is None and self.observed.refuted:
            self.found_after = self.queries

    def _explain(self) -> None:
        """Once a check is refuted, asks on until the cause is told from its rivals."""
        assert self.plan is not None
        labels, fresh = self.observed.labels, self.observed.fresh
        if self.after_failure == "stop" or labels is None:
            return
        self._tell("looking for the cause", self.queries + MOST)
        batches = diagnosing_batches(
            self.plan,
            labels.fits,
            labels.excess,
            lambda: -np.inf if fresh is None else fresh.log_odds,
            self.unaskable,
        )
        for batch in batches:
            if not self._ask_more(batch):
                break
        self._simplify()

    def _ask_more(self, batch: Batch) -> bool:
        """Feeds labels for the diagnosis to all checks; False when the budget is used up."""
        size = min(batch.size, self.left)
        if size > 0:
            self._ask_what_is_served(replace(batch, size=size))
        return size == batch.size

    def _simplify(self) -> None:
        """Once the labels are refuted, looks for the simplest histogram that shows it."""
        assert self.plan is not None
        labels = self.observed.labels
        fits = None if labels is None else labels.fits()
        caching = self.claim.mechanism.caching
        if not self.observed.law_refuted or fits is None or not fits.explained or caching:
            return
        call = 1 if fits.single else None
        budget = min(max(self.queries // 2, _LEAST_SEARCH), self.left)
        self._tell("looking for the simplest histogram", self.queries + budget)
        try:
            self.ending.simplest = find_simplest(
                self.plan,
                fits.best,
                lambda stream, size: self._ask(Batch(stream, size, call=call)),
                budget,
            )
        except Refused as refusal:
            self.warnings.append(f"a simple histogram is refused: {refusal}")

    def _compare_with_earlier(self) -> None:
        """Compares the first call of this run with that of an earlier one."""
        if self.earlier is not None and self.observed.fresh is not None:
            earlier = self.earlier.as_labels
            self.observed.fresh.observe_restart(earlier, self.contract.first, kind="compared")

    def _restart(self) -> None:
        """Compares this life of the target with others."""
        fresh = self.observed.fresh
        if fresh is None or self.target.no_restart is not None or self.ending.stopped is not None:
            return
        if self.left < OF_LIVES:
            self.use_up()
            return
        last = Batch(self._fresh, last_calls(self.seed) * LAST_CALL, call=LAST_CALL)
        if self.left >= last.size + OF_LIVES:
            self._tell("asking before a restart", self.queries)
            # seen by all checks, as any label that is asked
            if not self._ask_batch(last):
                return
        self._tell("restarting the target", self.queries)
        lives = Lives(self.target, self.claim, self.contract.opening)
        try:
            lives.compare(fresh, self.opened)
        finally:
            self.queries += lives.queries
            self._note_failure()
        self.restarted = True

    def _unseen(self, found: Sequence[CheckResult]) -> str | None:
        """The warning of a run that compared no two lives of its target, and found no fault."""
        fresh = next(result for result in found if result.id == FreshNoise.id)
        refuted = self.observers is None or self.observed.refuted or fresh.verdict is Verdict.FAIL
        compared = self.restarted or self.earlier is not None or not self.selection.keeps(fresh.id)
        if refuted or compared or self.interrupted or self.ending.error is not None:
            return None
        return not_seen(self.target, self.claim, cut_short=self.target.no_restart is None)

    # -- the other checks ------------------------------------------------------------------------

    def _conclude(self, lives: Iterable[Life], doing: str | None = None) -> None:
        """What the checks of a phase come to; doing: what a listener is told, if there are any."""
        for place, life in enumerate(life for life in lives if self.selection.keeps(life.id)):
            if doing is not None and place == 0:
                self.tell(doing)
            outcome = life.conclude(self)
            if outcome is not None:
                self._prove(life.id, outcome)

    def _lives(self, phase: Phase) -> Iterator[Life]:
        """The checks of a phase: those that have seen labels, and those that are made now."""
        if self.observers is not None:
            yield from self.observers.of(phase)
        for spec in applicable(self.claim, self.plan):
            if spec.phase is phase and spec.needs is None:
                yield spec.make(self._setting)

    @property
    def _setting(self) -> Setting:
        return Setting(self.claim, self.seed, self.plan, self.kept)

    def _prove(self, name: str, outcome: Outcome) -> None:
        """The result of a check that is not judged by the evidence of labels."""
        verdict, finding = outcome.verdict, outcome.finding
        self.recorder.prove(finding)
        if finding.warning is not None:
            self.warnings.append(finding.warning)
        if verdict is Verdict.FAIL and self.found_after is None:
            self.found_after = self.queries
        self.ending.proofs[name] = CheckResult(
            name,
            verdict,
            finding.message,
            outcome.queries,
            histogram=finding.histogram,
            diagnosis=finding.diagnosis,
            reproduce=self.ending.again(verdict),
        )

    def tell(self, doing: str) -> None:
        """See `Site.tell`."""
        self._tell(doing, self.queries)

    def spend(self, queries: int) -> None:
        """See `Site.spend`."""
        self.queries += queries

    def use_up(self) -> None:
        """See `Site.use_up`."""
        self.ending.stopped = f"max_queries = {self.claim.gate.max_queries} are used up"

    def note_restart(self) -> None:
        """See `Site.note_restart`."""
        self.restarted = True

    def _drop(self, stream: int, refusal: str) -> None:
        """Goes on without a histogram that the target refuses."""
        assert self.plan is not None
        self.unaskable.add(stream)
        self.observed.drop(stream)
        warning = f"histogram refused ({self.plan.streams[stream].kind}): {refusal}"
        if warning not in self.warnings:
            self.warnings.append(warning)

    @property
    def observed(self) -> Observers:
        """The observers, once there is a plan."""
        assert self.observers is not None
        return self.observers

    @property
    def _fresh(self) -> int:
        """The stream of the histogram that opens the run, once there is a plan."""
        assert self.plan is not None
        return self.plan.first(Role.FRESH)

    @property
    def left(self) -> int:
        """Queries that the claim's budget still allows."""
        return self.claim.gate.max_queries - self.queries

    def _out_of_time(self, limit: str) -> None:
        """Notes that the run's time is used up, and while doing what."""
        if self.timed_out:
            return
        self.timed_out = True
        before = self.ending.stopped
        self.ending.stopped = limit if before is None else f"{before}, and {limit}"
        self.warnings.append(f"{limit} ({self.doing}): what was not seen by then is inconclusive")

    def _say_over(self) -> None:
        if self.listener is not None:
            self.listener(Progress(self.queries, self.queries, "reporting", over=True))

    def _tell(self, doing: str, planned: int) -> None:
        """Between the parts of a run: where it stands. Raises OutOfTime where no time is left."""
        self.planned, self.part = planned, doing
        clock_step(doing)

    def step(self, doing: str) -> None:
        """Tells the listener what is done now: a part of the run, or a step of one."""
        self.doing = doing if doing == self.part else f"{self.part}: {doing}"
        if self.listener is not None:
            planned = min(max(self.planned, self.queries), self.claim.gate.max_queries)
            self.listener(Progress(self.queries, planned, self.doing))

    def _contract_result(self) -> CheckResult:
        if self.ending.error is not None:
            verdict, message = Verdict.ERROR, self.ending.error
        elif self.plan is None:
            verdict = Verdict.INCONCLUSIVE
            message = self.ending.stopped or "nothing was answered"
        else:
            verdict, message = Verdict.PASS, "every reply had the right shape, type and range"
        again, queries = self.ending.again(verdict), self.contract.queries
        return CheckResult(self.contract.id, verdict, message, queries, reproduce=again)
