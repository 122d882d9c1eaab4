"""Once a run is refuted: labels that tell the cause, the simplest histogram that shows it, causes.

A cause is a fault of the law of labels, noise that is used again, or noise that depends on the
calls before.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .....reference.mechanisms import Labels
from ....evidence.dirichlet import PointedEvidence, dirichlet_log_e_value
from ....evidence.outcomes import count_outcomes
from ....evidence.power import small_ratios_to_see
from ....findings.evidence_text import an_e_value
from ....findings.finding import Finding
from ....findings.note import Note
from ....run.cause import SURE, Explanation
from ....run.checks import EvidenceCheck
from ....run.error_budget import log_threshold
from ....run.outcome import NotShown
from ....targets import Refused
from ....text import counted
from ..checks import ClassProbabilities, LabelsFreshNoise, Order
from ..checks.fits import MOST
from ..checks.noise_scale import LabelsNoiseScale
from ..planning.plan import Plan
from ..planning.streams import LabelBatch, Role
from ..registry import SIMPLEST_SHARE
from .diagnosis import diagnosing_batches
from .gathering import LabelsGathering

_MORE_IN_ORDER = 512  # calls in turn that tell on what noise depends
_OFTEN = 1.645  # quantile of the normal law: labels show a fault with probability 0.95
_LEAST_SEARCH = 1024  # queries that the search for a simplest histogram may always take


def explain(gathering: LabelsGathering) -> None:
    """Asks on until the cause of a failure is told from its rivals, then for a simplest case."""
    labels, fresh = gathering.observers.labels, gathering.observers.fresh
    refuted = [check for check in gathering.observers.checks if check.refuted]
    order_alone = refuted == [gathering.observers.order]  # more calls in turn tell the cause
    if order_alone:
        gathering.state.tell("looking for the cause")
        gathering.ask_more_in_order(_MORE_IN_ORDER)
        if labels is not None:  # a fault that has set in meanwhile shows in any calls
            informative = gathering.plan.first(Role.INFORMATIVE)
            _ask(gathering, LabelBatch(informative, _MORE_IN_ORDER // 2, call=1))
        if labels is None or not labels.seen.fits().explained:
            return
    if labels is None or labels.shown_by_branches:  # the place is known
        return
    labels.seen.begin_diagnosis()
    state = gathering.state
    state.tell("looking for the cause", state.queries + MOST)
    batches = diagnosing_batches(
        gathering.plan,
        labels.seen.fits,
        labels.seen.excess,
        lambda: -np.inf if fresh is None else fresh.log_odds,
        gathering.without,
    )
    for batch in batches:
        if not _ask(gathering, batch):
            break
    unexplained = not labels.seen.fits().explained and (fresh is None or fresh.log_odds <= SURE)
    # or rather a fault that depends on the calls before
    if not order_alone and (labels.seen.fits().single or unexplained):
        gathering.ask_more_in_order(_MORE_IN_ORDER)
    _simplify(gathering)


def _ask(gathering: LabelsGathering, batch: LabelBatch) -> bool:
    """Feeds labels for the diagnosis to all checks; False when the budget is used up."""
    size = min(batch.size, gathering.state.left)
    if size > 0:
        gathering.ask_what_is_served(replace(batch, size=size))
    return size == batch.size


def _simplify(gathering: LabelsGathering) -> None:
    """Once the labels' law is refuted, looks for the simplest histogram that shows it."""
    state, observers = gathering.state, gathering.observers
    fits = None if observers.labels is None else observers.labels.seen.fits()
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
            lambda stream, size: gathering.ask(LabelBatch(stream, size, call=call)),
            budget,
        )
    except Refused as refusal:
        message = f"a simple histogram is refused: {refusal}"
        state.outcome.warn(Note("input-refused", message))


@dataclass(frozen=True)
class SimplestHistogram:
    """A histogram on which `queries` fresh labels alone refute the claim; its name in messages."""

    histogram: tuple[int, ...]
    queries: int
    log_e_value: float
    name: str

    def __str__(self) -> str:
        return (
            f"{self.queries} labels of the simplest histogram that shows it give "
            f"{an_e_value(self.log_e_value / np.log(10.0))}"
        )

    def shown_in(self, check: str, finding: Finding) -> Finding:
        if not _is_of_one(check, finding):
            return finding
        where = ""
        if finding.histogram != self.histogram:  # the labels told of are of another one
            where = f", {self.name}"
        message = f"{finding.message}; {self}{where}"
        return replace(finding, message=message, histogram=self.histogram)


def _is_of_one(check: str, finding: Finding) -> bool:
    """Whether a finding is of one histogram: what depends on earlier calls shows on none alone."""
    return check != Order.id and finding.histogram is not None


def find_simplest(
    plan: Plan, fault: int, ask: Callable[[int, int], Labels], budget: int
) -> SimplestHistogram | NotShown | None:
    """Tries the simple histograms of the plan within `budget` queries; None if none was asked.

    The run's own evidence is an average over many histograms: here labels and a share of the error
    are their own. fault: index of the likeliest known fault, which says how many labels each takes;
    ask: `(stream, size) -> labels`, fresh ones, which may raise as a target does.
    """
    simple = plan.of(Role.SIMPLE)
    wanted = log_threshold(SIMPLEST_SHARE / len(simple), plan.claim.gate.false_alarm)
    tried = list[int]()
    for stream in simple:
        law = plan.log_q[stream] + plan.fault_log_ratios[stream, fault]
        # of what is wanted mixing takes log 4
        size = small_ratios_to_see(law, plan.log_q[stream], wanted + float(np.log(4.0)), _OFTEN)
        if size > budget:
            continue
        budget -= size
        counts = count_outcomes(ask(stream, size), plan.log_q.shape[1])
        pointed = PointedEvidence(np.array([1.0]))
        pointed.observe(counts, plan.fault_log_ratios[stream, fault][None])
        effect = plan.claim.gate.smallest_effect
        general = dirichlet_log_e_value(counts, plan.log_q[stream], effect)
        evidence = float(np.logaddexp(pointed.log_e_value, general) - np.log(2.0))
        if evidence >= wanted:
            votes = plan.streams[stream].histogram
            return SimplestHistogram(votes, size, evidence, plan.claim.named(votes))
        tried.append(size)
    histograms = counted(len(tried), "simple histogram", "simple histograms")
    return NotShown(histograms, f"{sum(tried):,} labels", _is_of_one) if tried else None


def explanations(checks: Sequence[EvidenceCheck]) -> Iterator[Explanation]:
    """The explanations that have a name; none where no check has failed.

    What depends on the calls before looks, to the check of laws, like a fault of single calls.
    """
    if not any(check.refuted for check in checks):
        return
    laws = [check.seen.fits() for check in checks if isinstance(check, ClassProbabilities)]
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
    fields = [name for name in finding.fields if not name.startswith("nearly")]
    of_all = finding.code in ("scale-too-small", "scale-too-large") and fields == ["factor"]
    left = scale.left if scale is not None and of_all else None
    return finding if left is None else replace(finding, diagnosis=f"{finding.diagnosis}; {left}")


def _depends(check: ClassProbabilities, orders: Sequence[Order]) -> bool:
    """Whether what looks like a fault of single calls depends on the calls before.

    Both are compared over the calls in turn, where either could show.
    """
    fits = check.seen.fits()
    fault = check.plan.faults[fits.best] if fits.fitted is None else fits.fitted.fault
    return fits.single and any(order.depends_rather_than(fault) for order in orders)
