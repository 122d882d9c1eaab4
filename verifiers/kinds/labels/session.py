"""One run on a target that releases labels: what it asks, and what looks at the labels."""

from collections.abc import Iterator, Mapping, Sequence

from ...findings.figures import CheckFigures
from ...findings.note import Note
from ...findings.report import CheckResult, LabelsOpening, Slow, Verdict
from ...paths.background import left_out_of_few
from ...paths.steering import Steering
from ...run.cause import Explanation
from ...run.checks import Check, EvidenceCheck
from ...run.phase import Phase
from ...run.request import RunRequest
from ...run.restarts import not_restarted
from ...run.selection import Selection
from ...run.session import Notes, Session
from ...run.state import RunState
from .checks import LabelsFreshNoise, LabelsInputContract
from .checks.asked_again import not_emptied
from .checks.base import LabelsSetting, labels_checks
from .checks.privacy_claim import PrivacyClaimCheck
from .claim import LabelsClaim
from .gathering.connections import ask_over_kept
from .gathering.explaining import explain, explanations
from .gathering.gathering import LabelsGathering
from .gathering.in_flight import ask_together
from .gathering.recorder import LabelsRecorder
from .gathering.restarting import ask_after_restart, compare_with, expect_restart, restart
from .planned import BringsIn, dearer_than, extent_of, queries_of
from .planning.given_inputs import coverage
from .planning.planner import make_plan
from .planning.telling import roundings_not_excluded, samplings_not_excluded
from .registry import CHECKS
from .steering.asking import LabelAsker, steers, why_not_steered
from .weighted import cost_by_weight


