"""Once a run is refuted: labels that tell the cause, the simplest histogram that shows it, causes.

A cause is a fault of the law of labels, noise that is used again, or noise that depends on the
calls before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ....findings.finding import Finding
from ....findings.note import Note
from ....run.cause import SURE, Explanation
from ....run.checks import EvidenceCheck
from ....targets import Refused
from ..checks import ClassProbabilities, LabelsFreshNoise, Order
from ..checks.fits import MOST
from ..checks.noise_scale import LabelsNoiseScale
from ..planning.plan import Batch
from ..planning.roles import Role
from .diagnosis import diagnosing_batches
from .gathering import Gathering
from .simplest import find_simplest

_MORE_IN_ORDER = 512  # calls in turn that tell on what noise depends
_LEAST_SEARCH = 1024  # queries that the search for a simplest histogram may always take


def explain(gathering: Gathering) -> None:
    """Asks on until the cause of a failure is told from its rivals, then for a simplest case."""
    labels, fresh = gathering.observers.labels, gathering.observers.fresh
    refuted = [check for check in gathering.observers.checks if check.refuted]
    order_alone = refuted == [gathering.observers.order]  # more calls in turn tell the cause
    if order_alone:
        gathering.state.tell("looking for the cause")
        gathering.ask_more_in_order(_MORE_IN_ORDER)
        if labels is not None:  # a fault that has set in meanwhile shows in any calls
            informative = gathering.plan.first(Role.INFORMATIVE)
            _ask(gathering, Batch(informative, _MORE_IN_ORDER // 2, call=1))
        if labels is None or not labels.fits().explained:
            return
    if labels is None:
        return
    labels.begin_diagnosis()
    state = gathering.state
    state.tell("looking for the cause", state.queries + MOST)
    batches = diagnosing_batches(
        gathering.plan,
        labels.fits,
        labels.excess,
        lambda: -np.inf if fresh is None else fresh.log_odds,
        gathering.without,
    )
    for batch in batches:
        if not _ask(gathering, batch):
            break
    unexplained = not labels.fits().explained and (fresh is None or fresh.log_odds <= SURE)
    # or rather a fault that depends on the calls before
    if not order_alone and (labels.fits().single or unexplained):
        gathering.ask_more_in_order(_MORE_IN_ORDER)
    _simplify(gathering)


def _ask(gathering: Gathering, batch: Batch) -> bool:
    """Feeds labels for the diagnosis to all checks; False when the budget is used up."""
    size = min(batch.size, gathering.state.left)
    if size > 0:
        gathering.ask_what_is_served(replace(batch, size=size))
    return size == batch.size


def _simplify(gathering: Gathering) -> None:
    """Once the labels' law is refuted, looks for the simplest histogram that shows it."""
    state, observers = gathering.state, gathering.observers
    fits = None if observers.labels is None else observers.labels.fits()
    caching = gathering.plan.claim.mechanism.caching
    refuted = any(check and check.refuted for check in (observers.labels, observers.scale))
    if not refuted or fits is None or not fits.explained or caching:
        return
    call = 1 if fits.single else None
    budget = min(max(state.queries // 2, _LEAST_SEARCH), state.left)
    state.tell("looking for the simplest histogram", state.queries + budget)
    try:
        state.outcome.simplest = find_simplest(
            gathering.plan,
            fits.best,
            lambda stream, size: gathering.ask(Batch(stream, size, call=call)),
            budget,
        )
    except Refused as refusal:
        message = f"a simple histogram is refused: {refusal}"
        state.outcome.warn(Note("input-refused", message))


def explanations(checks: Sequence[EvidenceCheck]) -> Iterator[Explanation]:
    """The explanations that have a name; none where no check has failed.

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
            named = isinstance(check, LabelsFreshNoise | Order) and check.log_odds > least
        finding = check.fail_finding() if named else None
        if finding is not None and finding.log_odds is not None:
            yield Explanation(check, _with_interval(finding, checks), finding.log_odds)


def _with_interval(finding: Finding, checks: Sequence[EvidenceCheck]) -> Finding:
    """The finding, with the interval of the scale where its cause is a scale of all labels."""
    scale = next((check for check in checks if isinstance(check, LabelsNoiseScale)), None)
    of_all = finding.code in ("scale-too-small", "scale-too-large") and len(finding.fields) == 1
    left = scale.left if scale is not None and of_all else None
    return finding if left is None else replace(finding, diagnosis=f"{finding.diagnosis}; {left}")


def _depends(check: ClassProbabilities, orders: Sequence[Order]) -> bool:
    """Whether what looks like a fault of single calls depends on the calls before.

    Both are compared over the calls in turn, where either could show.
    """
    fits = check.fits()
    fault = check.plan.faults[fits.best] if fits.fitted is None else fits.fitted.fault
    return fits.single and any(order.depends_rather_than(fault) for order in orders)
