"""The laws of a log's histograms, each worked out once and then looked up."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix
from .alternatives import Alternatives

EXPONENTS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""At which the chance that an alternative stays unseen is bounded (Chernoff)."""

_BYTES = 300_000_000  # of laws that are kept at once
_TOGETHER = 512  # histograms that are worked out at once

Histogram = tuple[int, ...]


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


@dataclass(frozen=True)
class Wanted:
    """What rows need of a `LawTable`.

    at: the places (n,) of the rows' laws once all are learnt; new: the histograms to learn, in
    blocks; afresh: whether all others are forgotten before.
    """

    at: NDArray[np.intp]
    new: tuple[tuple[Histogram, ...], ...]
    afresh: bool


class LawTable:
    """Looks up laws by histogram: rows are planned, what is new is learnt, then they are looked up.

    Rows may be planned before earlier ones are learnt, in the same order. What is worked out
    together is so whoever works it out, and when.
    """

    def __init__(self, alternatives: Alternatives) -> None:
        claim = alternatives.claim
        laws = 4 + alternatives.factors.size + alternatives.weights.size + len(EXPONENTS)
        self._most = _BYTES // (8 * laws * (claim.classes + 1))
        self._places: dict[Histogram, int] = {}
        self._parts: list[Matrix] = []
        self._learnt = 0

    def plan(self, histograms: Sequence[Histogram]) -> Wanted:
        """What rows of these histograms (n,) need; all is forgotten where too much is kept."""
        distinct = dict.fromkeys(histograms)
        new = [h for h in distinct if h not in self._places]
        afresh = bool(new and self._places) and len(self._places) + len(new) > self._most
        if afresh:
            self._places.clear()
            new = list(distinct)
        for histogram in new:
            self._places[histogram] = len(self._places)
        at = np.array([self._places[h] for h in histograms], dtype=np.intp)
        blocks = (tuple(new[i : i + _TOGETHER]) for i in range(0, len(new), _TOGETHER))
        return Wanted(at, tuple(blocks), afresh)

    def learn(self, wanted: Wanted, found: Iterable[list[Matrix]]) -> None:
        """Keeps what `worked_out` has found of each block that is wanted."""
        if wanted.afresh:
            self._learnt = 0
        for block in found:
            known, more = self._learnt, len(block[0])
            self._parts = [
                _with_room(self._parts[i] if self._parts else part[:0], known, more)
                for i, part in enumerate(block)
            ]
            for kept, part in zip(self._parts, block, strict=True):
                kept[known : known + more] = part
            self._learnt += more

    def rows(self, wanted: Wanted, outcomes: NDArray[np.int64]) -> Laws:
        """The laws of rows that were planned and learnt: outcomes (n,) that came."""
        log_q, scales, ratios, below, missed = self._parts
        at, there = wanted.at, (wanted.at, outcomes)
        return Laws(
            log_q[there],
            scales[at, :, outcomes],
            ratios[at, :, outcomes],
            below[at, :, outcomes],
            missed[at],
            log_q[at],
        )


def worked_out(alternatives: Alternatives, histograms: Sequence[Histogram]) -> list[Matrix]:
    """What a `LawTable` keeps of each of a block of histograms."""
    log_q, scales, ratios = alternatives.laws(np.array(histograms, dtype=np.float64))
    return [log_q, scales, ratios, _below(log_q), _missed(log_q, ratios)]


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
