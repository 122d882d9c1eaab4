"""One run on a target that releases numbers: what it asks, and what looks at the releases."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from ...findings.figures import CheckFigures
from ...findings.finding import Finding
from ...findings.note import Note
from ...findings.report import CheckResult, Slow
from ...paths.background import OF_FEW_QUERIES, left_out_of_few
from ...paths.steering import BranchAsker, Steering
from ...run.cause import Explanation
from ...run.checks import Check, Setting
from ...run.phase import Phase
from ...run.request import RunRequest
from ...run.restarts import OPENINGS, compare_starts, restart_owed, why_not_restarted
from ...run.session import Notes
from ...run.state import RunState
from .checks.base import NumberCheck, tell_least
from .checks.fresh_noise import CopyOf
from .checks.input_contract import InputContract
from .checks.location import Location
from .checks.noise_law import NoiseLaw
from .claim import NumbersClaim
from .evidence.described import NOT_DESCRIBED
from .evidence.tails import MISSING_TAILS
from .gathering import Gathering
from .opening import NumbersOpening
from .planned import PlannedNumbers, PlannedReleases
from .recorder import Recorder
from .simplest import find_simplest
from .steering.asking import FULL, NumberAsker, steers

_MEASURED = 0.8
"""Share of the log-odds of a known fault at which the check that measures it tells it instead."""


@runtime_checkable
class ComparesOpenings(Protocol):
    """A check that compares the first calls after a start of the target with those of another."""

    id: str

    def before_restarts(self) -> None:
        """Is called once, before the first restart."""

    def compare(self, earlier: NumbersOpening, now: NumbersOpening, way: str) -> None:
        """Compares them; way: how they differ, in words."""


class NumberSession:
    """Recorder: follows the draws for the figures of the report."""

    goes_on = True
    """A failure ends no run before the target's accounts are judged."""

    opens_with: type[InputContract] = InputContract
    gathers_with: type[Gathering] = Gathering
    plans_with: type[PlannedReleases] = PlannedNumbers

    def __init__(self, state: RunState, request: RunRequest, recorder: Recorder) -> None:
        self.state, self.request = state, request
        self.claim: NumbersClaim = state.claim
        self.plan = self.claim.inputs(request.seed).in_part(request.extent)
        self.contract = self.opens_with(self.claim, self.plan, request.seed)
        setting = Setting(self.claim, request.seed, self.plan)
        there = self.claim.kind.checks.applicable(self.claim)
        self._there = [check for check in there if request.selection.keeps(check.id)]
        seeing = (check for check in self._there if check.phase is Phase.SHARED)
        self.checks: Sequence[NumberCheck] = [check.make(setting) for check in seeing]
        tell_least(self.checks)
        self.recorder = recorder
        self.slow: Slow = {}
        self.steering: Steering | None = None
        self.few: Sequence[Note] = ()  # that nothing is searched, as the run is small
        self.gathering = self.gathers_with(
            state, request, self.plan, self.contract, self.checks, recorder=recorder
        )

    @property
    def lacking(self) -> Mapping[str, Note]:
        found: Mapping[str, Note] = self.claim.kind.checks.lacking(self.claim)
        return found

    @property
    def refusals(self) -> Sequence[Note]:
        return self.contract.refusals

    @property
    def contract_queries(self) -> int:
        return self.contract.queries

    @property
    def answered(self) -> bool:
        return bool(self.contract.served)

    @property
    def opening(self) -> NumbersOpening | None:
        return self.contract.opening

    def prepare(self) -> None:
        self.plan = replace(self.plan, inputs=tuple(self.contract.served))
        self.gathering.plan = self.plan
        asker = self.asker()
        if asker is not None:
            self.steering = Steering(asker, self.request)
            self.gathering.after_look = self.steering.ask
        elif self.steered_by_default:
            self.few = left_out_of_few(self.state.target, self.claim, self.request, OF_FEW_QUERIES)
        for check in self.checks:
            check.answered([asked.role for asked in self.plan.inputs])

    @property
    def steered_by_default(self) -> bool:
        """Whether a whole run would search the code, as far as there is some."""
        return self.claim.kind.name == "numbers" and self._is_small

    @property
    def _is_small(self) -> bool:
        return self.claim.gate.max_queries < FULL or self.plan.share < 1.0

    def asker(self) -> BranchAsker | None:
        """What asks where a search of the code has found something; None where none is made."""
        law = next((check for check in self.checks if isinstance(check, NoiseLaw)), None)
        if law is None or not steers(self.claim, self.plan):
            return None
        planned = PlannedNumbers(self.claim, self.request.seed, self.request.selection)
        return NumberAsker(self.gathering, law, self.request.seed, lambda: planned.queries)

    def compare(self, earlier: NumbersOpening) -> None:
        for fresh in self._fresh:
            if self.contract.opening is not None:
                fresh.compare(earlier, self.contract.opening, CopyOf.EARLIER_RUN)

    def gather(self) -> None:
        """Then a restart is owed, without which `fresh-noise` is no pass."""
        compares = self.contract.opening is not None and self.request.earlier is None
        try:
            self.gathering.gather()
            if self.steering is not None and not self.gathering.stops():
                self.steering.ask_now()
        finally:
            if compares and self.state.target.no_restart is None and not self.state.failed:
                owed = restart_owed(OPENINGS * self.contract.opens_with)
                self.state.outcome.owed |= {fresh.id: owed for fresh in self._fresh}

    def explain(self) -> None:
        """Looks for the simplest input, once the law of noise is refuted."""
        law = next((c for c in self.checks if isinstance(c, NoiseLaw) and c.refuted), None)
        if law is not None and not law.shown_by_branches and self.state.left > 0:
            seed, singly = self.request.seed, law.shows_singly
            found = find_simplest(self.state, self.claim, seed, singly=singly)
            self.state.outcome.simplest = found

    def restart(self) -> None:
        """See `Session.restart`.

        So late that a target which cannot be started twice has answered all else: what still needs
        it is then not asked.
        """
        state, first = self.state, self.contract.opening
        if not self._fresh or first is None or state.failed:
            return
        why_not = why_not_restarted(state, OPENINGS * self.contract.opens_with)
        if why_not is not None:
            if self.request.earlier is None:
                state.outcome.warn(why_not)
            return
        state.outcome.owed.clear()  # also where it cannot be started again, which is warned of
        for check in self._fresh:
            check.before_restarts()
        if compare_starts(state, first, self._open_again, self._compare_starts):
            self.gathering.stops()

    def _open_again(self) -> NumbersOpening:
        """The opening after a restart, whose releases are evidence like all else."""
        contract = self.opens_again()
        try:
            found = contract.open(self.state.target)
        finally:
            self.state.spend(contract.queries)
        self.gathering.show(contract.seen)
        return found

    def _compare_starts(self, one: NumbersOpening, other: NumbersOpening) -> None:
        for check in self._fresh:
            check.compare(one, other, CopyOf.AFTER_RESTART)

    def opens_again(self) -> InputContract:
        """What asks the first calls once more, after a restart."""
        return InputContract(self.claim, self.plan)

    def ask_restarted(self) -> None:
        """What is released after a restart was shown to all checks."""

    def concluding(self, phase: Phase) -> Iterator[Check]:
        if phase is Phase.OPENING:
            yield self.contract
            return
        if phase is Phase.AUDIT or (phase is Phase.CLAIM and self.contract.by_data.waits):
            yield self.contract.by_data  # late, whatever became of the target since it was proven
        setting = Setting(self.claim, self.request.seed, self.plan)
        for check in self._there:
            if check.phase is phase:
                yield check.make(setting)

    def explanations(self) -> Sequence[Explanation]:
        """The ratios are of nearly the same draws."""
        peaks = [(one, one.peak.finding) for one in self.checks if one.refuted and one.peak]
        found = [self.explained(*peak) for peak in peaks]
        return [*_of_missing_tails(self.checks, found), *found]

    def explained(self, check: NumberCheck, finding: Finding) -> Explanation:
        """What a refuted check tells, or a finer one that measures it."""
        odds = finding.log_odds or 0.0
        if isinstance(check, NoiseLaw):
            finer = measured(check.measured_by, odds, self.checks)
            if finer is not None:
                return Explanation(finer[0], check.beside(finer[1]), odds)
        return Explanation(check, finding, odds)

    def end(self, found: Sequence[CheckResult]) -> Notes:
        outcome, chosen = self.state.outcome, self.request.selection
        if outcome.used_up and not chosen.left_out and not self.state.failed:
            whole = self.plans_with(self.claim, self.request.seed)
            outcome.warn(whole.dearer(planned=self.request.planned))
        if self.steering is not None:
            self.steering.end(tells=not self.state.failed and not chosen.left_out)
        for note in () if self.state.failed else self.few:  # a pass says nothing of the code
            outcome.warn(note)
        return Notes()

    def figures(self, found: Sequence[CheckResult]) -> Mapping[str, CheckFigures]:
        return self.recorder.figures()

    @property
    def _fresh(self) -> list[ComparesOpenings]:
        """The checks that compare the first calls after a start with those after another."""
        return [check for check in self.checks if isinstance(check, ComparesOpenings)]


