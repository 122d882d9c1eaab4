"""The gate: spends a query budget on a target and says whether it does what it claims."""

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ..reference import BudgetExhausted
from ..reference.mechanisms import Labels
from .checks import (
    Abstention,
    Check,
    ClassProbabilities,
    Finding,
    HistogramLeakage,
    InputContract,
    NoiseScale,
    Symmetry,
)
from .claim import Claim
from .plan import EXPLORER_QUERIES, SIMPLE, Plan, make_plan
from .proofs import accounting
from .recorder import Recorder
from .report import CheckResult, Report, Verdict
from .shares import NOT_BUILT, SHARES
from .simplest import Simplest, find_simplest
from .targets import Refused, Target, TargetError, checked_labels

FIRST_BATCH = 32
LARGEST_BATCH = 8192
LEAST_INFORMATION = 1e-6  # about the log of the scale, a label
_EXPLORERS_A_SWEEP = 12
_LEAST_SEARCH = 400  # queries that the search for a simplest histogram may always take


@dataclass(frozen=True)
class Progress:
    """Where a run stands: queries answered, and planned at the moment."""

    queries: int
    planned: int
    doing: str


Listener = Callable[[Progress], None]


def verify(
    target: Target,
    claim: Claim,
    *,
    seed: int | None = None,
    own: Sequence[Sequence[int]] = (),
    listener: Listener | None = None,
    reproduce: str | None = None,
) -> Report:
    """Runs all checks of `claim` on `target` and returns the report; closes nothing.

    seed: fixes the histograms asked (drawn when None); own: histograms of the deployment, each
    (classes,), looked at too; listener: told of progress; reproduce: the command that repeats the
    run. A correct deployment gets `fail` with probability at most `false_alarm`, whatever is
    looked at and whenever the run stops (Ville's inequality, and a union over the shares of the
    checks).
    """
    seed = secrets.randbits(32) if seed is None else seed
    run = _Run(target, claim, seed=seed, own=own, listener=listener, reproduce=reproduce)
    return run.report()


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
        self.listener, self.reproduce = listener, reproduce
        self.queries = 0
        self.started = time.monotonic()
        self.contract = InputContract(claim)
        self.plan: Plan | None = None
        self.checks: list[Check] = []
        self.impossible: dict[str, str] = {}
        self.proofs: dict[str, CheckResult] = {}
        self.refused: set[int] = set()
        self.simplest: Simplest | None = None
        self.stopped: str | None = None
        self.error: str | None = None
        self.warnings: list[str] = []
        self.recorder = Recorder()

    def report(self) -> Report:
        try:
            self.contract.run(self.target)
            self.queries = self.contract.queries
            self._prepare()
            self._gather()
            self._simplify()
            self._attack()
            self._account()
        except TargetError as error:
            self.error = str(error)
        except BudgetExhausted:
            self.stopped = "the target's own budget was exhausted"
        except KeyboardInterrupt:
            self.stopped = "the run was interrupted"
        results = self._results()
        seconds = time.monotonic() - self.started
        return Report(
            self.claim,
            self.queries,
            seconds,
            self.seed,
            tuple(results),
            tuple(self.warnings),
            self.recorder.figures(self.checks, results),
        )

    def _prepare(self) -> None:
        self._tell("choosing histograms", 0)
        self.warnings += self.contract.refusals
        self.plan = make_plan(self.claim, self.seed, self.contract.serves_other_totals, self.own)
        self.labels = ClassProbabilities(self.plan)
        self.scale = NoiseScale(self.plan)
        self.leakage = HistogramLeakage(self.plan, self.seed)
        self.checks = [self.labels, self.scale]
        if self.claim.mechanism.refuses:
            self.checks.append(Abstention(self.plan))
        else:
            self.impossible[Abstention.id] = f"{self.claim.mechanism.name} refuses no query"
        for name in ("shift-invariance", "permutation-equivariance"):
            if name in self.plan.twins:
                self.checks.append(Symmetry(name, self.plan))
            else:
                self.impossible[name] = "the target refuses totals other than the claimed teachers"

    # -- spending the budget ---------------------------------------------------------------------

    def _gather(self) -> None:
        """Sweeps over all streams in growing batches, then on where a check is not yet sure."""
        assert self.plan is not None
        for stream, size in self._sweeps(self.plan):
            if not self._ask_stream(stream, size):
                return
        if self.claim.mechanism.caching:
            self.stopped = "a caching deployment gives one label of evidence a histogram"
            return
        order = np.argsort(-self.plan.information)
        while (missing := self.scale.shortfall()) > 0:
            telling = [int(i) for i in order if i not in self.refused]
            if not telling or self.plan.information[telling[0]] < LEAST_INFORMATION:
                self.stopped = "no histogram that the target serves tells the noise scale"
                return
            if not self._ask_stream(telling[0], min(LARGEST_BATCH, max(1000, missing))):
                return

    def _sweeps(self, plan: Plan) -> Iterator[tuple[int, int]]:
        """Streams and batch sizes: every deep stream doubles its labels from sweep to sweep."""
        if self.claim.mechanism.caching:
            # one label of a histogram is evidence once, however many streams ask for it
            first = {s.histogram: i for i, s in reversed(list(enumerate(plan.streams)))}
            yield from ((i, 1) for i in sorted(first.values()) if plan.streams[i].kind != SIMPLE)
            return
        deep = [i for i in range(plan.deep) if plan.streams[i].kind != SIMPLE]
        explorers = iter(range(plan.deep, len(plan.streams)))
        asked = dict.fromkeys(deep, 0)
        goal = FIRST_BATCH
        while any(asked[i] < plan.streams[i].queries for i in deep):
            for i in deep:
                while asked[i] < min(goal, plan.streams[i].queries):
                    size = min(goal, plan.streams[i].queries, asked[i] + LARGEST_BATCH) - asked[i]
                    yield i, size
                    asked[i] += size
            if goal > FIRST_BATCH:
                yield from ((i, EXPLORER_QUERIES) for i in islice(explorers, _EXPLORERS_A_SWEEP))
            goal *= 2

    def _ask_stream(self, stream: int, size: int) -> bool:
        """Feeds fresh labels of a stream to all checks; False when the run should end."""
        assert self.plan is not None
        left = self.claim.gate.max_queries - self.queries
        if left > 0:
            try:
                self._ask(stream, min(size, left))
            except Refused as refusal:
                self._drop(stream, str(refusal))
        self._tell("asking", self.plan.queries)
        if size > left:
            self.stopped = f"max_queries = {self.claim.gate.max_queries} are used up"
        return size <= left and not any(self._refuted(check) for check in self.checks)

    def _ask(self, stream: int, size: int) -> Labels:
        """Fresh labels of a stream, seen by all checks."""
        assert self.plan is not None
        histogram = np.array(self.plan.streams[stream].histogram, dtype=np.int64)
        refuses = self.claim.mechanism.refuses
        labels = checked_labels(self.target.ask(histogram, size), histogram, size, refuses)
        self.queries += size
        for check in self.checks:
            check.observe(stream, labels)
        self.leakage.observe(stream, labels)
        self.recorder.observe(self.checks)
        return labels

    def _simplify(self) -> None:
        """Once the labels are refuted, looks for the simplest histogram that shows it."""
        assert self.plan is not None
        fault = self.labels.likeliest_fault()
        refuted = any(self._refuted(check) for check in (self.labels, self.scale))
        if not refuted or fault is None or self.claim.mechanism.caching:
            return
        left = self.claim.gate.max_queries - self.queries
        budget = min(max(self.queries, _LEAST_SEARCH), left)
        self._tell("looking for the simplest histogram", self.queries + budget)
        try:
            self.simplest = find_simplest(self.plan, fault[0], self._ask, budget)
        except Refused as refusal:
            self.warnings.append(f"a simple histogram is refused: {refusal}")

    def _attack(self) -> None:
        """Says what the claimed law leaks, unless the labels turned out to have another."""
        if any(self._refuted(check) for check in self.checks):
            return
        self._tell("attacking", self.queries)
        self.leakage.run()
        self._prove(self.leakage.id, self.leakage.verdict, self.leakage.finding())
        if self.leakage.warning is not None:
            self.warnings.append(self.leakage.warning)

    def _account(self) -> None:
        """What can be proved of the accounting without a label."""
        assert self.plan is not None
        self._tell("accounting", self.queries)
        for outcome in accounting(self.target, self.plan):
            self._prove(*outcome)

    def _prove(self, name: str, verdict: Verdict, finding: Finding) -> None:
        """The result of a check that gathers no evidence from labels."""
        self.recorder.prove(finding)
        again = self.reproduce if verdict is Verdict.FAIL else None
        self.proofs[name] = CheckResult(
            name,
            verdict,
            finding.message,
            histogram=finding.histogram,
            diagnosis=finding.diagnosis,
            reproduce=again and f"{again} --seed {self.seed}",
        )

    def _drop(self, stream: int, refusal: str) -> None:
        """Goes on without a histogram that the target refuses."""
        assert self.plan is not None
        self.refused.add(stream)
        self.leakage.drop(stream)
        warning = f"a {self.plan.streams[stream].kind} histogram is refused: {refusal}"
        if warning not in self.warnings:
            self.warnings.append(warning)
        for check in list(self.checks):
            reason = check.drop(stream)
            if reason is not None:
                self.checks.remove(check)
                self.impossible[check.id] = reason

    @staticmethod
    def _refuted(check: Check) -> bool:
        return check.log_e_value >= check.log_threshold

    def _tell(self, doing: str, planned: int) -> None:
        if self.listener is not None:
            planned = min(max(planned, self.queries), self.claim.gate.max_queries)
            self.listener(Progress(self.queries, planned, doing))

    # -- saying what was found -------------------------------------------------------------------

    def _results(self) -> list[CheckResult]:
        running = {check.id: check for check in self.checks}
        refuted = any(self._refuted(check) for check in self.checks)
        results = []
        for name in SHARES:
            if name == self.contract.id:
                results.append(self._contract_result())
            elif name in running:
                results.append(self._check_result(running[name], refuted))
            elif name in self.proofs:
                results.append(self.proofs[name])
            elif name in NOT_BUILT:
                reason = "this version does not run it yet"
                results.append(CheckResult(name, Verdict.NOT_APPLICABLE, reason))
            elif name in self.impossible:
                results.append(CheckResult(name, Verdict.NOT_APPLICABLE, self.impossible[name]))
            else:
                why = self.stopped or "the target failed before it could run"
                why = "the run ended when another check failed" if refuted else why
                results.append(CheckResult(name, Verdict.INCONCLUSIVE, why))
        return results

    def _contract_result(self) -> CheckResult:
        if self.error is not None:
            verdict, message = Verdict.ERROR, self.error
        elif self.plan is None:
            verdict, message = Verdict.INCONCLUSIVE, self.stopped or "nothing was answered"
        else:
            verdict, message = Verdict.PASS, "every reply had the right shape, type and range"
        return CheckResult(self.contract.id, verdict, message, self.contract.queries)

    def _check_result(self, check: Check, refuted: bool) -> CheckResult:
        shortfall = check.shortfall()
        if self._refuted(check):
            verdict, finding = Verdict.FAIL, self._located(check.violation())
        elif shortfall == 0:
            verdict, finding = Verdict.PASS, check.silence()
        else:
            verdict = Verdict.INCONCLUSIVE
            why = "the run ended when another check failed" if refuted else self.stopped
            why = "the run ended when the target failed" if self.error is not None else why
            finding = Finding(f"{why}; about {shortfall} more queries would have been needed")
        reproduce = self.reproduce if verdict is Verdict.FAIL else None
        return CheckResult(
            check.id,
            verdict,
            finding.message,
            check.queries,
            check.log_e_value,
            check.log_threshold,
            finding.histogram,
            finding.diagnosis,
            reproduce and f"{reproduce} --seed {self.seed}",
        )

    def _located(self, finding: Finding) -> Finding:
        """A violation of the labels' law, shown on the simplest histogram if one was found."""
        if finding.histogram is None or self.simplest is None:
            return finding
        return replace(
            finding,
            message=f"{finding.message}; {self.simplest}",
            histogram=self.simplest.histogram,
        )
