"""The laws of a log's histograms, each worked out once and then looked up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix
from .alternatives import Alternatives

EXPONENTS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""At which the chance that an alternative stays unseen is bounded (Chernoff)."""

_BYTES = 300_000_000  # of laws that are kept at once
_BATCH_BYTES = 30_000_000  # of those that are worked out at once


@dataclass(frozen=True)
class Laws:
    """Of n rows, each of one histogram with o outcomes, and of the labels that came.

    log_q: claimed log-probability (n,) of the label; scales: the same under each factor (n, f);
    ratios: of each alternative (n, a); below: probability (n, 2) of the outcomes before the label,
    in two orders; missed: log E[exp(-s r)] (n, s, a) of each alternative's
    log-ratio r were it true, at the exponents s of `EXPONENTS`; of_law: the claimed law (n, o).
    """

    log_q: Matrix
    scales: Matrix
    ratios: Matrix
    below: Matrix
    missed: Matrix
    of_law: Matrix


class LawTable:
    """Looks up laws by histogram."""

    def __init__(self, alternatives: Alternatives) -> None:
        self.alternatives = alternatives
        claim = alternatives.claim
        laws = 4 + alternatives.factors.size + alternatives.weights.size + len(EXPONENTS)
        self._each = 8 * laws * (claim.classes + 1)  # bytes
        self._places: dict[tuple[int, ...], int] = {}
        self._parts: list[Matrix] = []

    def rows(self, histograms: Sequence[tuple[int, ...]], outcomes: NDArray[np.int64]) -> Laws:
        """The laws of rows: histograms (n,), and the outcomes (n,) that came."""
        self._learn(histograms)
        at = np.array([self._places[histogram] for histogram in histograms])
        log_q, scales, ratios, below, missed = self._parts
        there = (at, outcomes)
        return Laws(
            log_q[there],
            scales[at, :, outcomes],
            ratios[at, :, outcomes],
            below[at, :, outcomes],
            missed[at],
            log_q[at],
        )

    def _learn(self, histograms: Sequence[tuple[int, ...]]) -> None:
        """Works out what is not known yet; forgets all where too many are kept."""
        new = [h for h in dict.fromkeys(histograms) if h not in self._places]
        if not new:
            return
        if self._places and len(self._places) + len(new) > _BYTES // self._each:
            self._places.clear()
            new = list(dict.fromkeys(histograms))
        batch = max(1, _BATCH_BYTES // self._each)
        for start in range(0, len(new), batch):
            self._add(new[start : start + batch])

    def _add(self, histograms: Sequence[tuple[int, ...]]) -> None:
        log_q, scales, ratios = self.alternatives.laws(np.array(histograms, dtype=np.float64))
        found = [log_q, scales, ratios, _below(log_q), _missed(log_q, ratios)]
        known = len(self._places)
        self._parts = [
            _with_room(self._parts[i] if self._parts else part[:0], known, len(histograms))
            for i, part in enumerate(found)
        ]
        for kept, part in zip(self._parts, found, strict=True):
            kept[known : known + len(histograms)] = part
        for place, histogram in enumerate(histograms, known):
            self._places[histogram] = place


def _with_room(kept: Matrix, known: int, more: int) -> Matrix:
    """The array itself if it has room for so many rows more than are known, else one twice as long.

    Doubled, so that learning many histograms copies each a few times at most.
    """
    if known + more <= len(kept):
        return kept
    larger = np.empty((max(known + more, 2 * len(kept)), *kept.shape[1:]), dtype=kept.dtype)
    larger[:known] = kept[:known]
    return larger


def _below(log_q: Matrix) -> Matrix:
    """Probability of the outcomes before each (b, 2, o): by rank, the likeliest first; by number.

    Too little noise shows in the first order, a class treated unlike the others in the second.
    """
    q = np.exp(log_q)
    order = np.argsort(-q, -1, kind="stable")
    ranked = np.take_along_axis(q, order, -1)
    by_rank = np.empty_like(q)
    np.put_along_axis(by_rank, order, np.cumsum(ranked, -1) - ranked, -1)
    return np.stack([by_rank, np.cumsum(q, -1) - q], 1)


def _missed(log_q: Matrix, ratios: Matrix) -> Matrix:
    """Log of sum P^(1 - s) Q^s (b, s, a), which bounds the chance of missing an alternative P.

    In single precision: it says how many rows are wanted, and is no evidence.
    """
    q, logs = log_q.astype(np.float32)[:, None], ratios.astype(np.float32)
    found = np.empty((len(q), len(EXPONENTS), ratios.shape[1]))
    for at, s in enumerate(EXPONENTS):
        terms = np.float32(1.0 - s) * logs
        terms += q
        found[:, at] = np.log(np.exp(terms, out=terms).sum(-1))
    return found
