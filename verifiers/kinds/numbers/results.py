"""From what the checks of numbers found to the results that a report lists."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...findings.report import CheckResult, Verdict
from ...run.ending import Ending
from ..labels.checks.base import Finding
from .checks.base import NumberCheck, refuted, verdict_of
from .checks.input_contract import InputContract
from .checks.location import Location
from .checks.noise_law import NoiseLaw
from .claim import NumbersClaim
from .registered import asking, why_not
from .shares import SHARES
from .simplest import Simplest


def results(
    claim: NumbersClaim,
    contract: InputContract,
    checks: Sequence[NumberCheck],
    ending: Ending,
    left_out: Mapping[str, str],
) -> list[CheckResult]:
    """One result for each check id, in the order of the report, with those that do not apply.

    left_out: check id -> why it was not to run.
    """
    cut, cause = _cut(checks, ending), _cause(checks)
    found = {contract.id: _of_contract(contract, ending), **ending.proofs}
    found |= {check.id: _result(check, ending, cut, cause) for check in checks}
    again = ending.again(Verdict.INCONCLUSIVE)
    for name in (make.id for make in asking(claim)):
        if name not in found:
            why = cut or ending.stopped or "not asked before the run ended"
            short = cut is not None
            found[name] = CheckResult(
                name, Verdict.INCONCLUSIVE, why, reproduce=again, cut_short=short
            )
    for name in SHARES:
        reason = left_out.get(name) or why_not(name, claim)
        if reason is not None:
            found[name] = CheckResult(name, Verdict.NOT_APPLICABLE, reason)
    return [found[name] for name in SHARES if name in found]


def located(result: CheckResult, simplest: Simplest | None) -> CheckResult:
    """A violation of the noise's law, with the simplest input that shows it, if one was found."""
    if simplest is None or result.id != "noise-law" or result.verdict is not Verdict.FAIL:
        return result
    return replace(result, message=f"{result.message}; {simplest}")


def _of_contract(contract: InputContract, ending: Ending) -> CheckResult:
    verdict, message = Verdict.PASS, "every reply had the right shape, type and range"
    if ending.error is not None:
        verdict, message = Verdict.ERROR, ending.error
    elif not contract.served:
        verdict, message = Verdict.INCONCLUSIVE, ending.stopped or "nothing was answered"
    again = ending.again(verdict)
    return CheckResult(contract.id, verdict, message, contract.queries, reproduce=again)


def _cut(checks: Sequence[NumberCheck], ending: Ending) -> str | None:
    """Which failure cut the other checks short, if one did."""
    if ending.error is not None:
        return "the run ended when the target failed"
    failed = [check.id for check in checks if refuted(check)]
    if not failed or ending.finished:
        return None
    return f"the run ended when {' and '.join(failed)} failed"


def _cause(checks: Sequence[NumberCheck]) -> tuple[NumberCheck, Finding] | None:
    """What explains the failures best: each finding has its log-likelihood ratio to the claim.

    The ratios are of nearly the same draws, so that they compare. Where two are nearly alike, as
    of a family and a scale, the first in the report is named; a known fault that another check
    measures, as a scale, is told by that one.
    """
    failed = [check for check in checks if refuted(check)]
    found = [(check, check.peak.finding) for check in failed if check.peak is not None]
    odds = [0.0 if finding.log_odds is None else finding.log_odds for _, finding in found]
    most = max(odds, default=0.0)
    named = zip(found, odds, strict=True)
    first = next((each for each, own in named if own > 0.0 and own >= 0.8 * most), None)
    return first if first is None else _measured(checks, *first) or first


def _measured(
    checks: Sequence[NumberCheck], law: NumberCheck, told: Finding
) -> tuple[NumberCheck, Finding] | None:
    """The check that measures a known fault which `noise-law` has told, if it explains as much.

    It need not have failed: what it measures may show there, in other words, beforehand.
    """
    for finer in checks if isinstance(law, NoiseLaw) else ():
        measures = isinstance(law, NoiseLaw) and finer.id == law.measured_by
        if not measures and finer.id != Location.id:
            continue
        finding = finer.violation() if finer.peak is None else finer.peak.finding
        share = 0.8 if measures and finer.peak is not None else 1.0
        if finding.cause is not None and (finding.log_odds or 0.0) > share * (told.log_odds or 0.0):
            return finer, finding
    return None


def _result(
    check: NumberCheck,
    ending: Ending,
    cut: str | None,
    cause: tuple[NumberCheck, Finding] | None,
) -> CheckResult:
    verdict, draws, evidence = verdict_of(check), check.draws, check.log_e_value
    if check.peak is not None:
        draws, evidence, finding = check.peak.draws, check.peak.log_e_value, check.peak.finding
        if cause is not None and cause[0] is not check:
            told = str(cause[1].cause)
            told += "" if cause[0].peak is None else f" (see {cause[0].id})"
            finding = replace(finding, diagnosis=told)
    elif check.lacks is not None:
        return CheckResult(check.id, Verdict.NOT_APPLICABLE, check.lacks)
    elif verdict is Verdict.PASS:
        finding = check.silence()
    else:
        why = ending.stopped or "the run ended"
        more = f"{why}; about {check.shortfall():,} more draws would have been needed"
        finding = Finding(cut or more)
    return CheckResult(
        check.id,
        verdict,
        finding.message,
        draws,
        evidence,
        check.log_threshold,
        None,
        finding.diagnosis,
        ending.again(verdict),
        verdict is Verdict.INCONCLUSIVE and cut is not None,
    )
