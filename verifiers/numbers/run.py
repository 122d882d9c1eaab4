"""The gate for numbers: spends a query budget on a target and says whether it does its claim."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

from ...reference.clock import run_clock, untimed
from ..findings.report import Report
from ..gate.ending import Ending
from ..gate.events import Concluded, Listener
from ..targets import PacedTarget, Target
from .asked import Batch, Draws
from .checks.base import AskingCheck, NumberCheck, refuted
from .checks.input_contract import InputContract
from .claim import NumbersClaim
from .keys import make_keys_plan
from .plan import NumbersPlan, make_numbers_plan
from .recorder import NumbersRecorder
from .registered import JUDGING, asking, observing
from .results import results
from .standing import NumbersStanding

_FEW, _SHARE = 50, 0.1
"""Evidence is looked at after every call at first, then after a tenth of the releases beyond.

So many releases are asked for even where fewer have refuted the claim: they tell the cause.
"""

_GROWTH, _MANY = 10, 10_000
"""A call asks for a tenth of the releases before it at most, until so many numbers were seen.

A fault that some releases show is not paid for by a call for hundreds.
"""


def verify_numbers(
    target: Target,
    claim: NumbersClaim,
    *,
    seed: int | None = None,
    listener: Listener | None = None,
    reproduce: str | None = None,
    name: str | None = None,
    keep_going: bool = False,
) -> Report:
    """Runs all checks of `claim` on `target` and returns the report; closes nothing.

    seed: fixes the inputs asked (drawn when None); listener: told of progress; reproduce: the
    command that repeats the run; name: of the target, for the report; keep_going: whether all
    checks are finished once one has failed. A correct deployment gets `fail` with probability at
    most `false_alarm`, whatever is looked at and whenever the run stops.
    """
    seed = secrets.randbits(32) if seed is None else seed
    if claim.gate.largest_call is not None:
        target = PacedTarget(target, claim.gate.timeout, claim.gate.largest_call, claim.release)
    ending = Ending(reproduce and f"{reproduce} --seed {seed}", keep_going)
    standing = NumbersStanding(target, claim, ending, listener)
    with run_clock(claim.gate.run_timeout, standing.step):
        run = _Run(standing, seed, keep_going)
        return replace(run.report(), target=name)


def make_plan(claim: NumbersClaim, seed: int) -> NumbersPlan:
    """The inputs of a run, as what is released asks for."""
    keys = claim.mechanism.takes == "keys"
    return make_keys_plan(claim, seed) if keys else make_numbers_plan(claim, seed)


class _Run:
    """The phases of a run, in their order."""

    def __init__(self, standing: NumbersStanding, seed: int, keep_going: bool) -> None:
        self.standing, self.seed, self.keep_going = standing, seed, keep_going
        self.claim = standing.claim
        self.plan = make_plan(self.claim, seed)
        self.contract = InputContract(self.claim, self.plan)
        self.recorder = NumbersRecorder(self.claim)
        self.checks: Sequence[NumberCheck] = [
            make(self.claim, self.plan, seed) for make in observing(self.claim)
        ]

    def report(self) -> Report:
        """What the run finds, whatever ends it."""
        with self.standing.kept_to_here():
            self._open()
            self._gather()
            self._ask_more()
        if not self.standing.ending.interrupted:
            with self.standing.kept_to_here():
                self._judge_claim()
        with untimed():
            standing = self.standing
            return Report(
                self.claim,
                standing.queries,
                standing.seconds,
                self.seed,
                tuple(results(self.claim, self.contract, self.checks, standing.ending)),
                tuple(standing.ending.warnings),
                self.recorder.figures(),
                interrupted=standing.ending.interrupted,
                started=standing.began,
                found_after=standing.ending.found_after,
            )

    def _open(self) -> None:
        self.standing.tell("opening", 0)
        try:
            self.contract.run(self.standing.target)
        finally:
            self.standing.spend(self.contract.queries)
        for refusal in self.contract.refusals:
            self.standing.ending.warn(refusal)
        self.plan = replace(self.plan, inputs=tuple(self.contract.served))
        for check in self.checks:
            check.answered([asked.role for asked in self.plan.inputs])

    def _gather(self) -> None:
        """Asks input after input until every check has seen enough, or one has failed."""
        self._show_contract()
        if self._failed():
            return
        pending: list[Batch] = []
        seen, waiting = self.contract.queries, 0
        for asked, wanted in self.plan.calls(self.seed):
            size = min(wanted, self._largest(seen + waiting), self.standing.left)
            if size < 1:
                if pending:
                    self._show(pending)
                self.standing.use_up()
                return
            reply = self.standing.target.ask(asked.values, size)
            self.standing.spend(size)
            releases = self.claim.release.shaped(reply, asked.values, size)
            pending.append(Batch(asked, releases, (size,)))
            waiting += size
            if waiting < _SHARE * (seen - _FEW):
                continue
            self._show(pending)
            seen, waiting, pending = seen + waiting, 0, []
            if self._done():
                return

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
        noise = self.claim.mechanism.added
        draws = Draws(tuple(batches), noise, self.plan.coordinates)
        for check in self.checks:
            check.observe(draws)
        self.recorder.observe(draws, self.checks)

    def _largest(self, seen: int) -> int:
        """Releases that the next call may ask for, after so many."""
        few = seen * self.plan.coordinates.size < _MANY
        return max(1, seen // _GROWTH) if few else self.standing.left

    def _failed(self) -> bool:
        """Whether a check has failed, and the run ends with it."""
        failed = any(refuted(check) for check in self.checks)
        if failed and self.standing.ending.found_after is None:
            self.standing.ending.found_after = self.standing.queries
        return failed and not self.keep_going and self.standing.queries >= _FEW

    def _done(self) -> bool:
        """Whether there is nothing left to ask for."""
        self.standing.tell("asking", self.standing.queries + self._left())
        if self._failed():
            return True
        return all(refuted(check) or check.shortfall() == 0 for check in self.checks)

    def _ask_more(self) -> None:
        """The checks that ask for releases of their own, where no other has failed."""
        ending = self.standing.ending
        for make in asking(self.claim):
            if make in JUDGING:
                continue
            if ending.found_after is not None and not self.keep_going:
                return
            self._conclude(make)

    def _judge_claim(self) -> None:
        """Those of the claim alone, whatever has become of the target."""
        for make in asking(self.claim):
            if make in JUDGING:
                self._conclude(make)

    def _conclude(self, make: type[AskingCheck]) -> None:
        check = make(self.claim, self.plan, self.seed)
        self.standing.tell(check.id, self.standing.queries)
        outcome = check.conclude(self.standing)
        if outcome is not None:
            event = Concluded(self.standing.queries, check.id, outcome)
            self.standing.ending.hear(event)

    def _left(self) -> int:
        """Releases that the checks still need."""
        width = max(1, self.plan.coordinates.size)
        return max((check.shortfall() for check in self.checks), default=0) // width
