"""The gate for numbers: spends a query budget on a target and says whether it does its claim."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

from ....reference import BudgetExhausted
from ....reference.clock import run_clock, untimed
from ...findings.report import Report, Verdict
from ...run.ending import Ending
from ...run.events import Concluded, Listener, Progress
from ...run.selection import Selection
from ...targets import PacedTarget, Refused, Target, TargetError
from ..keys.checks.keys_together import KeysFreshNoise
from ..labels.gathering.diagnosis import AfterFailure, known
from .checks.base import AskingCheck, NumberCheck, refuted
from .checks.fresh_noise import EARLIER_RUN, FreshNoise
from .checks.input_contract import InputContract
from .checks.noise_law import SINGLE, NoiseLaw
from .claim import NumbersClaim
from .gathering import Gathering
from .lives import UNSEEN, Lives
from .opening import NumbersOpening
from .planning.sharpest import dearer, make_plan, sharpest
from .registered import ACCOUNTING, JUDGING, asking, observing
from .request import NumbersRequest
from .results import located, results
from .simplest import find_simplest
from .standing import NumbersStanding


def verify_numbers(
    target: Target,
    claim: NumbersClaim,
    *,
    seed: int | None = None,
    listener: Listener | None = None,
    reproduce: str | None = None,
    name: str | None = None,
    earlier: NumbersOpening | None = None,
    selection: Selection | None = None,
    after_failure: AfterFailure = "diagnose",
    queries: int | None = None,
) -> Report:
    """Runs all checks of `claim` on `target` and returns the report; closes nothing.

    The arguments are those of `gate.verify`: seed fixes the inputs asked (drawn when None); earlier
    is the opening of an earlier run; once a check has failed, "diagnose" looks for the simplest
    input that shows it, "keep-going" finishes all checks too, "stop" asks nothing more; queries
    plans for the sharpest pass that so many allow. A correct deployment gets `fail` with
    probability at most `false_alarm`, whatever is looked at and whenever the run stops.

    Raises ValueError for an `after_failure` that is none, and its subclass TooFewError for
    `queries` that no pass fits.
    """
    seed = secrets.randbits(32) if seed is None else seed
    chosen, share, told = selection or Selection(), 1.0, None
    if queries is not None:
        if listener is not None:
            listener(Progress(0, 0, f"planning for {queries:,} queries"))
        found = sharpest(claim, queries, seed, chosen)
        claim, share, told = found.claim, found.share, found.coarser
    if claim.gate.largest_call is not None:
        target = PacedTarget(target, claim.gate.timeout, claim.gate.largest_call, claim.release)
    request = NumbersRequest(
        seed, chosen, known(after_failure), earlier, share, planned=queries is not None
    )
    ending = Ending(reproduce and f"{reproduce} --seed {seed}", request.keeps_going)
    if told is not None:
        ending.warn(told)
    standing = NumbersStanding(target, claim, ending, listener)
    standing.explains = request.after_failure != "stop"
    with run_clock(claim.gate.run_timeout, standing.step):
        return replace(_Run(standing, request).report(), target=name)


class _Run:
    """The phases of a run, in their order."""

    def __init__(self, standing: NumbersStanding, request: NumbersRequest) -> None:
        self.standing, self.request = standing, request
        self.claim = standing.claim
        self.plan = make_plan(self.claim, request.seed, request.share)
        self.contract = InputContract(self.claim, self.plan)
        keeps = request.selection.keeps
        self.checks: Sequence[NumberCheck] = [
            make(self.claim, self.plan, request.seed)
            for make in observing(self.claim)
            if keeps(make.id)
        ]
        self.gathering = Gathering(standing, request, self.plan, self.contract, self.checks)
        self.asking = [make for make in asking(self.claim) if keeps(make.id)]

    def report(self) -> Report:
        """What the run finds, whatever ends it."""
        with self.standing.kept_to_here():
            self._open()
            self.gathering.gather()
            self._simplify()
            self._ask_more()
            if self._restart():
                self._hold_accounts()
        if not self.standing.ending.interrupted:
            with self.standing.kept_to_here():
                self._judge_claim()
        with untimed():
            return self._reported()

    def _reported(self) -> Report:
        standing, selection = self.standing, self.request.selection
        found = results(self.claim, self.contract, self.checks, standing.ending, selection.left_out)
        found = [located(result, standing.simplest) for result in found]
        nothing = selection.nothing_applies(
            [result.id for result in found if result.verdict is Verdict.NOT_APPLICABLE]
        )
        if standing.ending.used_up and not selection.left_out and not self._failed:
            planned = self.request.planned
            standing.ending.warn(dearer(self.claim, self.request.seed, planned=planned))
        return Report(
            self.claim,
            standing.queries,
            standing.seconds,
            self.request.seed,
            tuple(found),
            (*filter(None, (selection.warning, nothing)), *standing.ending.warnings),
            self.gathering.recorder.figures(),
            interrupted=standing.ending.interrupted,
            opening=self.contract.opening,
            left_out=selection.warning,
            started=standing.began,
            found_after=standing.ending.found_after,
            nothing_applied=nothing is not None,
        )

    @property
    def _failed(self) -> bool:
        return self.standing.ending.found_after is not None

    def _open(self) -> None:
        self.standing.tell("opening", 0)
        try:
            self.contract.run(self.standing.target)
        finally:
            self.standing.spend(self.contract.queries)
        for refusal in self.contract.refusals:
            self.standing.ending.warn(refusal)
        self.plan = replace(self.plan, inputs=tuple(self.contract.served))
        self.gathering.plan = self.plan
        earlier, now = self.request.earlier, self.contract.opening
        if earlier is not None and now is not None:
            for fresh in self._fresh:
                fresh.compare(earlier, now, EARLIER_RUN)
        for check in self.checks:
            check.answered([asked.role for asked in self.plan.inputs])

    def _restart(self) -> bool:
        """Compares this life of the target with others, where nothing has failed so far.

        So late that a target which cannot be started twice has answered all else: what still needs
        it is then not asked. Whether there is a target left to ask.
        """
        standing, first = self.standing, self.contract.opening
        if not self._fresh or first is None or self._failed:
            return True
        lives = Lives(standing, self.plan, self.gathering.show)
        if lives.why_not is None:
            try:
                lives.compare(self._fresh, first)
            except (TargetError, Refused, BudgetExhausted) as error:
                standing.ending.stopped = f"the target could not be started again: {error}"
                standing.ending.warn(f"{UNSEEN}; {standing.ending.stopped}")
                return False
            self.gathering.stops()
        elif self.request.earlier is None:
            standing.ending.warn(lives.why_not)
        return True

    @property
    def _fresh(self) -> list[FreshNoise | KeysFreshNoise]:
        return [c for c in self.checks if isinstance(c, FreshNoise | KeysFreshNoise)]

    def _simplify(self) -> None:
        """Once the law of the noise is refuted, looks for the simplest input that shows it."""
        law = next((c for c in self.checks if isinstance(c, NoiseLaw) and refuted(c)), None)
        if law is not None and self.standing.explains and self.standing.left > 0:
            seed, singly = self.request.seed, law.evidence.worst()[0] == SINGLE
            self.standing.simplest = find_simplest(self.standing, self.claim, seed, singly=singly)

    def _ask_more(self) -> None:
        """The checks that ask for releases of their own, where no other has failed."""
        for make in self.asking:
            if make in JUDGING or make in ACCOUNTING:
                continue
            if self._failed and not self.request.keeps_going:
                return
            self._conclude(make)

    def _hold_accounts(self) -> None:
        """Those of the target's own accounts, at the end: one of them may use its budget up."""
        for make in self.asking:
            if make in ACCOUNTING:
                self._conclude(make)

    def _judge_claim(self) -> None:
        """Those of the claim alone, whatever has become of the target."""
        for make in self.asking:
            if make in JUDGING:
                self._conclude(make)

    def _conclude(self, make: type[AskingCheck]) -> None:
        check = make(self.claim, self.plan, self.request.seed)
        self.standing.tell(check.id, self.standing.queries)
        outcome = check.conclude(self.standing)
        if outcome is not None:
            event = Concluded(self.standing.queries, check.id, outcome)
            self.standing.ending.hear(event)
