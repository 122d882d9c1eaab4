"""The plan of a run: streams of queries, each on one histogram, with their claimed laws."""

from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....evidence.kept_noise import Joint
from ....evidence.outcomes import Outcomes, as_outcomes
from ....evidence.scale import scale_factors
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .laws import LabelFault, divergences, fault_laws, information
from .streams import FULL, ComparedStreams, Extent, Role, Stream, StreamPair, WayOfAsking
from .traffic import Traffic

POOLED, POOLED_SINGLES, POOLED_FIRST, GENERAL, POINTED = 0.24, 0.03, 0.02, 0.46, 0.20
"""Weights of wagers, in order: known faults on all streams together, on all calls for one label
together and on the first label of every histogram; any deviation on one stream; known faults on one
stream."""

BRANCHES = 0.05
"""The rest: of inputs steered to decisions of the target's code, whether or not there are any."""

ANCHOR_SHARE = 0.75
"""Share of a check's prior weight on anchors; the rest is spread over the other streams."""

_DRAWS, _LEAST_DRAWS = 20_000, 1_000  # of simulated common noise
_MOST_NUMBERS = 4_000_000  # of noise, so that many classes are simulated in time


@dataclass(frozen=True)
class FaultToSee:
    """A fault, the histogram (c,) where it shows soonest, and the labels that it takes there.

    moves: total variation by which it moves the law there.
    """

    fault: LabelFault
    histogram: tuple[int, ...]
    queries: int
    moves: float


