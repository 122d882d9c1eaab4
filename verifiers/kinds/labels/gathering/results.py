"""From what the checks of a run found to the results that a report lists."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ....findings.report import CheckResult, Verdict
from ....run.ending import Ending
from ..checks import Check, ClassProbabilities, Finding, FreshNoise, Order
from ..checks.fits import SURE
from ..error_budget import SHARES
from .simplest import Simplest


def results(
    contract: CheckResult, checks: Sequence[Check], lacking: Mapping[str, str], ending: Ending
) -> list[CheckResult]:
    """One result for each check id, in the order of the report.

    lacking: check id -> why it cannot run.
    """
    found = {contract.id: contract, **ending.proofs}
    cut, cause = _cut(checks, ending), _cause(checks)
    for check in checks:
        found[check.id] = _result(check, ending, cut, cause)
    for name, reason in lacking.items():
        found[name] = CheckResult(name, Verdict.NOT_APPLICABLE, reason)
    return [found.get(name) or _not_reached(name, ending, cut) for name in SHARES]


def _cut(checks: Sequence[Check], ending: Ending) -> str | None:
    """Which failure cut the other checks short, if one did."""
    refuted = [check.id for check in checks if check.refuted]
    if ending.error is not None:
        return "the run ended when the target failed"
    if not refuted or ending.finished:
        return None
    listed = " and ".join([", ".join(refuted[:-1]), refuted[-1]] if refuted[1:] else refuted)
    return f"the run ended when {listed} failed"


def _not_reached(name: str, ending: Ending, cut: str | None) -> CheckResult:
    why = cut or ending.stopped or "not run before the target failed"
    again = ending.again(Verdict.INCONCLUSIVE)
    return CheckResult(name, Verdict.INCONCLUSIVE, why, reproduce=again, cut_short=cut is not None)


def _result(check: Check, ending: Ending, cut: str | None, cause: "_Cause | None") -> CheckResult:
    shortfall = check.shortfall()
    if check.refuted:
        found = check.violation() if cause is None else cause.seen_by(check)
        # what depends on the calls before shows on no histogram alone
        simplest = None if isinstance(check, Order) else ending.simplest
        verdict, finding = Verdict.FAIL, _located(found, simplest)
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
        verdict is Verdict.INCONCLUSIVE and cut is not None,
    )


def _located(finding: Finding, simplest: Simplest | None) -> Finding:
    """A violation of the labels' law, shown on the simplest histogram if one was found."""
    if finding.histogram is None or simplest is None:
        return finding
    where = ""
    if finding.histogram != simplest.histogram:  # the labels told of are of another one
        where = f", {simplest.name}"
    message = f"{finding.message}; {simplest}{where}"
    return replace(finding, message=message, histogram=simplest.histogram)


@dataclass(frozen=True)
class _Cause:
    """What explains a run's failures: the finding of a check, which may not have failed itself."""

    check: Check
    finding: Finding

    def seen_by(self, check: Check) -> Finding:
        """The violation of a check, whose diagnosis defers to the cause."""
        if check is self.check:
            return self.finding
        found, words = check.violation(), self.finding.diagnosis
        if self.check.refuted:
            words = f"{self.finding.cause} (see {self.check.id})"
        return replace(found, message=found.otherwise or found.message, diagnosis=words)


def _cause(checks: Sequence[Check]) -> _Cause | None:
    """The one explanation of all failures: a fault of the law, reused noise, or order of calls.

    Each distorts the evidence for the others. So the one that is clearly likelier is reported,
    whichever checks have failed.
    """
    if not any(check.refuted for check in checks):
        return None
    ranked = sorted(_causes(checks), key=lambda found: -found[0])
    if not ranked or (ranked[1:] and ranked[0][0] - ranked[1][0] <= SURE):
        return None
    return ranked[0][1]


def _causes(checks: Sequence[Check]) -> Iterator[tuple[float, _Cause]]:
    """All explanations that have a name, with their log-odds.

    What depends on the calls before looks, to the check of laws, like a fault of single calls.
    """
    laws = [check.fits() for check in checks if isinstance(check, ClassProbabilities)]
    # labels that no fault explains, and that do not come in turn, speak against a fault of order
    unexplained = max((fits.log_any for fits in laws if not fits.explained), default=0.0)
    orders = [check for check in checks if isinstance(check, Order) and check.depends]
    for check in checks:
        if isinstance(check, ClassProbabilities):
            named = not _depends(check, orders)
        else:
            least = max(SURE, unexplained) if isinstance(check, Order) else SURE
            named = isinstance(check, FreshNoise | Order) and check.log_odds > least
        finding = check.violation() if named else None
        if finding is not None and finding.log_odds is not None:
            yield finding.log_odds, _Cause(check, finding)


def _depends(check: ClassProbabilities, orders: Sequence[Order]) -> bool:
    """Whether what looks like a fault of single calls depends on the calls before.

    Both are compared over the calls in turn, where either could show.
    """
    fits = check.fits()
    fault = check.plan.faults[fits.best] if fits.fitted is None else fits.fitted.fault
    return fits.single and any(order.depends_rather_than(fault) for order in orders)
