"""What a run asks: streams of queries, each on one histogram, and the laws they are judged by."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..claim import Claim
from ..evidence.scale import scale_factors
from .faults import Fault, fault_laws, turned_rows

Matrix = NDArray[np.float64]

SIMPLE = "simple"
"""Kind of the streams that are asked only to show a violation on the simplest histogram."""

FRESH, SINGLES = "fresh", "one-by-one"
"""Kinds of the streams asked in calls of one size, and in calls of one label."""

NEAR_TIE = "near-tie"
"""Kind of the anchor on which calls themselves are compared: its labels are hard to predict."""

LADDER = "clear-lead"
"""Kind of the streams whose leader is so far ahead that a shortcut may leave out the noise."""

EVEN = "even"
"""Kind of two neighbouring histograms with even votes, asked in turn."""

LATE = "late"
"""Kind of the anchor that is asked last.

It is interleaved with a reserved quarter of the telling anchors.
"""

EXPLORER = "explorer"
"""Kind of the streams that are many, and asked little."""

PAIR = "pair"
"""Kind of two neighbouring histograms whose labels are audited."""

POOLED, POOLED_SINGLES, POOLED_FIRST, GENERAL, POINTED = 0.25, 0.03, 0.02, 0.48, 0.22
"""Weights of the known faults on all streams at once, on all calls for one label at once, on the
first label of every histogram, of deviations of any kind on one stream, and of the known faults on
one stream."""

ANCHOR_SHARE = 0.75
"""Share of a check's prior weight on its anchors; the rest is spread over probes and explorers."""


SHARE_OF_ANCHORS = {NEAR_TIE: 0.5, "informative": 0.2}
"""What the costliest anchors have of that share: a nat saved there saves most queries."""


@dataclass(frozen=True)
class Stream:
    """Queries of one histogram: (c,) as asked, of a kind, `queries` of them planned.

    relabel: for a permuted histogram, the original class of each of its classes; turned: how many
    of the queries are asked with the classes numbered otherwise, so that a class that is treated
    unlike the others contends somewhere.
    """

    kind: str
    histogram: tuple[int, ...]
    queries: int
    relabel: tuple[int, ...] | None = None
    turned: int = 0

    @property
    def is_anchor(self) -> bool:
        """Whether it is asked often enough to see the smallest effect."""
        return self.kind not in (
            "probe",
            "typical",
            SIMPLE,
            FRESH,
            SINGLES,
            PAIR,
            EVEN,
            LADDER,
            "explorer",
            "own",
        )


@dataclass(frozen=True)
class Batch:
    """`size` labels of a stream, asked in calls for `call` labels each (in one where it is None).

    turn: by how many places the classes are numbered on, 0 for the histogram as it stands; other:
    a stream that is asked for one label after each label of this one, in calls for one label.
    """

    stream: int
    size: int
    turn: int = 0
    call: int | tuple[int, ...] | None = None
    other: int | None = None

    @property
    def labels(self) -> int:
        """Labels in all, those of the other stream included."""
        return self.size if self.other is None else 2 * self.size

    @property
    def calls(self) -> tuple[int, ...]:
        """Labels of each call; sizes that are given one by one come again until all are asked."""
        given = (self.size,) if self.call is None else self.call
        each = (given,) if isinstance(given, int) else given
        sizes: list[int] = []
        left = self.size
        while left > 0:
            sizes.append(min(each[len(sizes) % len(each)], left))
            left -= sizes[-1]
        return tuple(sizes)