@dataclass(frozen=True)
class Plan:
    """What one run asks: its streams, pairs of neighbours, and twins for symmetry checks.

    compared_streams: by check id; traffic: single queries in an order like production's; extent:
    how much is asked for breadth; roundings: what it takes to see those that are not claimed.
    """

    claim: LabelsClaim
    streams: tuple[Stream, ...]
    pairs: tuple[StreamPair, ...]
    compared_streams: dict[str, ComparedStreams] = field(hash=False)
    faults: tuple[LabelFault, ...]
    traffic: Traffic
    extent: Extent = FULL
    roundings: tuple[FaultToSee, ...] = ()
    _rotated_ratios: dict[tuple[int, int], Matrix] = field(
        default_factory=dict, init=False, compare=False
    )

    def __post_init__(self) -> None:
        deep = [stream.role.deep for stream in self.streams]
        if deep != sorted(deep, reverse=True):
            raise ValueError("streams whose labels tell the noise scale come before all others")

    # -- streams ---------------------------------------------------------------------------------

    def of(self, role: Role) -> list[int]:
        """Indices of the streams in a role."""
        return [i for i, stream in enumerate(self.streams) if stream.role is role]

    def first(self, role: Role) -> int:
        """Index of the first stream in a role."""
        return self.of(role)[0]

    def pair(self, role: Role) -> StreamPair | None:
        """The pair of neighbours in a role; None where the plan has none."""
        return next((pair for pair in self.pairs if pair.role is role), None)

    @cached_property
    def deep(self) -> int:
        """How many streams, which come first, are used to estimate the noise scale."""
        return sum(stream.role.deep for stream in self.streams)

    @property
    def queries(self) -> int:
        """Queries of all streams."""
        return sum(stream.queries for stream in self.streams)

    @cached_property
    def queries_of_streams(self) -> Vector:
        """Labels (streams,) that are asked of each stream."""
        return np.array([stream.queries for stream in self.streams], dtype=np.float64)

    @cached_property
    def histograms(self) -> Matrix:
        """The histograms of the streams (streams, c)."""
        return np.array([stream.histogram for stream in self.streams], dtype=np.float64)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Prior weights (streams,) of a deviation on each, summing to 1; 0 on those on demand."""
        anchors = np.array([stream.is_anchor for stream in self.streams])
        asked = np.array(
            [stream.role.asked is not WayOfAsking.ON_DEMAND for stream in self.streams]
        )
        wanted = np.array(
            [stream.role.weight or 0.0 for stream in self.streams if stream.is_anchor]
        )
        even, others = wanted == 0.0, ~anchors & asked
        if even.any():
            wanted[even] = (1.0 - wanted.sum()) / even.sum()
        shares = np.zeros(anchors.size)
        shares[anchors] = ANCHOR_SHARE * (wanted / wanted.sum())
        if others.any():
            shares = shares + others * (1.0 - ANCHOR_SHARE) / others.sum()
        return shares

    # -- the claimed law -------------------------------------------------------------------------

    @cached_property
    def log_q(self) -> Matrix:
        """The claimed log-probabilities (streams, o)."""
        return np.asarray(self.claim.mechanism.mechanism().log_probabilities(self.histograms))

    @cached_property
    def factors(self) -> NDArray[np.float64]:
        """Factors of the claimed noise scale whose likelihoods are computed."""
        return scale_factors(self.claim.gate.tolerance)

    def scale_log_laws(self, stream: int) -> Matrix:
        """Log-probabilities (factors, o) of a stream at every factor of the claimed scale."""
        histogram, gate = self.streams[stream].histogram, self.claim.gate
        return _scale_log_laws(self.claim.mechanism, histogram, gate.tolerance)

    @cached_property
    def information(self) -> NDArray[np.float64]:
        """Fisher information (deep streams,) of a label on the log scale; 0 if none are planned."""
        deep = slice(self.deep)
        found = information(self.claim.mechanism, self.histograms[deep], self.log_q[deep])
        return np.asarray(np.where(self.queries_of_streams[deep] > 0, found, 0.0))

    # -- the laws of known faults ----------------------------------------------------------------

    @cached_property
    def fault_weights(self) -> NDArray[np.float64]:
        """Prior weights (faults,) of the known faults, summing to 1."""
        weights = np.array([fault.weight for fault in self.faults])
        return np.asarray(weights / weights.sum())

    @cached_property
    def fault_log_ratios(self) -> Matrix:
        """Log-likelihood ratios (streams, faults, o) of the known faults against the claim."""
        asked = tuple(stream.histogram for stream in self.streams)
        return _log_ratios(self.faults, self.claim.mechanism, asked)

    @cached_property
    def fault_divergences(self) -> Matrix:
        """Kullback-Leibler divergences (streams, faults) from the claim, in nats per label."""
        return divergences(self.log_q[:, None, :] + self.fault_log_ratios, self.log_q[:, None, :])

    def rotated_ratios(self, stream: int, rotation: int) -> Matrix:
        """`fault_log_ratios` (faults, o) of a stream asked with rotated class numbers.

        Labels are rotated back: a fault of class k acts on class k - rotation of the stream. Where
        that fault is not among the known ones there is no wager, and the log-ratio is 0.
        """
        ratios: Matrix = self.fault_log_ratios[stream]
        if rotation == 0:
            return ratios
        rows = rotated_rows(self.faults, rotation, self.claim.mechanism.classes)
        found = np.where(rows[:, None] < 0, 0.0, ratios[rows])
        numbered = [at for at, fault in enumerate(self.faults) if fault.numbered]
        if numbered:
            if (stream, rotation) not in self._rotated_ratios:
                anew = self._rotated_anew(stream, rotation, numbered)
                self._rotated_ratios[stream, rotation] = anew
            found[numbered] = self._rotated_ratios[stream, rotation]
        return np.asarray(found)

    def _rotated_anew(self, stream: int, rotation: int, faults: list[int]) -> Matrix:
        """Log-ratios (faults, o) of numbered faults, computed on the rotated histogram."""
        classes = self.claim.mechanism.classes
        votes = np.roll(self.histograms[stream], rotation)[None]
        log_q = self.log_q[[stream]].copy()
        log_q[:, :classes] = np.roll(log_q[:, :classes], rotation, -1)
        ratios: Matrix = fault_laws([self.faults[at] for at in faults], log_q, votes)[0] - log_q
        ratios[:, :classes] = np.roll(ratios[:, :classes], -rotation, -1)
        return ratios


@lru_cache(maxsize=128)  # streams of one histogram share them
def _scale_log_laws(claim: LabelsMechanism, histogram: tuple[int, ...], tolerance: float) -> Matrix:
    return claim.mechanism().log_probabilities_at(histogram, scale_factors(tolerance))


@lru_cache(maxsize=8)  # for plans of the same histograms
def _log_ratios(
    faults: tuple[LabelFault, ...], claim: LabelsMechanism, asked: tuple[tuple[int, ...], ...]
) -> Matrix:
    histograms = np.array(asked, dtype=np.float64)
    log_q = np.asarray(claim.mechanism().log_probabilities(histograms))
    with np.errstate(invalid="ignore"):
        ratios: Matrix = fault_laws(faults, log_q, histograms) - log_q[:, None, :]
    ratios.flags.writeable = False
    return ratios


@lru_cache(maxsize=1024)
def rotated_rows(faults: tuple[LabelFault, ...], rotation: int, classes: int) -> NDArray[np.int64]:
    """For each fault, the index (a,) of the one with its law once labels are rotated back.

    In a histogram rotated by `rotation` places, position k holds class k - rotation: a fault of
    class k acts on that class. -1 where the matching fault is not among `faults`.
    """
    known = {fault.of_class: at for at, fault in enumerate(faults) if fault.of_class is not None}
    classed = (fault.of_class for fault in faults)
    rows = [
        at if of is None else known.get((of[0], (of[1] - rotation) % classes), -1)
        for at, of in enumerate(classed)
    ]
    return np.array(rows, dtype=np.int64)


def common_noise(plan: Plan) -> Joint:
    """Simulates labels of a plan's streams with the same noise draws for every stream."""
    outcomes, classes = plan.log_q.shape[1], plan.claim.mechanism.classes
    draws = int(np.clip(_MOST_NUMBERS // classes, _LEAST_DRAWS, _DRAWS))
    mechanism = plan.claim.mechanism.mechanism()

    @cache
    def of(stream: int) -> Outcomes:
        votes = plan.streams[stream].histogram
        return as_outcomes(mechanism.sample(votes, draws, np.random.default_rng(0)), outcomes)

    def counts(stream: int, other: int) -> Matrix:
        pairs = np.bincount(of(stream) * outcomes + of(other), minlength=outcomes**2)
        return pairs.reshape(outcomes, outcomes).astype(np.float64)

    return counts
