"""The gate for numbers: spends a query budget on a target and says whether it does its claim."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...reference import BudgetExhausted
from ...reference.clock import run_clock, untimed
from ..findings.report import Report, Verdict
from ..gate.diagnosis import AfterFailure, known
from ..gate.ending import Ending
from ..gate.events import Concluded, Listener, Progress
from ..gate.selection import Selection
from ..targets import PacedTarget, Refused, Target, TargetError
from .asked import Batch, Draws
from .checks.base import AskingCheck, NumberCheck, refuted
from .checks.fresh_noise import EARLIER_RUN, FreshNoise
from .checks.input_contract import InputContract
from .checks.keys_together import KeysFreshNoise
from .checks.noise_law import SINGLE, NoiseLaw
from .claim import NumbersClaim
from .evidence.bins import Placing
from .lives import UNSEEN, Lives
from .opening import NumbersOpening
from .pace import FEW, paced
from .recorder import NumbersRecorder
from .registered import ACCOUNTING, JUDGING, asking, observing
from .request import NumbersRequest
from .results import located, results
from .sharpest import dearer, make_plan, sharpest
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
        rng = np.random.default_rng([request.seed, 2])
        self.placing = Placing(self.claim.mechanism.added, rng)
        self.recorder = NumbersRecorder(self.claim)
        keeps = request.selection.keeps
        self.checks: Sequence[NumberCheck] = [
            make(self.claim, self.plan, request.seed)
            for make in observing(self.claim)
            if keeps(make.id)
        ]
        self.asking = [make for make in asking(self.claim) if keeps(make.id)]

    def report(self) -> Report:
        """What the run finds, whatever ends it."""
        with self.standing.kept_to_here():
            self._open()
            self._gather()
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
            self.recorder.figures(),
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
        earlier, now = self.request.earlier, self.contract.opening
        if earlier is not None and now is not None:
            for fresh in self._fresh:
                fresh.compare(earlier, now, EARLIER_RUN)
        for check in self.checks:
            check.answered([asked.role for asked in self.plan.inputs])

    def _gather(self) -> None:
        """Asks input after input until every check has seen enough, or one has failed."""
        self._show_contract()
        if not self.checks or self._stops():
            return
        pending: list[Batch] = []
        calls = paced(self.plan, self.request.seed, self.contract.queries)
        for asked, wanted, look in calls:
            size = min(wanted, self.standing.left)
            if size < 1:
                if pending:
                    self._show(pending)
                self.standing.use_up()
                return
            reply = self.standing.target.ask(asked.values, size)
            self.standing.spend(size)
            releases = self.claim.release.shaped(reply, asked.values, size)
            pending.append(Batch(asked, releases, (size,)))
            if not look:
                continue
            self._show(pending)
            pending = []
            if self._done():
                return

    def _restart(self) -> bool:
        """Compares this life of the target with others, where nothing has failed so far.

        So late that a target which cannot be started twice has answered all else: what still needs
        it is then not asked. Whether there is a target left to ask.
        """
        standing, first = self.standing, self.contract.opening
        if not self._fresh or first is None or self._failed:
            return True
        lives = Lives(standing, self.plan, self._show)
        if lives.why_not is None:
            try:
                lives.compare(self._fresh, first)
            except (TargetError, Refused, BudgetExhausted) as error:
                standing.ending.stopped = f"the target could not be started again: {error}"
                standing.ending.warn(f"{UNSEEN}; {standing.ending.stopped}")
                return False
            self._stops()
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

    def _show_contract(self) -> None:
        """Shows what the contract was given reply by reply, to know which of them was the proof."""
        seen, ending = 0, self.standing.ending
        for batch in self.contract.seen:
            self._show([batch])
            seen += len(batch.releases)
            if ending.found_after is None and any(refuted(check) for check in self.checks):
                ending.found_after = seen

    def _show(self, batches: Sequence[Batch]) -> None:
        """Shows the releases of some calls to the checks at once: a look has its price."""
        whole = tuple(batch for batch in batches if self._is_finite(batch))
        if not whole:
            return
        draws = Draws(whole, self.placing, self.plan.coordinates)
        for check in self.checks:
            check.observe(draws)
            refuted(check)  # a look: evidence that refutes is kept as it is now
        self.recorder.observe(draws, self.checks)

    def _is_finite(self, batch: Batch) -> bool:
        """Whether it is all numbers; if not, `noise-law` is told of the first that is none."""
        finite = np.isfinite(batch.releases)
        if finite.all():
            return True
        row, column = np.argwhere(~finite)[0]
        released, exact = float(batch.releases[row, column]), float(batch.asked.exact[column])
        laws = [check for check in self.checks if isinstance(check, NoiseLaw)]
        for law in laws:
            law.refute(released, exact)
        if not laws:
            self.standing.ending.warn(
                f"{released} was released for {batch.asked.name}: expected finite numbers; its "
                "call was left out"
            )
        return False

    def _stops(self) -> bool:
        """Whether a check has failed, and the run ends with it."""
        failed = any(refuted(check) for check in self.checks)
        if failed and self.standing.ending.found_after is None:
            self.standing.ending.found_after = self.standing.queries
        return failed and not self.request.keeps_going and self.standing.queries >= FEW

    def _done(self) -> bool:
        """Whether there is nothing left to ask for."""
        self.standing.tell("asking", self.standing.queries + self._left())
        if self._stops():
            return True
        return all(refuted(check) or check.shortfall() == 0 for check in self.checks)

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

    def _left(self) -> int:
        """Releases that the checks still need."""
        width = max(1, self.plan.coordinates.size)
        return max((check.shortfall() for check in self.checks), default=0) // width
