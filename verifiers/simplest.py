"""The simplest histogram that still shows a violation, confirmed on fresh labels.

The run's own evidence is an average over many histograms, so the one it is heaviest on illustrates
but proves nothing by itself. Here simple histograms are tried from the simplest on, with labels
and a share of the error of their own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..reference import Histogram
from ..reference.mechanisms import Labels
from .checks.class_probabilities import ClassProbabilities, count_outcomes
from .evidence import PointedEvidence, dirichlet_log_e_value
from .faults import fault_laws
from .shares import SIMPLEST_SHARE, log_threshold

Ask = Callable[[Histogram, int], Labels]


@dataclass(frozen=True)
class Simplest:
    """A histogram on which fresh labels alone refute the claim."""

    histogram: tuple[int, ...]
    queries: int
    log_e_value: float


def find_simplest(check: ClassProbabilities, ask: Ask, budget: int) -> Simplest | None:
    """Tries simple histograms, the simplest first, within `budget` queries; None if none shows it.

    ask: `(histogram, size) -> labels`, which may raise as a target does.
    """
    plan = check.plan
    fault = check.likeliest_fault()
    if fault is None:
        return None
    candidates = np.array(
        list(_simple(plan.claim.mechanism.classes, plan.claim.mechanism.teachers))
    )
    log_q = np.asarray(plan.claim.mechanism.mechanism().log_probabilities(candidates.astype(float)))
    ratios = fault_laws([plan.faults[fault[0]]], log_q, candidates.astype(float)) - log_q[:, None]
    wanted = log_threshold(SIMPLEST_SHARE / len(candidates), plan.claim.gate.false_alarm)
    needed = _labels_needed(log_q, ratios[:, 0], wanted)
    spent = 0
    for at in np.flatnonzero(needed <= budget):
        size = int(needed[at])
        if spent + size > budget:
            break
        counts = count_outcomes(ask(candidates[at], size), log_q.shape[1])
        spent += size
        pointed = PointedEvidence(np.array([1.0]))
        pointed.observe(counts, ratios[at])
        general = dirichlet_log_e_value(counts, log_q[at], plan.claim.gate.smallest_effect)
        evidence = float(np.logaddexp(pointed.log_e_value, general) - np.log(2.0))
        if evidence >= wanted:
            return Simplest(tuple(int(v) for v in candidates[at]), size, evidence)
    return None


def _labels_needed(
    log_q: NDArray[np.float64], ratios: NDArray[np.float64], wanted: float
) -> NDArray[np.float64]:
    """Labels (b,) after which the likeliest fault should show on each candidate."""
    terms = np.exp(log_q + ratios) * ratios
    divergence = np.where(np.isfinite(terms), terms, 0.0).sum(-1)
    labels: NDArray[np.float64] = np.ceil(
        1.5 * (wanted + np.log(2.0)) / np.maximum(divergence, 1e-9)
    )
    return labels


def _simple(classes: int, total: int) -> Iterator[NDArray[np.int64]]:
    """Histograms of `total` votes, the simplest first: unanimous, two sides, one against many."""
    found = set()
    for share in (1.0, 0.5, 0.6, 0.7, 0.8, 0.9):
        for spread in (1, 2, classes - 1):
            rest = total - round(total * share)
            votes = np.zeros(classes, dtype=np.int64)
            votes[1 : 1 + spread] = rest // min(spread, classes - 1)
            votes[0] = total - votes.sum()
            if tuple(votes) not in found:
                found.add(tuple(votes))
                yield votes
