"""The plan of a run: which histograms it asks, and how often.

Depth goes to anchors, one histogram per kind of input, asked often enough to see the smallest
effect that a pass rules out; breadth goes to explorers (Hypothesis's histograms, and a
deployment's own), asked a hundred times each, which shows faults that few inputs have. Probes come
first: the histograms on which the commonest faults show soonest. One anchor is for the end, so that
a fault that starts late has its own.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...reference import Histogram
from ...reference.clock import step
from ..claim import ANY_QUERIES, Claim
from ..error_budget import SHARES, log_threshold
from ..evidence.pointed import FROM_THE_START
from ..evidence.power import bare_winners_to_see, pairs_to_see, queries_to_see, rises_to_see
from .asked_histograms import (
    CLEAR,
    clear_winner_of_other_total,
    even_pair,
    explorers,
    most_even_law,
    simple_histograms,
    smaller_total,
    tied_pair,
    told_apart,
    typical,
    unanimous,
)
from .extent import FULL, Extent
from .faults import Fault, known_faults
from .ladder import ladder
from .plan import ANCHOR_SHARE, GENERAL, POOLED, Pair, Plan, Stream, Twins
from .pool import candidate_pool
from .roles import Role, anchors

PROBE_QUERIES, TYPICAL_QUERIES = 256, 420
EXPLORER_QUERIES = 100
FRESH_CALL, FRESH_CALLS = 32, 4
SINGLE_CALLS, SINGLE_CALLS_ELSEWHERE = 2048, 128
PAIR_QUERIES, PAIR_QUERIES_AUDITED, EVEN_QUERIES = 256, 2048, 128

_KEPT_FREE = 6_000
"""Queries that the ladder leaves: calls for one label, restarts, a scale that needs more."""

_FINER = 25.0  # times finer than the smallest effect, the rungs of the ladder go


@lru_cache(maxsize=32)
def make_plan(
    claim: Claim,
    seed: int,
    other_totals: bool = True,
    own: tuple[tuple[int, ...], ...] = (),
    extent: Extent = FULL,
) -> Plan:
    """The plan for a claim.

    seed: fixes every histogram; other_totals: whether the target serves totals other than the
    claimed teachers; own: histograms of the deployment itself, asked as explorers; extent: how much
    is asked for breadth.
    """
    mechanism = claim.mechanism
    step("candidates")
    faults = tuple(known_faults(mechanism))
    pool = candidate_pool(mechanism, mechanism.teachers, seed)
    planner = _Planner(claim, np.random.default_rng(seed), anchors(other_totals), extent)
    step("probes")
    for histogram in pool.probes(faults, count=3):
        planner.add(Role.PROBE, histogram, extent.of(PROBE_QUERIES, 32))
    for histogram in typical(mechanism, other_totals):
        planner.add(Role.TYPICAL, histogram, extent.of(TYPICAL_QUERIES, 16))
    planner.add(Role.FRESH, most_even_law(mechanism), FRESH_CALL * FRESH_CALLS, shuffle=False)
    planner.add_anchor(Role.INFORMATIVE, pool.most_informative())
    planner.add_anchor(Role.NEAR_TIE, pool.near_tie())
    planner.add_clear_anchor(Role.HIGH_CONSENSUS, unanimous(mechanism.classes, mechanism.teachers))
    if not extent.symmetries:
        planner.add_anchor(Role.LATE, pool.near_tie(), shuffle=False)
    elif other_totals:
        planner.add_clear_anchor(Role.SMALLER_TOTAL, smaller_total(mechanism))
        planner.add_symmetries(
            Role.OTHER_TOTAL, clear_winner_of_other_total(claim, seed), shift=True
        )
    else:
        planner.add_symmetries(Role.CLEAR_WINNER, pool.clear_winner()[0], shift=False)
    planner.add_neighbours()
    explored, each = explorers(claim, seed, other_totals), extent.of(EXPLORER_QUERIES, 4)
    planner.add_ladder(faults, reserved=each * (len(explored) + len(own)))
    if not mechanism.caching:
        planner.add_singles()
    for histogram in simple_histograms(mechanism.classes, mechanism.teachers):
        planner.add(Role.SIMPLE, histogram, 0, shuffle=False)
    for histogram in explored:
        planner.add(Role.EXPLORER, histogram, each, shuffle=False)
    for votes in own:
        planner.add(Role.OWN, np.array(votes, dtype=np.int64), each, shuffle=False)
    streams, pairs = tuple(planner.streams), tuple(planner.pairs)
    return Plan(claim, streams, pairs, planner.twins, faults, extent)


class _Planner:
    """Collects streams and works out how many queries each needs."""

    def __init__(
        self,
        claim: Claim,
        rng: np.random.Generator,
        anchors: Sequence[Role],
        extent: Extent,
    ) -> None:
        self.claim, self.extent = claim, extent
        self.rng = rng
        self.anchors = anchors
        self.streams: list[Stream] = []
        self.pairs: list[Pair] = []
        self.twins: dict[str, Twins] = {}

    def add(self, role: Role, histogram: Histogram, queries: int, shuffle: bool = True) -> None:
        """A stream; shuffled, so that no class is the leader everywhere."""
        if shuffle:
            histogram = histogram[self.rng.permutation(histogram.size)]
        share = 0.0 if self.claim.mechanism.caching else role.turned
        votes = tuple(int(v) for v in histogram)
        self.streams.append(Stream(role, votes, queries, turned=int(share * queries)))

    def add_neighbours(self) -> None:
        """Neighbours whose labels are audited, where the claim is of any queries, and even ones."""
        mechanism, privacy = self.claim.mechanism, self.claim.privacy
        if mechanism.caching:
            return
        audited = privacy is not None and privacy.scope == ANY_QUERIES
        queries = PAIR_QUERIES_AUDITED if audited else PAIR_QUERIES
        self.add_pair(Role.PAIR, *tied_pair(mechanism), self.extent.of(queries, 32))
        self.add_pair(Role.EVEN, *even_pair(mechanism), self.extent.of(EVEN_QUERIES, 16))

    def add_pair(self, role: Role, first: Histogram, second: Histogram, queries: int) -> None:
        """Two neighbours that are asked as often as each other."""
        at = len(self.streams)
        for histogram in (first, second):
            self.add(role, histogram, queries, shuffle=False)
        self.pairs.append(Pair(role, at, at + 1))

    def add_anchor(
        self, role: Role, histogram: Histogram, queries: int = 0, shuffle: bool = True
    ) -> None:
        """A stream deep enough for `class-probabilities` to see the smallest effect on it."""
        step(role.kind)
        gate = self.claim.gate
        if self.claim.mechanism.caching:
            histogram = told_apart(histogram)
        wanted = log_threshold(SHARES["class-probabilities"], gate.false_alarm)
        wanted -= np.log(ANCHOR_SHARE * self._anchor_share(role)) + np.log(GENERAL)
        needed = queries_to_see(self._log_q(histogram), gate.smallest_effect, wanted)
        self.add(role, histogram, max(needed, queries), shuffle)

    def _anchor_share(self, role: Role) -> float:
        """Of the anchors' prior weight, at least."""
        if role.weight is not None:
            return role.weight
        given = [anchor.weight for anchor in self.anchors if anchor.weight is not None]
        return (1.0 - sum(given)) / (len(self.anchors) - len(given))

    def add_ladder(self, faults: Sequence[Fault], reserved: int) -> None:
        """Clear winners of the claimed total, deep enough to see the noise left out there.

        Those whose winner leaves less than a twenty-fifth of the smallest effect are left out, and
        the dearer ones where the budget does not hold them: nobody should need more queries for a
        pass because of them. reserved: queries of streams still to come.
        """
        room = self.claim.gate.max_queries - reserved - _KEPT_FREE
        room -= sum(stream.queries for stream in self.streams)
        wanted = log_threshold(SHARES["class-probabilities"], self.claim.gate.false_alarm)
        weight = max(fault.weight for fault in faults) / sum(fault.weight for fault in faults)
        wanted -= np.log(POOLED * weight * FROM_THE_START)
        for rung in ladder(self.claim.mechanism):
            votes = np.array(rung.histogram, dtype=np.int64)
            answered = float(np.exp(self._log_q(votes)[: votes.size]).sum())
            queries = bare_winners_to_see(rung.chance, answered, wanted)
            if queries > room or 1.0 - rung.chance < self.claim.gate.smallest_effect / _FINER:
                break
            room -= queries
            self.add(Role.LADDER, votes, queries)

    def add_singles(self) -> None:
        """Calls for one label: many of the near-tie, some of every other histogram asked deeply."""
        deep = [s for s in self.streams if s.is_anchor or s.role in (Role.FRESH, Role.LADDER)]
        deep.sort(key=lambda stream: stream.role is not Role.NEAR_TIE)
        for votes in dict.fromkeys(stream.histogram for stream in deep):
            first = votes == deep[0].histogram
            queries = SINGLE_CALLS if first else SINGLE_CALLS_ELSEWHERE
            least = 64 if first else 8
            queries = self.extent.of(queries, least)
            self.add(Role.SINGLES, np.array(votes), queries, shuffle=False)

    def add_clear_anchor(self, role: Role, histogram: Histogram) -> None:
        """An anchor, if its outcome is clear and no other one has its votes already.

        Where noise is so large that nothing is clear, the informative one is as near as it gets.
        """
        clear = float(np.exp(self._log_q(histogram).max())) >= CLEAR
        known = [sorted(stream.histogram) for stream in self.streams if stream.is_anchor]
        if clear and sorted(histogram.tolist()) not in known:
            self.add_anchor(role, histogram)

    def add_symmetries(self, role: Role, histogram: Histogram, shift: bool) -> None:
        """An anchor with its permuted and, where totals may change, its shifted twin.

        It is raised, half of the runner-up's votes going to the leader, and asked again late.
        """
        gate = self.claim.gate
        wanted = log_threshold(SHARES["shift-invariance"], gate.false_alarm)
        pairs = pairs_to_see(self._log_q(histogram), gate.smallest_effect, wanted)
        self.add_anchor(role, histogram, pairs)
        base, original = len(self.streams) - 1, self.streams[-1]
        votes = np.array(original.histogram)
        if shift:
            more = max(1, self.claim.mechanism.teachers // 2)
            self.add(Role.SHIFTED, votes + more, original.queries, shuffle=False)
            self.twins["shift-invariance"] = Twins(base, len(self.streams) - 1, pairs)
        order = self._derangement(votes)
        relabel = tuple(int(v) for v in order)
        moved = tuple(int(v) for v in votes[order])
        self.streams.append(Stream(Role.PERMUTED, moved, original.queries, relabel))
        self.twins["permutation-equivariance"] = Twins(base, len(self.streams) - 1, pairs)
        self._add_raised(base)
        self.add_anchor(Role.LATE, votes, shuffle=False)

    def _add_raised(self, base: int) -> None:
        votes = np.array(self.streams[base].histogram)
        order = np.argsort(-votes, kind="stable")  # of leaders that tie the first, as argmax
        leader, runner = int(order[0]), int(order[1])
        chance = float(np.exp(self._log_q(votes)[leader]))
        gate = self.claim.gate
        if chance <= 2.0 * gate.smallest_effect:
            return  # hardly ever answered: a fall could not show
        wanted = log_threshold(SHARES["vote-monotonicity"], gate.false_alarm)
        pairs = rises_to_see(chance, gate.smallest_effect, wanted)
        votes[leader] += votes[runner] - votes[runner] // 2
        votes[runner] //= 2
        self.add_anchor(Role.RAISED, votes, pairs, shuffle=False)
        self.twins["vote-monotonicity"] = Twins(base, len(self.streams) - 1, pairs)

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
