"""From what the checks of a run found to the results that a report lists."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..findings.finding import Finding
from ..findings.note import Fields, Note
from ..findings.report import CheckResult, Verdict, decimal_log
from .cause import Explanation, named
from .checks import EvidenceCheck
from .outcome import RunOutcome
from .session import Session


def results(
    session: Session, outcome: RunOutcome, ids: Sequence[str], left_out: Mapping[str, Note]
) -> list[CheckResult]:
    """One result for each check that has one, in the order of the report.

    ids: of all checks, in that order, the contract first; left_out: check id -> why it was not to
    run.
    """
    checks = session.checks
    cut, cause = _cut(checks, outcome), named(session.explanations())
    contract = _of_contract(ids[0], session, outcome)
    found = {ids[0]: contract, **outcome.proofs}
    if outcome.error is not None and found[ids[0]].verdict is Verdict.PASS:
        found[ids[0]] = contract  # concluded before a later call failed
    for check in checks:
        found[check.id] = _result(check, outcome, cut, cause)
    for name, reason in {**session.lacking, **left_out}.items():
        found[name] = CheckResult.of(name, Verdict.NOT_APPLICABLE, reason)
    return [found.get(name) or _not_reached(name, outcome, cut) for name in ids]


def _of_contract(name: str, session: Session, outcome: RunOutcome) -> CheckResult:
    queries = session.contract_queries
    if outcome.error is not None:
        found = CheckResult.of(name, Verdict.ERROR, outcome.error, queries)
    elif not session.answered:
        why = outcome.stopped or Note("nothing-answered", "nothing was answered")
        found = CheckResult.of(name, Verdict.INCONCLUSIVE, why, queries)
    else:
        message = "every reply had the right shape, type and range"
        found = CheckResult(id=name, verdict=Verdict.PASS, message=message, queries=queries)
    return found.model_copy(update={"reproduce": outcome.again(found.verdict)})


def _cut(checks: Sequence[EvidenceCheck], outcome: RunOutcome) -> Note | None:
    """Which failure cut the other checks short, if one did."""
    if outcome.error is not None:
        return Note("cut-short", f"the run ended when {outcome.whose} failed")
    failed = [check.id for check in checks if check.refuted]
    if not failed or outcome.finished:
        return None
    listed = " and ".join([", ".join(failed[:-1]), failed[-1]] if failed[1:] else failed)
    return Note("cut-short", f"the run ended when {listed} failed")


def _not_reached(name: str, outcome: RunOutcome, cut: Note | None) -> CheckResult:
    why = cut or outcome.stopped or Note("not-reached", "not asked before the run ended")
    found = CheckResult.of(name, Verdict.INCONCLUSIVE, why)
    again = outcome.again(found.verdict)
    return found.model_copy(update={"reproduce": again, "cut_short": cut is not None})


def _result(
    check: EvidenceCheck, outcome: RunOutcome, cut: Note | None, cause: Explanation | None
) -> CheckResult:
    queries, evidence = check.queries, check.judged
    if check.refuted:
        assert check.peak is not None
        queries, evidence = check.peak.queries, check.peak.log_e_value
        verdict = Verdict.FAIL
        finding = check.peak.finding if cause is None else cause.seen_by(check)
        if outcome.simplest is not None:
            finding = outcome.simplest.shown_in(check.id, finding)
    elif check.id in outcome.broken:
        verdict, finding = Verdict.ERROR, Finding.of(outcome.broken[check.id])
    elif check.not_applicable is not None:
        return CheckResult.of(check.id, Verdict.NOT_APPLICABLE, check.not_applicable)
    elif (samples_needed := check.samples_needed()) == 0 and check.id in outcome.owed:
        verdict, finding = Verdict.INCONCLUSIVE, Finding.of(cut or outcome.owed[check.id])
    elif samples_needed == 0:
        verdict, finding = Verdict.PASS, check.pass_finding()
        if check.of_code:
            told = f"{check.of_code[:1].upper()}{check.of_code[1:]}"
            finding = replace(finding, message=f"{finding.message}. {told}")
    else:
        verdict = Verdict.INCONCLUSIVE
        why = outcome.stopped or Note("too-few-queries", "the run ended")
        lacking = f"about {samples_needed:,} more {check.unit} would have been needed"
        left: Fields = {} if check.undecided else {"more": samples_needed}
        more = Note(why.code, f"{why}; {check.undecided or lacking}", {**why.fields, **left})
        finding = Finding.of(cut or outcome.hopeless.get(check.id) or more)
    return outcome.result(
        check.id,
        verdict,
        finding,
        queries,
        log10_e_value=None if check.stands else decimal_log(evidence),
        threshold_log10=decimal_log(check.needed),
        cut_short=verdict is Verdict.INCONCLUSIVE and cut is not None,
    )
