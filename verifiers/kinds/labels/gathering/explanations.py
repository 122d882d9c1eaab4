"""What may explain the failures of a run: a fault of the law, reused noise, or order of calls."""

from collections.abc import Iterator, Sequence

from ....run.cause import SURE, Explanation
from ....run.checks import Check
from ..checks import ClassProbabilities, FreshNoise, Order


def explanations(checks: Sequence[Check]) -> Iterator[Explanation]:
    """All explanations that have a name; none where no check has failed.

    What depends on the calls before looks, to the check of laws, like a fault of single calls.
    """
    if not any(check.refuted for check in checks):
        return
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
        finding = check.fail_finding() if named else None
        if finding is not None and finding.log_odds is not None:
            yield Explanation(check, finding, finding.log_odds)


def _depends(check: ClassProbabilities, orders: Sequence[Order]) -> bool:
    """Whether what looks like a fault of single calls depends on the calls before.

    Both are compared over the calls in turn, where either could show.
    """
    fits = check.fits()
    fault = check.plan.faults[fits.best] if fits.fitted is None else fits.fitted.fault
    return fits.single and any(order.depends_rather_than(fault) for order in orders)
