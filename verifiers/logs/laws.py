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
            self._parts = []
            new = list(dict.fromkeys(histograms))
        batch = max(1, _BATCH_BYTES // self._each)
        for start in range(0, len(new), batch):
            self._add(new[start : start + batch])

    def _add(self, histograms: Sequence[tuple[int, ...]]) -> None:
        log_q, scales, ratios = self.alternatives.laws(np.array(histograms, dtype=np.float64))
        parts = [log_q, scales, ratios, _below(log_q), _missed(log_q, ratios)]
        self._parts = (
            [np.concatenate([old, new]) for old, new in zip(self._parts, parts, strict=True)]
            if self._parts
            else parts
        )
        for histogram in histograms:
            self._places[histogram] = len(self._places)


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
    """Log of sum P^(1 - s) Q^s (b, s, a), which bounds the chance of missing an alternative P."""
    s = np.array(EXPONENTS)[:, None, None]
    logs = log_q[:, None, None] + (1.0 - s) * ratios[:, None]
    return np.asarray(np.logaddexp.reduce(logs, -1))
