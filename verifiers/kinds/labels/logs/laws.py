"""The laws that a log is held to, and a table of those of its histograms, each computed once.

Other laws than the claimed one are wagered on. They are fewer than for a target, as a log may hold
a new histogram in every row, whose law under every alternative must be computed. The noise scales
among them also give the interval.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .....reference.arrays import Matrix, Vector
from .....reference.shared_nodes import REACHES
from ....evidence.dirichlet import LEAK, with_leak
from ....findings.note import Note
from ..mechanism import LabelsMechanism
from ..planning.faults import known_faults, scale_note
from ..planning.laws import fault_laws

EXPONENTS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Exponents of Chernoff's bound on the probability of missing an alternative."""

POWERS = np.array([0.5, 1.0, 2.0, 5.0, 20.0, 100.0])
"""Exponents of Chernoff's bound on what rows without noise gain. Where no chance is left in a row,
the largest costs next to nothing; where the row may be refused, a smaller one does best."""

ROUNDING = 1e-9
"""Of probabilities, and of nats that a row without noise may lose."""

_NEAR = (0.02, 0.03, 0.05, 0.08, 0.13, 0.2, 0.3)
_WIDE = (1.5, 2.0, 4.0, 20.0)
_OF_SCALES = 0.5  # weight of the wagers on other scales; the rest is on other faults
_LEFT_OUT = {0.03: "3 %", 0.1: "10 %", 0.3: "30 %"}  # of the labels other than the plurality's
_BYTES = 300_000_000  # most bytes of laws that are kept
_TOGETHER = 512  # histograms whose laws are computed together

Histogram = tuple[int, ...]


