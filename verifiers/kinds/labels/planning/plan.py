"""The plan of a run: streams of queries, each on one histogram, with their claimed laws."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....evidence.scale import scale_factors
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .extent import FULL, Extent
from .faults import Fault, divergences, fault_laws, rotated_rows
from .roles import Asked, Role
from .traffic import Traffic

if TYPE_CHECKING:
    from .rounding import ToSee

POOLED, POOLED_SINGLES, POOLED_FIRST, GENERAL, POINTED = 0.25, 0.03, 0.02, 0.48, 0.22
"""Weights of wagers, in order: known faults on all streams together, on all calls for one label
together and on the first label of every histogram; any deviation on one stream; known faults on one
stream."""

ANCHOR_SHARE = 0.75
"""Share of a check's prior weight on anchors; the rest is spread over the other streams."""


@dataclass(frozen=True)
class Stream:
    """The planned queries of one histogram (c,), in one role.

    relabel: for a permuted histogram, the original class of each of its classes; rotated: how many
    of the queries are asked under rotated class numbers, so that a class that is treated unlike the
    others is among the leaders somewhere; second: whether it asks the second of two inputs that
    have these votes.
    """

    role: Role
    histogram: tuple[int, ...]
    queries: int
    relabel: tuple[int, ...] | None = None
    rotated: int = 0
    second: bool = False

    @property
    def kind(self) -> str:
        """The role, as reports name it."""
        return self.role.kind

    @property
    def is_anchor(self) -> bool:
        """Whether this stream alone is asked often enough to see the smallest effect."""
        return self.role.anchor


@dataclass(frozen=True)
class Batch:
    """`size` labels of a stream, in calls for `call` labels each (None: in one call).

    rotation: of the class numbers, in places, 0 for the histogram as it stands; other: a
    stream that is asked for one label after each label of this one, in calls for one label.
    """

    stream: int
    size: int
    rotation: int = 0
    call: int | tuple[int, ...] | None = None
    other: int | None = None

    @property
    def labels(self) -> int:
        """Labels in all, those of the other stream included."""
        return self.size if self.other is None else 2 * self.size

    @property
    def calls(self) -> tuple[int, ...]:
        """Labels of each call; a list of sizes is repeated until all labels are asked."""
        given = (self.size,) if self.call is None else self.call
        each = (given,) if isinstance(given, int) else given
        sizes: list[int] = []
        left = self.size
        while left > 0:
            sizes.append(min(each[len(sizes) % len(each)], left))
            left -= sizes[-1]
        return tuple(sizes)


@dataclass(frozen=True)
class Pair:
    """Two streams of one role on neighbouring histograms, asked alternately."""

    role: Role
    first: int
    second: int

    @property
    def streams(self) -> tuple[int, int]:
        """The two streams, in the order asked."""
        return self.first, self.second


class ComparedStreams(NamedTuple):
    """Two streams that a check compares, and the label pairs needed to see the smallest effect."""

    base: int
    other: int
    pairs: int