class LabelSession(Session):
    """LabelsGathering: there is one once there is a plan."""

    def __init__(self, state: RunState, request: RunRequest) -> None:
        self.state, self.request = state, request
        self.claim: LabelsClaim = state.claim
        self.recorder = LabelsRecorder()
        state.hearers.insert(0, self.recorder.hear)
        self.gathering: LabelsGathering | None = None
        self.steering: Steering | None = None
        self._few: Sequence[Note] = ()  # that nothing is searched, as the run is small
        earlier: LabelsOpening | None = request.earlier
        self._opens_with = None if earlier is None else earlier.histogram
        self.contract = LabelsInputContract(self.claim, self._opens_with)
        self._brings_in = BringsIn(request.stated, request.seed, request.own)

    @property
    def _gathering(self) -> LabelsGathering:
        assert self.gathering is not None
        return self.gathering

    @property
    def checks(self) -> Sequence[EvidenceCheck]:
        return () if self.gathering is None else self.gathering.observers.checks

    @property
    def lacking(self) -> Mapping[str, Note]:
        if self.gathering is None:
            return CHECKS.lacking(self.claim)
        return self._brings_in.told(self.gathering.observers.lacking)

    @property
    def refusals(self) -> Sequence[Note]:
        return self.contract.refusals

    @property
    def contract_queries(self) -> int:
        return self.contract.queries

    @property
    def answered(self) -> bool:
        return self.gathering is not None

    @property
    def opening(self) -> LabelsOpening | None:
        first = self.contract.first
        votes = tuple(int(v) for v in self.contract.opening)
        return LabelsOpening(histogram=votes, labels=tuple(first.tolist())) if first.size else None

    @property
    def goes_on(self) -> bool:
        return self._gathering.goes_on

    def prepare(self) -> None:
        self.state.tell("choosing histograms", 0)
        asked, others = self.request, self.contract.serves_other_totals
        extent = extent_of(self.claim, asked.seed, asked.own, asked.extent, other_totals=others)
        plan = make_plan(
            self.claim,
            asked.seed,
            others,
            asked.own,
            extent,
            opening=self._opens_with,
            near=self.contract.served_near,
        )
        self.gathering = LabelsGathering(
            self.state, plan, asked.seed, self.contract, asked.selection
        )
        expect_restart(self.gathering)
        labels = self.gathering.observers.labels
        if labels is not None and steers(plan):
            self.steering = Steering(LabelAsker(self.gathering, labels, asked.seed), asked)
            self.gathering.before_batch = self.steering.ask
        elif labels is not None:
            why = why_not_steered(plan)
            self._few = left_out_of_few(self.state.target, self.claim, asked, why)

    def compare(self, earlier: LabelsOpening) -> None:
        compare_with(self._gathering, earlier)

    def gather(self) -> None:
        self._gathering.show_opening()
        ask_over_kept(self._gathering, lambda: queries_of(self._gathering.plan))
        self._gathering.sweep()
        if self.steering is not None and self.state.outcome.stopped is None:
            self.steering.ask_now()
        ask_together(self._gathering, lambda: queries_of(self._gathering.plan))

    def explain(self) -> None:
        explain(self._gathering)

    def restart(self) -> None:
        restart(self._gathering)

    def ask_restarted(self) -> None:
        ask_after_restart(self._gathering)

    def concluding(self, phase: Phase) -> Iterator[Check]:
        """Those that have seen labels, and those that are made now."""
        if phase is Phase.OPENING:
            yield self.contract
        setting = LabelsSetting(self.claim, self.request.seed, None)
        if self.gathering is not None:
            setting = self.gathering.setting
            yield from self.gathering.observers.of(phase)
        for check in labels_checks(self.claim, setting.plan_or_none):
            opens = check is LabelsInputContract
            if check.phase is phase and not check.sees_labels and not opens:
                yield check.make(setting)

    def explanations(self) -> Sequence[Explanation]:
        return tuple(explanations(self.checks))

    def end(self, found: Sequence[CheckResult]) -> Notes:
        outcome, chosen = self.state.outcome, self.request.selection
        if self.gathering is not None:
            for warning in coverage(self.gathering.plan, self.gathering.observers.answered):
                outcome.warn(warning)
            refuted = self.gathering.observers.refuted
            for not_excluded in (roundings_not_excluded, samplings_not_excluded):
                left = not_excluded(self.gathering.plan)
                if left is not None and not refuted and not chosen.left_out:
                    outcome.warn(left)
            if self.steering is not None:
                self.steering.end(tells=not refuted and not chosen.left_out)
            for line in () if refuted or self.state.failed else self._few:
                outcome.warn(line)
            if outcome.used_up and not refuted and not chosen.left_out:
                outcome.warn(dearer_than(self.gathering.plan, planned=self.request.planned))
        costs = cost_by_weight(self.claim.mechanism)
        if costs is not None:
            outcome.warn(costs)
        unemptied = not_emptied(self.claim) if chosen.keeps(LabelsFreshNoise.id) else None
        return Notes(self._unseen(chosen, found), unemptied)

    def figures(self, found: Sequence[CheckResult]) -> Mapping[str, CheckFigures]:
        return self.recorder.figures(self.checks, found)

    @property
    def slow(self) -> Slow:
        return {PrivacyClaimCheck.id: self._with_exact_cost}

    def _with_exact_cost(self, result: CheckResult) -> CheckResult:
        from .exact_cost import with_exact_cost

        return with_exact_cost(result, self.claim.mechanism)

    def _unseen(self, chosen: Selection, found: Sequence[CheckResult]) -> Note | None:
        """The warning of a run that never restarted its target, and found no fault."""
        fresh = next(result for result in found if result.id == LabelsFreshNoise.id)
        state, outcome = self.state, self.state.outcome
        refuted = self.gathering is None or self.gathering.observers.refuted
        refuted = refuted or fresh.verdict is Verdict.FAIL
        compared = state.restarted or not chosen.keeps(fresh.id)
        if refuted or compared or outcome.interrupted or outcome.error is not None:
            return None
        caching = self.claim.mechanism.caching
        lost = "answers kept in memory alone" if caching else "a seed fixed at its start"
        cut_short = state.target.no_restart is None
        return not_restarted(state.target, lost, cut_short=cut_short, comparable=not caching)
