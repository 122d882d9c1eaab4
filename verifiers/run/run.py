"""One run of the gate: spends a query budget on a target and says whether it does what it claims.

The same for every kind of release: a kind has a `Session`, which asks the target.
"""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...reference.clock import run_clock, untimed
from ..claims.claim import Claim
from ..findings.of_run import Ended, report_of
from ..findings.report import CheckResult, Report, Verdict
from ..findings.verdict import Subject
from ..ledger.ledger import EvidenceLedger
from ..targets import PacedTarget, Target
from .cause import named
from .earned import PlanFor, earned, unseen
from .events import Concluded, Listener, Progress, ReleasesSeen
from .noise_there import on_the_noise_there
from .outcome import RunOutcome
from .phase import Phase
from .request import AfterFailure, PlanRequest, RunRequest, checked_choice
from .results import results
from .selection import Selection
from .session import Planned, Session
from .state import RunState


def verify(
    target: Target,
    claim: Claim,
    *,
    seed: int | None = None,
    own: Sequence[Sequence[int]] = (),
    listener: Listener | None = None,
    reproduce: str | None = None,
    name: str | None = None,
    earlier: Any = None,
    selection: Selection | None = None,
    after_failure: AfterFailure = "diagnose",
    queries: int | None = None,
    of_reference: bool = False,
    ledger: EvidenceLedger | None = None,
) -> Report:
    """Runs all checks of `claim` on `target` and returns the report; closes nothing.

    seed: fixes the inputs asked (drawn when None); own: inputs of the deployment that are looked at
    too, of labels histograms (classes,); listener: told of progress; reproduce: the command that
    repeats the run; name: of the target, for the report; earlier: the first call of an earlier run,
    to compare this one's with; selection: which checks it has, all when None; after_failure: once a
    check has failed, ask some more to tell the cause ("diagnose"), finish all checks too
    ("keep-going"), or neither ("stop"); queries: plans for the sharpest pass that so many allow, in
    place of the claim's own precision where it is the default; of_reference: whether the target is
    the reference of this tool, so that no deployment is asked; ledger: whose earlier runs' evidence
    this one adds to, and is judged with. A correct deployment gets `fail`
    with probability at most `false_alarm`, whatever is looked at and whenever the run stops
    (Ville's inequality, and a union over the shares of the checks).

    Raises ValueError for an `after_failure` that is none, and its subclass TooFewError for
    `queries` that no pass fits.
    """
    seed = secrets.randbits(32) if seed is None else seed
    kind = claim.kind
    chosen = selection or Selection()
    after = checked_choice(after_failure)
    inputs = tuple(tuple(int(v) for v in given) for given in own)
    if queries is not None and listener is not None:
        listener(Progress(0, 0, f"planning for {queries:,} queries"))

    def plan_for(most: int | None) -> Planned:
        found: Planned = kind.planned(stated, replace(asked, queries=most))
        return found

    asked = PlanRequest(queries, seed, inputs, chosen)
    stated, planned = claim, kind.planned(claim, asked)
    claim = planned.claim
    if claim.gate.largest_call is not None:
        gate = claim.gate
        target = PacedTarget(target, gate.timeout, gate.largest_call, claim.release)
    request = RunRequest(
        stated,
        seed,
        inputs,
        earlier,
        chosen,
        after,
        planned.extent,
        queries is not None,
        of_reference,
    )
    again = f"{reproduce} --seed {seed}" if reproduce else None
    outcome = RunOutcome(again, request.keeps_going)
    if planned.coarser is not None:
        outcome.warn(planned.coarser)
    state = RunState(target, claim, outcome, listener)
    state.explains, state.ledger = after != "stop", ledger
    if ledger is not None:
        ledger.begin()
    with run_clock(claim.gate.run_timeout, state.step):
        return _Run(state, request, kind, planned, plan_for).report(name)