@dataclass(frozen=True)
class Plan:
    """What one run asks: its streams, pairs of neighbours, and twins for symmetry checks.

    compared_streams: by check id; traffic: single queries in an order like production's; extent:
    how much is asked for breadth; roundings: what it takes to see those that are not claimed.
    """

    claim: LabelsClaim
    streams: tuple[Stream, ...]
    pairs: tuple[Pair, ...]
    compared_streams: dict[str, ComparedStreams] = field(hash=False)
    faults: tuple[Fault, ...]
    traffic: Traffic
    extent: Extent = FULL
    roundings: tuple["ToSee", ...] = ()

    def __post_init__(self) -> None:
        deep = [stream.role.deep for stream in self.streams]
        if deep != sorted(deep, reverse=True):
            raise ValueError("streams whose labels tell the noise scale come before all others")

    def pair(self, role: Role) -> Pair | None:
        """The pair of neighbours in a role; None where the plan has none."""
        return next((pair for pair in self.pairs if pair.role is role), None)

    @cached_property
    def queries_of_streams(self) -> Vector:
        """Labels (streams,) that are asked of each stream."""
        return np.array([stream.queries for stream in self.streams], dtype=np.float64)

    @cached_property
    def histograms(self) -> Matrix:
        """The histograms of the streams (streams, c)."""
        return np.array([stream.histogram for stream in self.streams], dtype=np.float64)

    @cached_property
    def log_q(self) -> Matrix:
        """The claimed log-probabilities (streams, o)."""
        return np.asarray(self.claim.mechanism.mechanism().log_probabilities(self.histograms))

    @cached_property
    def fault_log_ratios(self) -> Matrix:
        """Log-likelihood ratios (streams, faults, o) of the known faults against the claim."""
        asked = tuple(stream.histogram for stream in self.streams)
        return _log_ratios(self.faults, self.claim.mechanism, asked)

    @cached_property
    def fault_divergences(self) -> Matrix:
        """Kullback-Leibler divergences (streams, faults) from the claim, in nats per label."""
        return divergences(self.log_q[:, None, :] + self.fault_log_ratios, self.log_q[:, None, :])

    @cached_property
    def factors(self) -> NDArray[np.float64]:
        """Factors of the claimed noise scale whose likelihoods are computed."""
        return scale_factors(self.claim.gate.tolerance)

    def scale_log_laws(self, stream: int) -> Matrix:
        """Log-probabilities (factors, o) of a stream at every factor of the claimed scale."""
        histogram = self.streams[stream].histogram
        if histogram not in self._scale_log_laws:  # streams of one histogram share their laws
            claimed = self.claim.mechanism.mechanism()
            self._scale_log_laws[histogram] = claimed.log_probabilities_at(histogram, self.factors)
        return self._scale_log_laws[histogram]

    @cached_property
    def _scale_log_laws(self) -> dict[tuple[int, ...], Matrix]:
        return {}

    @cached_property
    def information(self) -> NDArray[np.float64]:
        """Fisher information (deep streams,) of a label on the log scale; 0 if none are planned."""
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
        """How many streams, which come first, are used to estimate the noise scale."""
        return sum(stream.role.deep for stream in self.streams)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Prior weights (streams,) of a deviation on each, summing to 1; 0 on those on demand."""
        anchors = np.array([stream.is_anchor for stream in self.streams])
        share = anchor_shares([stream.role for stream in self.streams if stream.is_anchor])
        shares = np.zeros(anchors.size)
        shares[anchors] = ANCHOR_SHARE * share
        searched = [stream.role.asked is not Asked.ON_DEMAND for stream in self.streams]
        others = ~anchors & np.array(searched)
        if others.any():
            shares = shares + others * (1.0 - ANCHOR_SHARE) / others.sum()
        return shares

    def of(self, role: Role) -> list[int]:
        """Indices of the streams in a role."""
        return [i for i, stream in enumerate(self.streams) if stream.role is role]

    def first(self, role: Role) -> int:
        """Index of the first stream in a role."""
        return self.of(role)[0]

    @property
    def queries(self) -> int:
        """Queries of all streams."""
        return sum(stream.queries for stream in self.streams)

    @cached_property
    def fault_weights(self) -> NDArray[np.float64]:
        """Prior weights (faults,) of the known faults, summing to 1."""
        weights = np.array([fault.weight for fault in self.faults])
        return np.asarray(weights / weights.sum())

    def rotated_ratios(self, stream: int, rotation: int) -> Matrix:
        """`fault_log_ratios` (faults, o) of a stream asked with rotated class numbers.

        Labels are rotated back: a fault of class k acts on class k - rotation of the stream. Where
        that fault is not among the known ones there is no wager, and the log-ratio is 0.
        """
        ratios: Matrix = self.fault_log_ratios[stream]
        if rotation == 0:
            return ratios
        if rotation not in self._rotated_rows:
            classes = self.claim.mechanism.classes
            self._rotated_rows[rotation] = rotated_rows(self.faults, rotation, classes)
        rows = self._rotated_rows[rotation]
        found = np.where(rows[:, None] < 0, 0.0, ratios[rows])
        for at, fault in enumerate(self.faults):
            if fault.numbered:
                found[at] = self._rotated_anew(stream, rotation)[at]
        return np.asarray(found)

    def _rotated_anew(self, stream: int, rotation: int) -> dict[int, Vector]:
        """Log-ratios (o,), by fault, of faults by teacher, computed on the rotated histogram."""
        if (stream, rotation) not in self._rotated_ratios:
            classes = self.claim.mechanism.classes
            at = [i for i, fault in enumerate(self.faults) if fault.numbered]
            votes = np.roll(self.histograms[stream], rotation)[None]
            log_q = self.log_q[[stream]].copy()
            log_q[:, :classes] = np.roll(log_q[:, :classes], rotation, -1)
            ratios = fault_laws([self.faults[i] for i in at], log_q, votes)[0] - log_q
            ratios[:, :classes] = np.roll(ratios[:, :classes], -rotation, -1)
            self._rotated_ratios[stream, rotation] = dict(zip(at, ratios, strict=True))
        return self._rotated_ratios[stream, rotation]

    @cached_property
    def _rotated_ratios(self) -> dict[tuple[int, int], dict[int, Vector]]:
        return {}

    @cached_property
    def _rotated_rows(self) -> dict[int, NDArray[np.int64]]:
        return {}


@lru_cache(maxsize=8)
def _log_ratios(
    faults: tuple[Fault, ...], claim: LabelsMechanism, asked: tuple[tuple[int, ...], ...]
) -> Matrix:
    """Kept for plans of the same histograms."""
    histograms = np.array(asked, dtype=np.float64)
    log_q = np.asarray(claim.mechanism().log_probabilities(histograms))
    with np.errstate(invalid="ignore"):
        ratios: Matrix = fault_laws(faults, log_q, histograms) - log_q[:, None, :]
    ratios.flags.writeable = False
    return ratios


def anchor_shares(roles: Sequence[Role]) -> NDArray[np.float64]:
    """Share (anchors,) of the anchors' prior weight by role, summing to 1."""
    wanted = np.array([role.weight or 0.0 for role in roles])
    even = wanted == 0.0
    if even.any():
        wanted[even] = (1.0 - wanted.sum()) / even.sum()
    return np.asarray(wanted / wanted.sum())
