"""A table of the laws of a log's histograms, each computed once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix
from .alternatives import Alternatives
from .missing_noise import Shows, shows_of

EXPONENTS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Exponents of Chernoff's bound on the probability of missing an alternative."""

_BYTES = 300_000_000  # most bytes of laws that are kept
_TOGETHER = 512  # histograms whose laws are computed together

Histogram = tuple[int, ...]


@dataclass(frozen=True)
class Laws:
    """The laws of n rows, each a histogram with o outcomes, at the labels observed.

    log_q: claimed log-probability (n,) of the label; scales: log-probability (n, f) under each
    scale factor; ratios: log-ratio (n, a) of each alternative; below: probability (n, 2) of the
    outcomes before the label, in two orders; missed: log E[exp(-s r)] (n, s, a) of each
    alternative's log-ratio r under itself, at exponents s; of_law: the claimed log-law (n, o);
    shows: what each row would gain if its noise were missing.
    """

    log_q: Matrix
    scales: Matrix
    ratios: Matrix
    below: Matrix
    missed: Matrix
    of_law: Matrix
    shows: Shows


@dataclass(frozen=True)
class Wanted:
    """What rows need from a `LawTable`.

    at: index (n,) of the law of each row, once all are computed; new: histograms to compute, in
    blocks; afresh: whether the table is emptied first.
    """

    at: NDArray[np.intp]
    new: tuple[tuple[Histogram, ...], ...]
    afresh: bool


class LawTable:
    """A table of laws by histogram: `plan` rows, `learn` new laws, then look up `rows`.

    Rows may be planned before earlier ones are learnt, in the same order. Which laws are computed
    together does not depend on who computes them.
    """

    def __init__(self, alternatives: Alternatives) -> None:
        claim = alternatives.claim
        laws = 6 + alternatives.factors.size + alternatives.weights.size + len(EXPONENTS)
        self._most = _BYTES // (8 * laws * (claim.classes + 1))
        self._places: dict[Histogram, int] = {}
        self._parts: list[Matrix] = []
        self._learnt = 0

    def plan(self, histograms: Sequence[Histogram]) -> Wanted:
        """What rows with these histograms (n,) need; a table that is too large is emptied."""
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
        """Adds the results of `worked_out` for each wanted block."""
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
        """The laws of rows that were planned and learnt, at the outcomes (n,) observed."""
        log_q, scales, ratios, below, missed, *shows = self._parts
        at, there = wanted.at, (wanted.at, outcomes)
        return Laws(
            log_q[there],
            scales[at, :, outcomes],
            ratios[at, :, outcomes],
            below[at, :, outcomes],
            missed[at],
            log_q[at],
            Shows(*(part[at] for part in shows)),
        )


def worked_out(alternatives: Alternatives, histograms: Sequence[Histogram]) -> list[Matrix]:
    """The arrays that a `LawTable` keeps, for a block of histograms."""
    log_q, scales, ratios = alternatives.laws(np.array(histograms, dtype=np.float64))
    shows = shows_of(log_q, ratios, alternatives.bare)
    return [log_q, scales, ratios, _below(log_q), _missed(log_q, ratios), *shows]


def _with_room(kept: Matrix, known: int, more: int) -> Matrix:
    """The array if it has room for `more` rows after `known` ones, else a copy twice as long."""
    if known + more <= len(kept):
        return kept
    larger = np.empty((max(known + more, 2 * len(kept)), *kept.shape[1:]), dtype=kept.dtype)
    larger[:known] = kept[:known]
    return larger


def _below(log_q: Matrix) -> Matrix:
    """Probability (b, 2, o) of the outcomes before each: likeliest first, and by class number.

    Too little noise shows in the first order, a class treated unlike the others in the second.
    """
    q = np.exp(log_q)
    order = np.argsort(-q, -1, kind="stable")
    ranked = np.take_along_axis(q, order, -1)
    by_rank = np.empty_like(q)
    np.put_along_axis(by_rank, order, np.cumsum(ranked, -1) - ranked, -1)
    return np.stack([by_rank, np.cumsum(q, -1) - q], 1)


def _missed(log_q: Matrix, ratios: Matrix) -> Matrix:
    """Log of sum P^(1 - s) Q^s (b, s, a), which bounds the probability of missing alternative P.

    In single precision, as it is used for numbers of rows, not as evidence.
    """
    q, logs = log_q.astype(np.float32)[:, None], ratios.astype(np.float32)
    found = np.empty((len(q), len(EXPONENTS), ratios.shape[1]))
    for at, s in enumerate(EXPONENTS):
        terms = np.float32(1.0 - s) * logs
        terms += q
        found[:, at] = np.log(np.exp(terms, out=terms).sum(-1))
    return found