def _of_missing_tails(
    checks: Sequence[NumberCheck], refuted: Sequence[Explanation]
) -> list[Explanation]:
    """That tails are missing, where it explains best what checks other than `noise-law` refuted."""
    most = max((one.log_odds for one in refuted), default=math.inf)
    found = []
    for check in checks:
        if isinstance(check, NoiseLaw) and not check.refuted and math.isfinite(most):
            finding = check.fail_finding()
            odds = finding.log_odds or 0.0
            if finding.code == MISSING_TAILS and odds > most:
                found.append(Explanation(check, finding, odds))
    return found


def measured(
    by: str | None, odds: float, checks: Sequence[NumberCheck]
) -> tuple[NumberCheck, Finding] | None:
    """The check that measures a known fault which `noise-law` has told, if it explains as much.

    by: its id, as `NoiseLaw.measured_by` has it; odds: of what `noise-law` has told. It need not
    have failed: what it measures may show there, in other words, beforehand.
    """
    found = list[tuple[float, NumberCheck, Finding]]()
    for finer in checks:
        measures = finer.id == by
        if not measures and finer.id != Location.id:
            continue
        finding = finer.fail_finding() if finer.peak is None else finer.peak.finding
        share = _MEASURED if measures and finer.peak is not None else 1.0
        log_odds = finding.log_odds or 0.0
        if finding.cause is not None and log_odds > share * odds:
            found.append((log_odds, finer, finding))
    best = max(found, key=lambda one: (one[2].code != NOT_DESCRIBED.code, one[0]), default=None)
    return None if best is None else best[1:]