class Alternatives:
    """Laws other than the claimed one: noise scales, known faults, then selected rows.

    answered: whether laws are conditional on an answer, for logs that leave out refusals. factors:
    of the noise scale (f,), with 1 and 1 +- tolerance among them, and 1 at `claimed`; bare: index
    among all alternatives of noise that is missing; weights: of the wagers (a,), which sum to 1;
    causes: each alternative in words to follow "labels fit".
    """

    def __init__(self, claim: LabelsMechanism, tolerance: float, *, answered: bool) -> None:
        self.claim, self.answered = claim, answered and claim.refuses
        up = np.array([1.0 + near for near in (*_NEAR, tolerance)] + list(_WIDE))
        self.factors = np.unique(np.concatenate([1.0 / up, up, [1.0, 1.0 - tolerance]]))
        self.claimed = int(np.argmin(np.abs(self.factors - 1.0)))
        self.others = np.delete(self.factors, self.claimed)
        self.faults = known_faults(claim, cheap=True)
        self.bare = self.others.size  # the first fault, after the other scales
        relative = np.array([fault.weight for fault in self.faults] + [1.0] * len(_LEFT_OUT))
        scales = np.full(self.others.size, _OF_SCALES / self.others.size)
        rest = (1.0 - _OF_SCALES) * relative / relative.sum()
        self.weights = np.concatenate([scales, rest])
        self.causes = [
            *(
                scale_note(claim.noise.times(f), f, f"{f:.3g} times the claimed scale")
                for f in self.others.tolist()
            ),
            *(fault.note for fault in self.faults),
            *(
                Note(
                    "other-labels-missing",
                    f"{rate} fewer labels other than the plurality's (rows left out by their "
                    "label, or noise that is at times too small)",
                    {"share": share},
                )
                for share, rate in _LEFT_OUT.items()
            ),
        ]

    def scale_laws(self, histograms: Matrix, factors: Vector) -> Matrix:
        """Log-laws (b, f, o) of histograms (b, c) under any factors (f,) of the claimed scale."""
        found = self._of_scales(histograms, factors)
        return _given_an_answer(found) if self.answered else found

    def _of_scales(self, histograms: Matrix, factors: Vector) -> Matrix:
        noises = [self.claim.noise.times(factor) for factor in factors.tolist()]
        each = [
            self.claim.mechanism(noise).log_probabilities(_near(histograms, noise.scale))
            for noise in noises
        ]
        return np.stack([np.asarray(one) for one in each], 1)

    def laws(self, histograms: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """For histograms (b, c): log Q (b, o), log-laws of scales (b, f, o), log-ratios (b, a, o).

        Each alternative is mixed with a little of the claimed law, so that no label rules it out.
        """
        near = _near(histograms, self.claim.noise.scale)
        scales = self._of_scales(histograms, self.factors)
        faults = fault_laws(self.faults, scales[:, self.claimed], near)
        if self.answered:
            scales, faults = _given_an_answer(scales), _given_an_answer(faults)
        claimed = scales[:, self.claimed]
        q = claimed[:, None]
        others = with_leak(np.delete(scales, self.claimed, 1), q)
        selected = with_leak(_selection_laws(claimed, histograms), q)
        with np.errstate(invalid="ignore"):
            ratios = np.concatenate([others, faults, selected], 1) - q
        return claimed, scales, np.where(np.isnan(ratios), 0.0, ratios)


def _near(histograms: Matrix, scale: float) -> Matrix:
    """Histograms (b, c) with classes moved to within `REACHES[-1]` noise scales of the leader.

    A class at that distance wins with probability below 1e-140, more than further behind. So the
    evidence only loses by it, and all laws can use shared quadrature nodes.
    """
    lowest = histograms.max(-1, keepdims=True) - REACHES[-1] * scale
    return np.asarray(np.maximum(histograms, lowest))


def _selection_laws(claimed: Matrix, histograms: Matrix) -> Matrix:
    """Log-laws (b, s, o) of the rows that remain where some were left out by their labels.

    claimed: the claimed log-laws (b, o); histograms: (b, c); refusals all remain.
    """
    classes = histograms.shape[1]
    minority = np.zeros(claimed.shape, dtype=bool)
    minority[:, :classes] = np.arange(classes) != histograms.argmax(-1)[:, None]
    found = [claimed + np.where(minority, np.log1p(-rate), 0.0) for rate in _LEFT_OUT]
    return np.stack([left - np.logaddexp.reduce(left, -1, keepdims=True) for left in found], 1)


def _given_an_answer(log_laws: Matrix) -> Matrix:
    """Log-laws (..., o) conditional on an answer, without the last outcome, a refusal."""
    found = log_laws.copy()
    found[..., -1] = -np.inf
    return np.asarray(found - np.logaddexp.reduce(found, -1, keepdims=True))


class Shows(NamedTuple):
    """What rows add to the evidence if their noise is missing.

    gains: (n, s), by which the log-ratio of missing noise grows, at each exponent of `POWERS`:
    -log E[exp(-s r)] / s; moments: (n, a, 5) of the log-ratio r of each alternative, with mean m
    and second moment q under the claim, m' and q' without noise: m, d = m' - m, q - m^2,
    q' - q - 2 m d, d^2. So r of a row that has no noise with probability p has the mean m + p d and
    the variance (q - m^2) + p (q' - q - 2 m d) - p^2 d^2.
    """

    gains: Matrix
    moments: Matrix


def _shows(log_q: Matrix, ratios: Matrix, bare: int) -> Shows:
    """Of histograms with log Q (b, o) and log-ratios (b, a, o); bare: index of missing noise."""
    q, ratio = np.exp(log_q), ratios[:, bare]
    without = np.exp(log_q + ratio) - LEAK * q  # the wager has some of the claim
    without = np.where(without > ROUNDING * q, without, 0.0)
    without /= without.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.log(without)
    gains = [-logsumexp(logs - s * ratio, axis=-1) / s for s in POWERS]
    finite = np.where(q[:, None] > 0.0, ratios, 0.0)
    mean, square = (np.einsum("bo,bao->ba", q, finite**k) for k in (1, 2))
    bare_mean, bare_square = (np.einsum("bo,bao->ba", without, finite**k) for k in (1, 2))
    d = bare_mean - mean
    moments = [mean, d, square - mean**2, bare_square - square - 2.0 * mean * d, d**2]
    return Shows(np.stack(gains, -1), np.stack(moments, -1))


class Laws(NamedTuple):
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


class Wanted(NamedTuple):
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
        laws = 6 + alternatives.factors.size + alternatives.weights.size + len(EXPONENTS)
        self._most = _BYTES // (8 * laws * (alternatives.claim.classes + 1))
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
        """Adds `laws_of` each wanted block."""
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
        at = wanted.at
        return Laws(
            log_q[at, outcomes],
            scales[at, :, outcomes],
            ratios[at, :, outcomes],
            below[at, :, outcomes],
            missed[at],
            log_q[at],
            Shows(*(part[at] for part in shows)),
        )


def laws_of(alternatives: Alternatives, histograms: Sequence[Histogram]) -> list[Matrix]:
    """The arrays that a `LawTable` keeps, for a block of histograms."""
    log_q, scales, ratios = alternatives.laws(np.array(histograms, dtype=np.float64))
    shows = _shows(log_q, ratios, alternatives.bare)
    return [log_q, scales, ratios, _below(log_q), _log_misses(log_q, ratios), *shows]


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


def _log_misses(log_q: Matrix, ratios: Matrix) -> Matrix:
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
