"""From how a run went to its report."""

from collections.abc import Sequence

from ....findings.opening import Opening
from ....findings.report import CheckResult, Report, Verdict
from ....run.selection import Selection
from ....run.standing import Standing
from ..checks import FreshNoise, InputContract
from ..checks.applicable import lacking
from ..checks.emptied_store import not_emptied
from ..planning.coverage import coverage
from ..planning.sharpest import dearer
from .gathering import Gathering
from .lives import not_seen
from .recorder import Recorder
from .request import Request
from .results import results


def reported(
    standing: Standing,
    request: Request,
    contract: InputContract,
    gathering: Gathering | None,
    recorder: Recorder,
) -> Report:
    """The report of a run as it stands now; gathering: None if it had no plan."""
    ending, selection = standing.ending, request.selection
    checks = [] if gathering is None else gathering.observers.checks
    absent = lacking(standing.claim) if gathering is None else gathering.observers.lacking
    absent = {**absent, **selection.left_out}
    found = tuple(results(_of_contract(standing, contract, gathering), checks, absent, ending))
    unseen, first = _unseen(standing, selection, gathering, found), contract.first
    unemptied = not_emptied(standing.claim) if selection.keeps(FreshNoise.id) else None
    nothing = selection.nothing_applies(
        [result.id for result in found if result.verdict is Verdict.NOT_APPLICABLE]
    )
    if gathering is not None:
        for told in coverage(gathering.plan, gathering.observers.answered):
            ending.warn(told)
        if ending.used_up and not gathering.observers.refuted and not selection.left_out:
            ending.warn(dearer(gathering.plan, planned=request.planned))
    opening = tuple(int(votes) for votes in contract.opening)
    return Report(
        standing.claim,
        standing.queries,
        standing.seconds,
        request.seed,
        found,
        (*filter(None, (unemptied, selection.warning, nothing, unseen)), *ending.warnings),
        recorder.figures(checks, found),
        ending.interrupted,
        unseen,
        Opening(opening, tuple(first.tolist())) if first.size else None,
        started=standing.began,
        left_out=selection.warning,
        found_after=ending.found_after,
        nothing_applied=nothing is not None,
        unemptied=unemptied,
    )


def _of_contract(
    standing: Standing, contract: InputContract, gathering: Gathering | None
) -> CheckResult:
    ending = standing.ending
    if ending.error is not None:
        verdict, message = Verdict.ERROR, ending.error
    elif gathering is None:
        verdict, message = Verdict.INCONCLUSIVE, ending.stopped or "nothing was answered"
    else:
        verdict, message = Verdict.PASS, "every reply had the right shape, type and range"
    again = ending.again(verdict)
    return CheckResult(contract.id, verdict, message, contract.queries, reproduce=again)


def _unseen(
    standing: Standing,
    selection: Selection,
    gathering: Gathering | None,
    found: Sequence[CheckResult],
) -> str | None:
    """The warning of a run that compared no two lives of its target, and found no fault."""
    fresh = next(result for result in found if result.id == FreshNoise.id)
    refuted = gathering is None or gathering.observers.refuted or fresh.verdict is Verdict.FAIL
    compared = standing.restarted or not selection.keeps(fresh.id)
    if refuted or compared or standing.ending.interrupted or standing.ending.error is not None:
        return None
    cut_short = standing.target.no_restart is None
    return not_seen(standing.target, standing.claim, cut_short=cut_short)
