"""Partitions that are selected at another limit, by a noisy count or by the exact one.

For diagnoses alone: what is found here names the cause of what wagers have refuted.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from .....reference.tables import Selection, Threshold
from ....findings.note import Note
from .selected import WITHOUT_NOISE

_COSTS = 5.0  # nats: the limit is fitted
_LEAST = -50.0  # nats that a partition costs at most
_TRIED = 200  # limits

Rates = Mapping[float, tuple[int, int]]
"""By the exact count of a partition, how often such ones came, and of how many."""


def other_limits(claimed: Selection, rates: Rates) -> list[tuple[Note, float]]:
    """The likeliest other limits, each with its log-odds to the claim; none where nothing came."""
    counts = np.array(sorted(rates))
    came = np.array([rates[count][0] for count in counts], dtype=float)
    left = np.array([rates[count][1] for count in counts]) - came

    def log_likelihood(selection: Selection) -> float:
        kept, dropped = (
            np.maximum(logs, _LEAST)
            for logs in (selection.log_kept(counts), selection.log_dropped(counts))
        )
        return float(came @ kept + left @ dropped)

    if not counts.size:
        return []
    claim, found = log_likelihood(claimed), list[tuple[Note, float]]()
    never, always = counts[came == 0], counts[left == 0]
    apart = never.size and always.size and never.size + always.size == counts.size
    if apart and float(never.max()) < float(always.min()):
        last, first = float(never.max()), float(always.min())
        words = (
            f"partitions with an exact count from {first:g} on are released, and those up to "
            f"{last:g} are not: their noise does not decide"
        )
        cause = Note("suppressed-by-exact-number", words, {"up_to": last, "released_from": first})
        if isinstance(claimed, Threshold) and last <= claimed.threshold <= first:
            cause = WITHOUT_NOISE
        found.append((cause, -claim - _COSTS))
    if isinstance(claimed, Threshold):
        tried = [
            replace(claimed, threshold=float(limit))
            for limit in np.linspace(0.0, max(claimed.threshold, counts.max()), _TRIED)
        ]
        best = max(tried, key=log_likelihood)
        limit = float(f"{best.threshold:.3g}")
        code = "threshold-too-low" if limit < claimed.threshold else "threshold-too-high"
        words = f"partitions are released from a noisy count of about {limit:g}"
        note = Note(code, words, {"threshold": limit, "claimed": claimed.threshold})
        if math.isfinite(claim):
            found.append((note, log_likelihood(best) - claim - _COSTS))
    return found