@dataclass(frozen=True)
class Plan:
    """All streams of a run, with the pairs of them that a check compares.

    twins: check id -> (base stream, twin stream, pairs that the smallest effect needs).
    """

    claim: Claim
    streams: tuple[Stream, ...]
    twins: dict[str, tuple[int, int, int]] = field(hash=False)
    faults: tuple[Fault, ...]

    @property
    def in_turn(self) -> tuple[tuple[int, int], ...]:
        """Pairs of streams, two neighbouring histograms each, that are asked in turn."""
        kinds = [stream.kind for stream in self.streams]
        return tuple((kinds.index(k), kinds.index(k) + 1) for k in (PAIR, EVEN) if k in kinds)

    @cached_property
    def histograms(self) -> Matrix:
        """All histograms (streams, c)."""
        return np.array([stream.histogram for stream in self.streams], dtype=np.float64)

    @cached_property
    def log_q(self) -> Matrix:
        """The claimed log-probabilities (streams, o)."""
        return np.asarray(self.claim.mechanism.mechanism().log_probabilities(self.histograms))

    @cached_property
    def fault_log_ratios(self) -> Matrix:
        """Log-likelihood ratios (streams, faults, o) of the known faults against the claim."""
        laws = fault_laws(self.faults, self.log_q, self.histograms)
        with np.errstate(invalid="ignore"):
            return laws - self.log_q[:, None, :]

    @cached_property
    def factors(self) -> NDArray[np.float64]:
        """Factors of the noise scale whose likelihoods are followed."""
        return scale_factors(self.claim.gate.tolerance)

    def scale_log_laws(self, stream: int) -> Matrix:
        """Log-probabilities (factors, o) of a stream at every factor of the claimed scale."""
        histogram = self.streams[stream].histogram
        if histogram not in self._scale_log_laws:  # one that is asked in two ways has one law
            claim = self.claim.mechanism
            votes = np.array(histogram, dtype=np.float64)
            laws = [
                claim.mechanism(claim.noise.times(float(factor))).log_probabilities(votes)
                for factor in self.factors
            ]
            self._scale_log_laws[histogram] = np.stack(laws)
        return self._scale_log_laws[histogram]

    @cached_property
    def _scale_log_laws(self) -> dict[tuple[int, ...], Matrix]:
        return {}

    @cached_property
    def information(self) -> NDArray[np.float64]:
        """Fisher information (deep streams,) of a label about the log scale; 0 on simple ones."""
        at = int(np.argmin(np.abs(self.factors - 1.0)))
        step = float(np.log(self.factors[at + 1] / self.factors[at - 1]))
        claim, asked = self.claim.mechanism, self.histograms[: self.deep]
        above, below = (
            claim.mechanism(claim.noise.times(float(self.factors[i]))).log_probabilities(asked)
            for i in (at + 1, at - 1)
        )
        slope = (np.exp(above) - np.exp(below)) / step
        found = np.square(slope) / np.maximum(np.exp(self.log_q[: self.deep]), 1e-12)
        planned = np.array([stream.queries > 0 for stream in self.streams[: self.deep]])
        return np.asarray(np.where(planned, found.sum(-1), 0.0))

    @cached_property
    def deep(self) -> int:
        """How many streams, the first ones, tell the noise scale: all but explorers and own."""
        return sum(stream.kind not in ("explorer", "own") for stream in self.streams)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Prior weights (streams,), summing to 1, of a deviation on each; none on simple ones."""
        anchors = np.array([stream.is_anchor for stream in self.streams])
        share = anchor_shares([stream.kind for stream in self.streams if stream.is_anchor])
        shares = np.zeros(anchors.size)
        shares[anchors] = ANCHOR_SHARE * share
        others = ~anchors & np.array([stream.kind != SIMPLE for stream in self.streams])
        if others.any():
            shares = shares + others * (1.0 - ANCHOR_SHARE) / others.sum()
        return shares

    def first(self, kind: str) -> int:
        """The first stream of a kind."""
        return next(i for i, stream in enumerate(self.streams) if stream.kind == kind)

    @property
    def queries(self) -> int:
        """Queries of the whole plan."""
        return sum(stream.queries for stream in self.streams)

    @cached_property
    def fault_weights(self) -> NDArray[np.float64]:
        """Prior weights (faults,) of the known faults, summing to 1."""
        weights = np.array([fault.weight for fault in self.faults])
        return np.asarray(weights / weights.sum())

    def turned_ratios(self, stream: int, turn: int) -> Matrix:
        """`fault_log_ratios` (faults, o) of a stream whose classes are numbered on by `turn`.

        Of labels numbered back: a fault on class k acts there as it would on class k - turn here.
        Faults of classes whose law here is not among the known ones are not wagered on: ratio 1.
        """
        ratios: Matrix = self.fault_log_ratios[stream]
        if turn == 0:
            return ratios
        rows = turned_rows(self.faults, turn, self.claim.mechanism.classes)
        return np.asarray(np.where(rows[:, None] < 0, 0.0, ratios[rows]))


def anchor_shares(kinds: Sequence[str]) -> NDArray[np.float64]:
    """Shares (anchors,) of the anchors' prior weight, summing to 1; kinds: of each anchor."""
    wanted = np.array([SHARE_OF_ANCHORS.get(kind, 0.0) for kind in kinds])
    even = wanted == 0.0
    if even.any():
        wanted[even] = (1.0 - wanted.sum()) / even.sum()
    return np.asarray(wanted / wanted.sum())
