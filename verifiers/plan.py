"""What a run asks: streams of queries, each on one histogram, and the laws they are judged by."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .claim import Claim
from .evidence.scale import scale_factors
from .faults import Fault, fault_laws

Matrix = NDArray[np.float64]

SIMPLE = "simple"
"""Kind of the streams that are asked only to show a violation on the simplest histogram."""

FRESH, SINGLES = "fresh", "one-by-one"
"""Kinds of the streams asked in calls of one size, and in calls of one label."""

LATE = "late"
"""Kind of the anchor that is asked at the end alone, in turns with what others keep for it."""

PAIR = "pair"
"""Kind of two neighbouring histograms whose labels are audited."""

POOLED, GENERAL, POINTED = 0.25, 0.5, 0.25
"""Weights of the known faults on all streams at once, of deviations of any kind on one stream, and
of the known faults on one stream."""

ANCHOR_SHARE = 0.75
"""Share of a check's prior weight on its anchors; the rest is spread over probes and explorers."""


@dataclass(frozen=True)
class Stream:
    """Queries of one histogram: (c,) as asked, of a kind, `queries` of them planned.

    relabel: for a permuted histogram, the original class of each of its classes.
    """

    kind: str
    histogram: tuple[int, ...]
    queries: int
    relabel: tuple[int, ...] | None = None

    @property
    def is_anchor(self) -> bool:
        """Whether it is asked often enough to see the smallest effect."""
        return self.kind not in ("probe", SIMPLE, FRESH, SINGLES, PAIR, "explorer", "own")


@dataclass(frozen=True)
class Plan:
    """All streams of a run, with the pairs of them that a check compares.

    twins: check id -> (base stream, twin stream, pairs that the smallest effect needs).
    """

    claim: Claim
    streams: tuple[Stream, ...]
    twins: dict[str, tuple[int, int, int]] = field(hash=False)
    faults: tuple[Fault, ...]

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

    @cached_property
    def scale_log_laws(self) -> Matrix:
        """Log-probabilities (deep streams, factors, o) at every factor of the claimed scale."""
        claim = self.claim.mechanism
        histograms = self.histograms[: self.deep]
        laws = [
            claim.mechanism(claim.noise.times(float(factor))).log_probabilities(histograms)
            for factor in self.factors
        ]
        return np.stack(laws, 1)

    @cached_property
    def information(self) -> NDArray[np.float64]:
        """Fisher information (deep streams,) of a label about the log scale; 0 on simple ones."""
        at = int(np.argmin(np.abs(self.factors - 1.0)))
        laws = np.exp(self.scale_log_laws[:, at - 1 : at + 2])
        step = np.log(self.factors[at + 1] / self.factors[at - 1])
        slope = (laws[:, 2] - laws[:, 0]) / step
        found = (np.square(slope) / np.maximum(laws[:, 1], 1e-12)).sum(-1)
        asked = np.array([stream.queries > 0 for stream in self.streams[: self.deep]])
        return np.asarray(np.where(asked, found, 0.0))

    @cached_property
    def deep(self) -> int:
        """How many streams, the first ones, tell the noise scale: all but explorers and own."""
        return sum(stream.kind not in ("explorer", "own") for stream in self.streams)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Prior weights (streams,), summing to 1, of a deviation on each; none on simple ones."""
        anchors = np.array([stream.is_anchor for stream in self.streams])
        shares = np.where(anchors, ANCHOR_SHARE / anchors.sum(), 0.0)
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
