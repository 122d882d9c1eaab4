"""From what the checks of a run found to the results that a report lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .checks import Check, Finding
from .checks.class_probabilities import NO_KNOWN_FAULT
from .report import CheckResult, Verdict
from .shares import SHARES
from .simplest import Simplest


def is_refuted(check: Check) -> bool:
    """Whether a check's evidence has reached its threshold."""
    return check.log_e_value >= check.log_threshold


@dataclass
class Ending:
    """How a run ended: `stopped` early and why, an `error` of the target, what was found apart."""

    stopped: str | None = None
    error: str | None = None
    simplest: Simplest | None = None
    reproduce: str | None = None
    impossible: dict[str, str] = field(default_factory=dict)
    proofs: dict[str, CheckResult] = field(default_factory=dict)


def results(contract: CheckResult, checks: Sequence[Check], ending: Ending) -> list[CheckResult]:
    """One result for each check id, in the order of the report."""
    found = {contract.id: contract, **ending.proofs}
    refuted = any(is_refuted(check) for check in checks)
    for check in checks:
        found[check.id] = _result(check, refuted, ending)
    for name, reason in ending.impossible.items():
        found[name] = CheckResult(name, Verdict.NOT_APPLICABLE, reason)
    return _with_cause([found.get(name) or _not_reached(name, refuted, ending) for name in SHARES])


def _not_reached(name: str, refuted: bool, ending: Ending) -> CheckResult:
    why = ending.stopped or "the target failed before it could run"
    why = "the run ended when another check failed" if refuted else why
    return CheckResult(name, Verdict.INCONCLUSIVE, why)


def _result(check: Check, refuted: bool, ending: Ending) -> CheckResult:
    shortfall = check.shortfall()
    if is_refuted(check):
        verdict, finding = Verdict.FAIL, _located(check.violation(), ending.simplest)
    elif shortfall == 0:
        verdict, finding = Verdict.PASS, check.silence()
    else:
        verdict = Verdict.INCONCLUSIVE
        why = "the run ended when another check failed" if refuted else ending.stopped
        why = "the run ended when the target failed" if ending.error is not None else why
        finding = Finding(f"{why}; about {shortfall} more queries would have been needed")
    return CheckResult(
        check.id,
        verdict,
        finding.message,
        check.queries,
        check.log_e_value,
        check.log_threshold,
        finding.histogram,
        finding.diagnosis,
        ending.reproduce if verdict is Verdict.FAIL else None,
    )


def _located(finding: Finding, simplest: Simplest | None) -> Finding:
    """A violation of the labels' law, shown on the simplest histogram if one was found."""
    if finding.histogram is None or simplest is None:
        return finding
    return replace(finding, message=f"{finding.message}; {simplest}", histogram=simplest.histogram)


def _with_cause(found: list[CheckResult]) -> list[CheckResult]:
    """Reused noise distorts every law: where no known fault fits the labels, it is the cause."""
    by_id: Mapping[str, CheckResult] = {result.id: result for result in found}
    fresh, labels = by_id["fresh-noise"], by_id["class-probabilities"]
    if fresh.verdict is not Verdict.FAIL or fresh.diagnosis is None:
        return found
    if labels.diagnosis is None or not labels.diagnosis.startswith(NO_KNOWN_FAULT):
        return found
    return [
        replace(result, diagnosis=f"{fresh.message} (see fresh-noise)")
        if result.verdict is Verdict.FAIL and result.id != fresh.id and result.log_e_value
        else result
        for result in found
    ]
