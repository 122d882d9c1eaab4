"""How many queries each stream needs to see the smallest effect that a pass rules out."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.clock import step
from ....claims.tables import ANY_QUERIES
from ....evidence.dirichlet import FROM_THE_START
from ....evidence.power import bare_winners_to_see, pairs_to_see, queries_to_see, rises_to_see
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..registry import SHARES
from .asked_histograms import CLEAR, even_pair, tied_pair, told_apart
from .extent import Extent
from .faults import Fault
from .ladder import Rung
from .plan import ANCHOR_SHARE, GENERAL, POOLED, ComparedStreams, Pair, Stream
from .roles import Role
from .traffic import calls_in_turn

PROBE_QUERIES, TYPICAL_QUERIES, EXPLORER_QUERIES = 56, 420, 100
FRESH_CALL, FRESH_CALLS = 32, 4
SINGLE_CALLS, SINGLE_CALLS_ELSEWHERE = 2048, 128
NEW_LIFE = 48
"""Labels of each probe after a restart of the target, whose law may have changed."""
PAIR_QUERIES, PAIR_QUERIES_AUDITED, EVEN_QUERIES = 256, 2048, 128
SAME_VOTES_QUERIES = 192


_KEPT_FREE = 9_200
"""Queries that the ladder leaves for calls for one label, pairs, restarts and the noise scale."""

_FINER = 25.0  # smallest effect over the least 1 - chance of a rung that is asked


class StreamPlanner:
    """Collects streams, and works out how many queries each needs."""

    def __init__(
        self,
        claim: LabelsClaim,
        rng: np.random.Generator,
        anchors: Sequence[Role],
        extent: Extent,
    ) -> None:
        self.claim, self.extent = claim, extent
        self._given = bool(claim.given)  # inputs cannot be asked under other class numbers
        self.rng = rng
        self.anchors = anchors
        self.streams: list[Stream] = []
        self.pairs: list[Pair] = []
        self.compared_streams: dict[str, ComparedStreams] = {}

    def add(self, role: Role, histogram: Histogram, queries: int, shuffle: bool = True) -> None:
        """Adds a stream; shuffle: permute the classes, so that no class leads everywhere."""
        if shuffle and not self._given:
            histogram = histogram[self.rng.permutation(histogram.size)]
        fixed = self.claim.mechanism.caching or self._given or self.claim.mechanism.ordered
        share = 0.0 if fixed else role.rotated
        votes = tuple(int(v) for v in histogram)
        self.streams.append(Stream(role, votes, queries, rotated=int(share * queries)))

    def add_probes(self, probes: Sequence[Histogram], typical: Sequence[Histogram]) -> None:
        """Adds the streams that come first: probes and typical histograms."""
        for histogram in probes:
            self.add(Role.PROBE, histogram, self.extent.of(PROBE_QUERIES, 8))
        for histogram in typical:
            self.add(Role.TYPICAL, histogram, self.extent.of(TYPICAL_QUERIES, 16))

    def add_opening(self, histogram: Histogram) -> None:
        """Adds the stream whose histogram opens the run."""
        self.add(Role.FRESH, histogram, FRESH_CALL * FRESH_CALLS, shuffle=False)

    def add_simple(self, histograms: Sequence[Histogram]) -> None:
        """Adds streams that are asked only to show a violation on a simple histogram."""
        for histogram in histograms:
            self.add(Role.SIMPLE, histogram, 0, shuffle=False)

    def add_explorers(self, role: Role, histograms: Sequence[Histogram]) -> None:
        """Adds a stream for each of many histograms, with a hundred queries or fewer."""
        for histogram in histograms:
            self.add(role, histogram, self.extent.of(EXPLORER_QUERIES, 4), shuffle=False)

    def add_neighbours(self, other_totals: bool) -> None:
        """Adds the pair of neighbours that is audited, and the pair with even votes.

        other_totals: whether the target serves a neighbour with a teacher more or less.
        """
        if not self.claim.mechanism.caching:
            if other_totals or self.claim.mechanism.adjacency == "replace-one":
                self.add_audited(*tied_pair(self.claim.mechanism))
            even = self.extent.of(EVEN_QUERIES, 16)
            self._add_pair(Role.EVEN, *even_pair(self.claim.mechanism), even)

    def add_audited(self, first: Histogram, second: Histogram) -> None:
        """Adds the audited pair; with more queries where the privacy claim is for any queries."""
        privacy = self.claim.privacy
        audited = privacy is not None and privacy.scope == ANY_QUERIES
        queries = PAIR_QUERIES_AUDITED if audited else PAIR_QUERIES
        self._add_pair(Role.PAIR, first, second, self.extent.of(queries, 32))

    def add_same_votes(self, histogram: Histogram) -> None:
        """Adds the two inputs that have these votes, asked alternately."""
        self._add_pair(
            Role.SAME_VOTES, histogram, histogram, self.extent.of(SAME_VOTES_QUERIES, 32)
        )
        self.streams[-1] = replace(self.streams[-1], second=True)

    def _add_pair(self, role: Role, first: Histogram, second: Histogram, queries: int) -> None:
        """Adds a pair of neighbours with `queries` queries each."""
        at = len(self.streams)
        for histogram in (first, second):
            self.add(role, histogram, queries, shuffle=False)
        self.pairs.append(Pair(role, at, at + 1))

    def add_anchor(
        self, role: Role, histogram: Histogram, queries: int = 0, shuffle: bool = True
    ) -> None:
        """Adds an anchor: enough queries for `class-probabilities` to see the smallest effect."""
        step(role.kind)
        gate = self.claim.gate
        if self.claim.mechanism.caching:
            histogram = told_apart(histogram)
        wanted = log_threshold(SHARES["class-probabilities"], gate.false_alarm)
        wanted -= np.log(ANCHOR_SHARE * self._anchor_share(role)) + np.log(GENERAL)
        needed = queries_to_see(self.log_q(histogram), gate.smallest_effect, wanted)
        self.add(role, histogram, max(needed, queries), shuffle)

    def _anchor_share(self, role: Role) -> float:
        """The least share of the anchors' prior weight that this role may get."""
        if role.weight is not None:
            return role.weight
        given = [anchor.weight for anchor in self.anchors if anchor.weight is not None]
        return (1.0 - sum(given)) / (len(self.anchors) - len(given))

    def add_ladder(self, rungs: Sequence[Rung], faults: Sequence[Fault], explored: int) -> None:
        """Adds clear winners, with enough queries to see a shortcut that leaves out their noise.

        Rungs with 1 - chance below a twenty-fifth of the smallest effect are left out, and those
        beyond the budget, so that a pass never takes more queries because of them. explored: how
        many streams are still to come.
        """
        room = self.room(explored)
        wanted = log_threshold(SHARES["class-probabilities"], self.claim.gate.false_alarm)
        weight = max(fault.weight for fault in faults) / sum(fault.weight for fault in faults)
        wanted -= np.log(POOLED * weight * FROM_THE_START)
        costs: list[tuple[Rung, int]] = []
        for rung in rungs:
            if 1.0 - rung.chance >= self.claim.gate.smallest_effect / _FINER:
                votes = np.array(rung.histogram)
                answered = float(np.exp(self.log_q(votes)[: votes.size]).sum())
                costs.append((rung, bare_winners_to_see(rung.chance, answered, wanted)))
        for (rung, queries), after in zip_longest(costs, costs[1:]):
            if rung.instead and after is not None and after[1] <= room:
                continue
            if queries > room:
                break
            room -= queries
            self.add(Role.LADDER, np.array(rung.histogram, dtype=np.int64), queries)

    def room(self, explored: int) -> int:
        """Queries that the budget has left; explored: how many explorers are still to come."""
        of_explorers = explored * self.extent.of(EXPLORER_QUERIES, 4)
        room = self.claim.gate.max_queries - of_explorers - _KEPT_FREE
        room -= calls_in_turn(self.claim, self.extent)
        return room - sum(stream.queries for stream in self.streams)

    @contextmanager
    def if_affordable(self, explored: int) -> Iterator[None]:
        """A block whose added streams are removed again where they exceed the budget."""
        before, compared_streams = list(self.streams), dict(self.compared_streams)
        yield
        if self.room(explored) < 0:
            self.streams, self.compared_streams = before, compared_streams

    def add_singles(self) -> None:
        """Adds calls for one label: many of the near-tie, some of the other deep histograms."""
        deep = [s for s in self.streams if s.is_anchor or s.role in (Role.FRESH, Role.LADDER)]
        deep.sort(key=lambda stream: stream.role is not Role.NEAR_TIE)
        for votes in dict.fromkeys(stream.histogram for stream in deep):
            first = votes == deep[0].histogram
            queries = SINGLE_CALLS if first else SINGLE_CALLS_ELSEWHERE
            least = 64 if first else 8
            queries = self.extent.of(queries, least)
            self.add(Role.SINGLES, np.array(votes), queries, shuffle=False)

    def add_clear_anchor(self, role: Role, histogram: Histogram) -> None:
        """Adds an anchor if its label is predictable and no other anchor has its votes.

        Where noise is so large that no label is, the informative anchor stands in for it.
        """
        clear = float(np.exp(self.log_q(histogram).max())) >= CLEAR
        known = [sorted(stream.histogram) for stream in self.streams if stream.is_anchor]
        if clear and sorted(histogram.tolist()) not in known:
            self.add_anchor(role, histogram)

    def add_symmetries(self, role: Role, histogram: Histogram, shift: bool) -> None:
        """Adds an anchor with its twins: permuted, raised and, where `shift`, shifted.

        The raised twin gives half of the runner-up's votes to the leader. The late anchor has the
        same votes.
        """
        pairs = self._add_base(role, histogram)
        base, original = len(self.streams) - 1, self.streams[-1]
        votes = np.array(original.histogram)
        if shift and not self.claim.mechanism.moved_by_shifts:
            more = max(1, self.claim.mechanism.teachers // 2)
            self.add(Role.SHIFTED, votes + more, original.queries, shuffle=False)
            self._compare("shift-invariance", base, pairs)
        if not self.claim.mechanism.ordered:
            self._add_permuted(base, self._derangement(votes), pairs)
        order = np.argsort(-votes, kind="stable")  # of tied leaders the first, as argmax
        leader, runner = int(order[0]), int(order[1])
        raised = votes.copy()
        raised[leader] += votes[runner] - votes[runner] // 2
        raised[runner] //= 2
        self.add_raised(base, leader, raised)
        self.add_anchor(Role.LATE, votes, shuffle=False)

    def add_permuted(self, role: Role, histogram: Histogram, order: NDArray[np.intp]) -> None:
        """Adds an anchor and its permuted twin; order: the original class (c,) of each class."""
        pairs = self._add_base(role, histogram, shuffle=False)
        self._add_permuted(len(self.streams) - 1, order, pairs)

    def _add_base(self, role: Role, histogram: Histogram, shuffle: bool = True) -> int:
        """Adds the anchor that twins are compared with; returns the label pairs that are needed."""
        gate = self.claim.gate
        wanted = log_threshold(SHARES["shift-invariance"], gate.false_alarm)
        pairs = pairs_to_see(self.log_q(histogram), gate.smallest_effect, wanted)
        self.add_anchor(role, histogram, pairs, shuffle)
        return pairs

    def _add_permuted(self, base: int, order: NDArray[np.intp], pairs: int) -> None:
        original = self.streams[base]
        relabel = tuple(int(v) for v in order)
        moved = tuple(original.histogram[k] for k in relabel)
        self.streams.append(Stream(Role.PERMUTED, moved, original.queries, relabel))
        self._compare("permutation-equivariance", base, pairs)

    def add_raised(self, base: int, leader: int, raised: Histogram) -> None:
        """Adds a twin of stream `base` in which class `leader` has gained votes, and no other.

        Nothing is added where that class is so rarely answered that a drop could not show.
        """
        gate, original = self.claim.gate, self.streams[base]
        chance = float(np.exp(self.log_q(np.array(original.histogram))[leader]))
        if chance <= 2.0 * gate.smallest_effect:
            return
        wanted = log_threshold(SHARES["vote-monotonicity"], gate.false_alarm)
        pairs = rises_to_see(chance, gate.smallest_effect, wanted)
        self.streams[base] = replace(original, queries=max(original.queries, pairs))
        self.add_anchor(Role.RAISED, raised, pairs, shuffle=False)
        self._compare("vote-monotonicity", base, pairs)

    def _compare(self, check: str, base: int, pairs: int) -> None:
        """Lets a check compare the stream that was added last with stream `base`."""
        self.compared_streams[check] = ComparedStreams(base, len(self.streams) - 1, pairs)

    def _derangement(self, votes: Histogram) -> NDArray[np.intp]:
        """A random permutation of the classes that moves the leader."""
        leader = int(votes.argmax())
        while True:
            order = self.rng.permutation(votes.size)
            if order[leader] != leader:
                return order

    def log_q(self, histogram: Histogram) -> NDArray[np.float64]:
        """The claimed log-probabilities (o,) of a histogram (c,)."""
        mechanism = self.claim.mechanism.mechanism()
        return np.asarray(mechanism.log_probabilities(histogram.astype(np.float64)))
