"""The simplest histogram that still shows a violation, confirmed on fresh labels.

The run's own evidence is an average over many histograms, so the one it is heaviest on illustrates
but proves nothing by itself. Here the simple histograms of the plan are tried, the simplest first,
with labels and a share of the error of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .....reference.mechanisms import Labels
from ....evidence import PointedEvidence, count_outcomes, dirichlet_log_e_value
from ....findings.evidence_text import an_e_value
from ....findings.finding import Finding
from ....run.error_budget import log_threshold
from ..checks import Order
from ..planning.plan import Plan
from ..planning.roles import Role
from ..registry import SIMPLEST_SHARE

Ask = Callable[[int, int], Labels]


@dataclass(frozen=True)
class Simplest:
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
        """What depends on the calls before shows on none alone."""
        if check == Order.id or finding.histogram is None:
            return finding
        where = ""
        if finding.histogram != self.histogram:  # the labels told of are of another one
            where = f", {self.name}"
        message = f"{finding.message}; {self}{where}"
        return replace(finding, message=message, histogram=self.histogram)


def find_simplest(plan: Plan, fault: int, ask: Ask, budget: int) -> Simplest | None:
    """Tries the simple histograms within `budget` queries; None if none of them shows a violation.

    fault: index of the likeliest known fault, which says how many labels each would take;
    ask: `(stream, size) -> labels`, fresh ones, which may raise as a target does.
    """
    simple = plan.of(Role.SIMPLE)
    wanted = log_threshold(SIMPLEST_SHARE / len(simple), plan.claim.gate.false_alarm)
    needed = _labels_needed(plan, simple, fault, wanted)
    for stream, size in zip(simple, needed, strict=True):
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
            return Simplest(votes, size, evidence, plan.claim.named(votes))
    return None


def _labels_needed(plan: Plan, streams: list[int], fault: int, wanted: float) -> list[int]:
    """Labels after which the fault shows on each stream with probability 0.95."""
    ratios: NDArray[np.float64] = plan.fault_log_ratios[streams, fault]
    law = np.exp(plan.log_q[streams] + ratios)
    finite = np.where(np.isfinite(ratios), ratios, 0.0)
    mean = np.maximum((law * finite).sum(-1), 1e-9)
    spread = np.sqrt(np.maximum((law * finite**2).sum(-1) - mean**2, 0.0))
    # n mean - 1.645 sqrt(n) spread reaches what is wanted, of which mixing takes log 4
    root = 1.645 * spread / (2.0 * mean)
    needed = np.ceil((root + np.sqrt(root**2 + (wanted + np.log(4.0)) / mean)) ** 2)
    return [int(n) for n in needed]
