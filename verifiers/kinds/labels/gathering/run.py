"""The gate: spends a query budget on a target and says whether it does what it claims."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .....reference.clock import run_clock, untimed
from ....findings.opening import Opening
from ....findings.report import Report
from ....run.ending import Ending
from ....run.events import Concluded, Listener, Progress
from ....run.selection import Selection
from ....run.standing import Standing
from ....targets import PacedTarget, Target
from ..checks import InputContract
from ..checks.applicable import applicable
from ..checks.base import Life
from ..checks.spec import Phase, Setting
from ..claim import Claim
from ..planning.extent import FULL
from ..planning.planner import make_plan
from ..planning.sharpest import coarser, sharpest
from .connections import ask_over_kept
from .diagnosis import AfterFailure, known
from .explaining import explain
from .gathering import Gathering
from .recorder import Recorder
from .reported import reported
from .request import Request
from .restarting import ask_new_life, compare_with, expect_restart, restart


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
    queries: int | None = None,
) -> Report:
    """Runs all checks of `claim` on `target` and returns the report; closes nothing.

    seed: fixes the histograms asked (drawn when None); own: histograms of the deployment, each
    (classes,), looked at too; listener: told of progress; reproduce: the command that repeats the
    run; name: of the target, for the report; earlier: the first call of an earlier run, to compare
    this one's with; selection: which checks it has, all when None; after_failure: once a check has
    failed, ask some more to tell the cause ("diagnose"), finish all checks too ("keep-going"), or
    neither ("stop"); queries: plans for the sharpest pass that so many allow, in place of the
    claim's own precision where it is the default. A correct deployment gets `fail` with probability
    at most `false_alarm`, whatever is looked at and whenever the run stops (Ville's inequality, and
    a union over the shares of the checks).

    Raises ValueError for an `after_failure` that is none, and its subclass TooFewError for
    `queries` that no pass fits.
    """
    seed = secrets.randbits(32) if seed is None else seed
    histograms = tuple(tuple(int(v) for v in histogram) for histogram in own)
    extent = FULL
    if queries is not None:
        if listener is not None:
            listener(Progress(0, 0, f"planning for {queries:,} queries"))
        found = sharpest(claim, queries, seed, histograms)
        claim, extent = found.claim, found.extent
    if claim.gate.largest_call is not None:
        target = PacedTarget(target, claim.gate.timeout, claim.gate.largest_call)
    request = Request(
        seed,
        histograms,
        earlier,
        selection or Selection(),
        known(after_failure),
        extent,
        queries is not None,
    )
    told = None if queries is None else coarser(claim, extent)
    ending = Ending(reproduce and f"{reproduce} --seed {seed}", after_failure == "keep-going")
    if told is not None:
        ending.warn(told)
    recorder = Recorder()
    standing = Standing(target, claim, ending, (recorder.hear, ending.hear), listener)
    with run_clock(claim.gate.run_timeout, standing.step):
        return replace(_Run(standing, request).report(recorder), target=name)


class _Run:
    """The phases of a run, in their order; each takes what the one before has made."""

    def __init__(self, standing: Standing, request: Request) -> None:
        self.standing, self.request, self.claim = standing, request, standing.claim
        self.gathering: Gathering | None = None
        self.opening = list(self._lives(Phase.OPENING))
        self.contract = next(life for life in self.opening if isinstance(life, InputContract))

    def report(self, recorder: Recorder) -> Report:
        """What the run finds, whatever ends it."""
        with self.standing.kept_to_here():
            self._conclude(self.opening)
            self.gathering = self._prepared()
            self._verify(self.gathering)
        if not self.standing.ending.interrupted:
            with self.standing.kept_to_here():
                self._conclude(self._lives(Phase.CLAIM), "judging the claim")
        with self.standing.kept_to_here():
            self.standing.say_over()
        with untimed():
            return reported(self.standing, self.request, self.contract, self.gathering, recorder)

    def _prepared(self) -> Gathering:
        """The plan, and all that will see labels."""
        self.standing.tell("choosing histograms", 0)
        for refusal in self.contract.refusals:
            self.standing.ending.warn(refusal)
        others = self.contract.serves_other_totals
        asked = self.request
        plan = make_plan(self.claim, asked.seed, others, asked.own, asked.extent)
        gathering = Gathering(
            self.standing, plan, self.request.seed, self.contract, self.request.selection
        )
        expect_restart(gathering)
        return gathering

    def _verify(self, gathering: Gathering) -> None:
        """All that the target is asked for once there is a plan."""
        if self.request.earlier is not None:
            compare_with(gathering, self.request.earlier)
        gathering.show_opening()
        ask_over_kept(gathering)
        gathering.sweep()
        if gathering.observers.refuted and self.request.after_failure != "stop":
            explain(gathering)
        if gathering.goes_on:
            restart(gathering)
            self._conclude(self._lives(Phase.LIVES))
            ask_new_life(gathering)
            if gathering.goes_on:
                self._conclude(self._lives(Phase.ATTACK), "attacking")
        self._conclude(self._lives(Phase.AUDIT))
        self.standing.tell("accounting")
        self._conclude(self._lives(Phase.ACCOUNTING))

    def _conclude(self, lives: Iterable[Life], doing: str | None = None) -> None:
        """What the checks of a phase come to; doing: what a listener is told, if there are any."""
        kept = (life for life in lives if self.request.selection.keeps(life.id))
        for place, life in enumerate(kept):
            if doing is not None and place == 0:
                self.standing.tell(doing)
            outcome = life.conclude(self.standing)
            if outcome is not None:
                self.standing.publish(Concluded(self.standing.queries, life.id, outcome))

    def _lives(self, phase: Phase) -> Iterator[Life]:
        """The checks of a phase: those that have seen labels, and those that are made now."""
        setting = Setting(self.claim, self.request.seed, None, {})
        if self.gathering is not None:
            setting = self.gathering.setting
            yield from self.gathering.observers.of(phase)
        for spec in applicable(self.claim, setting.plan_or_none):
            if spec.phase is phase and spec.needs is None:
                yield spec.make(setting)
