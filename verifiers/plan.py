"""What a run asks: streams of queries, each on one histogram, and the laws they are judged by.

Depth goes to anchors, one histogram per kind of input, asked often enough to see the smallest
effect that a pass rules out; breadth goes to explorers (Hypothesis's histograms, and a
deployment's own), asked a hundred times each, which shows faults that few inputs have. Probes come
first: the histograms on which the commonest faults show soonest.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from ..reference import Histogram
from .claim import Claim
from .evidence.scale import scale_factors
from .faults import Fault, fault_laws, known_faults
from .pool import candidate_pool
from .power import pairs_to_see, queries_to_see
from .shares import SHARES, log_threshold
from .strategies import examples, histograms

Matrix = NDArray[np.float64]

PROBE_QUERIES = 256
EXPLORER_QUERIES = 100
EXPLORERS = 30
SIMPLE = "simple"
"""Kind of the streams that are asked only to show a violation on the simplest histogram."""

OTHER_TOTALS = (3, 9)
"""Factors of the claimed teachers at which other totals are tried."""

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
        return self.kind not in ("probe", SIMPLE, "explorer", "own")


@dataclass(frozen=True)
class Plan:
    """All streams of a run, with the pairs of them that must have one law.

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

    @property
    def queries(self) -> int:
        """Queries of the whole plan."""
        return sum(stream.queries for stream in self.streams)


@lru_cache(maxsize=32)
def make_plan(
    claim: Claim, seed: int, other_totals: bool = True, own: tuple[tuple[int, ...], ...] = ()
) -> Plan:
    """The plan for a claim.

    seed: fixes every histogram; other_totals: whether the target serves totals other than the
    claimed teachers; own: histograms of the deployment itself, asked as explorers.
    """
    mechanism = claim.mechanism
    faults = tuple(known_faults(mechanism))
    pool = candidate_pool(mechanism, mechanism.teachers, seed)
    planner = _Planner(claim, np.random.default_rng(seed), anchors=5 if other_totals else 4)
    for histogram in pool.probes(faults, count=3):
        planner.add("probe", histogram, PROBE_QUERIES)
    planner.add_anchor("informative", pool.most_informative())
    planner.add_anchor("near-tie", pool.near_tie())
    if other_totals:
        planner.add_symmetries("other-total", _clear_winner_of_other_total(claim, seed), shift=True)
    else:
        planner.add_symmetries("clear-winner", pool.clear_winner()[0], shift=False)
    for histogram in _simple_histograms(mechanism.classes, mechanism.teachers):
        planner.add(SIMPLE, histogram, 0, shuffle=False)
    for histogram in _explorers(claim, seed, other_totals):
        planner.add("explorer", histogram, EXPLORER_QUERIES, shuffle=False)
    for votes in own:
        planner.add("own", np.array(votes, dtype=np.int64), EXPLORER_QUERIES, shuffle=False)
    return Plan(claim, tuple(planner.streams), planner.twins, faults)


def _clear_winner_of_other_total(claim: Claim, seed: int) -> Histogram:
    """A clear winner in the smallest of the other totals that has one."""
    for factor in OTHER_TOTALS:
        total = factor * claim.mechanism.teachers
        histogram, chance = candidate_pool(claim.mechanism, total, seed).clear_winner()
        if chance > 0.97:
            break
    return histogram


def _simple_histograms(classes: int, total: int) -> list[Histogram]:
    """Histograms of `total` votes, the simplest first: unanimous, two sides, one against many."""
    found: dict[tuple[int, ...], Histogram] = {}
    for share in (1.0, 0.5, 0.6, 0.7, 0.8, 0.9):
        for spread in (1, 2, classes - 1):
            others = min(spread, classes - 1)
            votes = np.zeros(classes, dtype=np.int64)
            votes[1 : 1 + others] = (total - round(total * share)) // others
            votes[0] = total - votes.sum()
            found.setdefault(tuple(votes.tolist()), votes)
    return list(found.values())


def _explorers(claim: Claim, seed: int, other_totals: bool) -> list[Histogram]:
    """Distinct histograms of the claimed total, and a few of other totals, from Hypothesis."""
    classes, teachers = claim.mechanism.classes, claim.mechanism.teachers
    few = EXPLORERS // 5 if other_totals else 0
    return [
        *_distinct(histograms(classes, teachers), EXPLORERS - few, seed),
        *_distinct(histograms(classes, st.integers(1, 10 * teachers)), few, seed),
    ]


def _distinct(strategy: st.SearchStrategy[Histogram], count: int, seed: int) -> list[Histogram]:
    found = examples(strategy, 2 * count, seed) if count else []
    return list({tuple(histogram.tolist()): histogram for histogram in found}.values())[:count]


class _Planner:
    """Collects streams and works out how many queries each needs."""

    def __init__(self, claim: Claim, rng: np.random.Generator, anchors: int) -> None:
        self.claim = claim
        self.rng = rng
        self.anchors = anchors
        self.streams: list[Stream] = []
        self.twins: dict[str, tuple[int, int, int]] = {}

    def add(self, kind: str, histogram: Histogram, queries: int, shuffle: bool = True) -> None:
        """A stream; shuffled, so that no class is the leader everywhere."""
        if shuffle:
            histogram = histogram[self.rng.permutation(histogram.size)]
        self.streams.append(Stream(kind, tuple(int(v) for v in histogram), queries))

    def add_anchor(self, kind: str, histogram: Histogram, queries: int = 0) -> None:
        """A stream deep enough for `class-probabilities` to see the smallest effect on it."""
        gate = self.claim.gate
        wanted = log_threshold(SHARES["class-probabilities"], gate.false_alarm)
        wanted += np.log(self.anchors / ANCHOR_SHARE) + np.log(1.0 / GENERAL)
        needed = queries_to_see(self._log_q(histogram), gate.smallest_effect, wanted)
        self.add(kind, histogram, max(needed, queries))

    def add_symmetries(self, kind: str, histogram: Histogram, shift: bool) -> None:
        """An anchor with its permuted and, where totals may change, its shifted twin."""
        gate = self.claim.gate
        wanted = log_threshold(SHARES["shift-invariance"], gate.false_alarm)
        pairs = pairs_to_see(self._log_q(histogram), gate.smallest_effect, wanted)
        self.add_anchor(kind, histogram, pairs)
        base, original = len(self.streams) - 1, self.streams[-1]
        votes = np.array(original.histogram)
        if shift:
            more = max(1, self.claim.mechanism.teachers // 2)
            self.add("shifted", votes + more, original.queries, shuffle=False)
            self.twins["shift-invariance"] = (base, len(self.streams) - 1, pairs)
        order = self._derangement(votes)
        relabel = tuple(int(v) for v in order)
        moved = tuple(int(v) for v in votes[order])
        self.streams.append(Stream("permuted", moved, original.queries, relabel))
        self.twins["permutation-equivariance"] = (base, len(self.streams) - 1, pairs)

    def _derangement(self, votes: Histogram) -> NDArray[np.intp]:
        """A random order of the classes that moves the leader."""
        leader = int(votes.argmax())
        while True:
            order = self.rng.permutation(votes.size)
            if order[leader] != leader:
                return order

    def _log_q(self, histogram: Histogram) -> NDArray[np.float64]:
        mechanism = self.claim.mechanism.mechanism()
        return np.asarray(mechanism.log_probabilities(histogram.astype(np.float64)))
