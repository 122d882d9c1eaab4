"""From what the checks of a run found to the results that a report lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .checks import Check, Finding
from .checks.class_probabilities import NO_KNOWN_FAULT
from .explained import CUT_SHORT
from .report import CheckResult, Verdict
from .shares import SHARES
from .simplest import Simplest


def is_refuted(check: Check) -> bool:
    """Whether a check's evidence has reached its threshold."""
    return check.log_e_value >= check.log_threshold


@dataclass
class Ending:
    """How a run ended: `stopped` early and why, an `error` of the target, what was found apart.

    hopeless: check id -> why no number of queries would decide it.
    """

    stopped: str | None = None
    error: str | None = None
    simplest: Simplest | None = None
    reproduce: str | None = None
    proofs: dict[str, CheckResult] = field(default_factory=dict)
    hopeless: dict[str, str] = field(default_factory=dict)

    def again(self, verdict: Verdict) -> str | None:
        """The command that repeats the run, for a verdict that one would want to see again."""
        return None if verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE) else self.reproduce


def results(
    contract: CheckResult, checks: Sequence[Check], lacking: Mapping[str, str], ending: Ending
) -> list[CheckResult]:
    """One result for each check id, in the order of the report.

    lacking: check id -> why it cannot run.
    """
    found = {contract.id: contract, **ending.proofs}
    cut = _cut(checks, ending)
    for check in checks:
        found[check.id] = _result(check, ending, cut)
    for name, reason in lacking.items():
        found[name] = CheckResult(name, Verdict.NOT_APPLICABLE, reason)
    return _with_cause([found.get(name) or _not_reached(name, ending, cut) for name in SHARES])


def _cut(checks: Sequence[Check], ending: Ending) -> str | None:
    """Which failure cut the other checks short, if one did."""
    refuted = [check.id for check in checks if is_refuted(check)]
    if ending.error is not None:
        return f"{CUT_SHORT}the target failed"
    if not refuted:
        return None
    listed = " and ".join([", ".join(refuted[:-1]), refuted[-1]] if refuted[1:] else refuted)
    return f"{CUT_SHORT}{listed} failed"


def _not_reached(name: str, ending: Ending, cut: str | None) -> CheckResult:
    why = cut or ending.stopped or "the target failed before it could run"
    return CheckResult(
        name, Verdict.INCONCLUSIVE, why, reproduce=ending.again(Verdict.INCONCLUSIVE)
    )


def _result(check: Check, ending: Ending, cut: str | None) -> CheckResult:
    shortfall = check.shortfall()
    if is_refuted(check):
        verdict, finding = Verdict.FAIL, _located(check.violation(), ending.simplest)
    elif shortfall == 0:
        verdict, finding = Verdict.PASS, check.silence()
    else:
        verdict = Verdict.INCONCLUSIVE
        more = f"{ending.stopped}; about {shortfall:,} more queries would have been needed"
        finding = Finding(cut or ending.hopeless.get(check.id) or more)
    return CheckResult(
        check.id,
        verdict,
        finding.message,
        check.queries,
        check.log_e_value,
        check.log_threshold,
        finding.histogram,
        finding.diagnosis,
        ending.again(verdict),
    )


def _located(finding: Finding, simplest: Simplest | None) -> Finding:
    """A violation of the labels' law, shown on the simplest histogram if one was found."""
    if finding.histogram is None or simplest is None:
        return finding
    where = ""
    if finding.histogram != simplest.histogram:  # the labels told of are of another one
        where = f", {list(simplest.histogram)}"
    message = f"{finding.message}; {simplest}{where}"
    return replace(finding, message=message, histogram=simplest.histogram)


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