class _Run:
    """The phases of a run, in their order; each takes what the one before has made."""

    def __init__(
        self,
        state: RunState,
        request: RunRequest,
        kind: Any,
        planned: Planned,
        plan_for: PlanFor,
    ) -> None:
        self.state, self.request, self.kind = state, request, kind
        self.planned, self.plan_for = planned, plan_for
        self.calls_again = kind.calls_again(state, request)
        self.session: Session = kind.session(state, request)
        self._of_claim: set[str] = set()  # checks of the claim by itself

    def report(self, name: str | None) -> Report:
        """What the run finds, whatever ends it; name: of the target."""
        with self.state.kept_to_here():
            self._conclude(Phase.OPENING, "opening")
            for refusal in self.session.refusals:
                self.state.outcome.warn(refusal)
            self.session.prepare()
            if not self._stands():
                self._verify()
        if not self.state.outcome.interrupted:
            with self.state.kept_to_here():
                self._conclude(Phase.CLAIM, "judging the claim")
                self._count_decisions()
        with self.state.kept_to_here():
            self.state.say_over()
        with untimed():
            return self._reported(name)

    def _stands(self) -> bool:
        """Gives the checks that gather evidence what earlier runs of the ledger have brought.

        Whether one of these has refuted this build, so that nothing more is asked.
        """
        ledger, checks = self.state.ledger, [one for one in self.session.checks if one.adds_up]
        if ledger is None:
            return False
        for check in checks:
            check.carried = ledger.carried(check.id, check.share, check.log_threshold)
            check.carried.look(check.parts, check.queries)
        if self.request.keeps_going or not any(check.stands for check in checks):
            return False
        self.state.publish(ReleasesSeen(self.state.queries, checks))
        return True

    def _verify(self) -> None:
        """All that the target is asked for once there is a plan."""
        state, session = self.state, self.session
        if self.request.earlier is not None:
            session.compare(self.request.earlier)
        session.gather()
        if state.failed and state.explains:
            session.explain()
        self._conclude(Phase.OWN)
        if session.goes_on:
            session.restart()
            self._conclude(Phase.RESTARTED)
            session.ask_restarted()
            if session.goes_on:
                self._conclude(Phase.ATTACK, "attacking")
        if state.lost:
            return
        self._conclude(Phase.AUDIT)
        self._conclude(Phase.ACCOUNTING, "accounting")

    def _count_decisions(self) -> None:
        """Warns of what was hardly exercised in the target's code, by what the run has asked."""
        state = self.state
        if self.calls_again is None or state.failed or state.outcome.error is not None:
            return
        state.tell("counting decisions in the code")
        for line in self.calls_again.count(self.session.checks):
            state.warn(line)

    def _conclude(self, phase: Phase, doing: str | None = None) -> None:
        """What the checks of a phase come to; doing: what a listener is told, if there are any."""
        kept = (c for c in self.session.concluding(phase) if self.request.selection.keeps(c.id))
        for place, check in enumerate(kept):
            if phase is Phase.CLAIM:
                self._of_claim.add(check.id)
            if phase is Phase.OWN and self.state.failed and not self.request.keeps_going:
                return
            if doing is None or place == 0:
                self.state.tell(doing or check.id)
            found = check.conclude(self.state)
            if found is not None:
                self.state.publish(Concluded(self.state.queries, check.id, found))

    def _reported(self, name: str | None) -> Report:
        state, selection, session = self.state, self.request.selection, self.session
        outcome, ids = state.outcome, self.kind.checks.ids
        found = earned(
            results(session, outcome, ids, selection.left_out),
            self.kind.checks,
            state.claim,
            self.planned,
            self.plan_for,
        )
        cause = named(session.explanations())
        likeliest = None if cause is None else cause.finding
        found = on_the_noise_there(found, state.claim, likeliest)
        absent = [result.id for result in found if result.verdict is Verdict.NOT_APPLICABLE]
        nothing, notes = selection.nothing_applies(absent), session.end(found)
        warnings = (notes.unemptied, selection.warning, nothing, notes.unseen, unseen(found))
        seconds, drawn = state.seconds, session.figures(found)
        report = report_of(
            state.claim,
            [one.model_copy(update={"figures": drawn.get(one.id)}) for one in found],
            Ended(
                state.began,
                seconds,
                outcome.found_after,
                outcome.interrupted,
                partial=selection.warning is not None,
                nothing_applied=nothing is not None,
                whose=outcome.whose,
            ),
            queries=state.queries,
            seed=self.request.seed,
            notes=(*filter(None, warnings), *outcome.warnings),
            opening=session.opening,
            target=name,
            slow=session.slow,
            subject=self._subject(found),
        )
        if state.ledger is None:
            return report
        added = state.ledger.end(state.queries, report.verdict)
        return report.model_copy(update={"ledger": added})

    def _subject(self, found: Sequence[CheckResult]) -> Subject:
        """What the run speaks of: of the claim, where that alone failed or was looked at."""
        if not self.request.of_reference:
            return Subject.DEPLOYMENT
        failed = {one.id for one in found if one.verdict is Verdict.FAIL}
        if failed:
            return Subject.CLAIM if failed & self._of_claim else Subject.REFERENCE
        # the contract, the first of them, is looked at in any case
        seen = {one.id for one in found[1:] if one.verdict is not Verdict.NOT_APPLICABLE}
        return Subject.CLAIM if seen and seen <= self._of_claim else Subject.REFERENCE
