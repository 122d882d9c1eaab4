"""How many queries each stream of a plan needs, for the smallest effect that a pass rules out."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.clock import step
from ....claims.tables import ANY_QUERIES
from ....evidence.pointed import FROM_THE_START
from ....evidence.power import bare_winners_to_see, pairs_to_see, queries_to_see, rises_to_see
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..registry import SHARES
from .asked_histograms import CLEAR, even_pair, tied_pair, told_apart
from .extent import Extent
from .faults import Fault
from .ladder import Rung
from .plan import ANCHOR_SHARE, GENERAL, POOLED, Pair, Stream, Twins
from .roles import Role
from .traffic import calls_in_turn

PROBE_QUERIES, TYPICAL_QUERIES, EXPLORER_QUERIES = 56, 420, 100
FRESH_CALL, FRESH_CALLS = 32, 4
SINGLE_CALLS, SINGLE_CALLS_ELSEWHERE = 2048, 128
NEW_LIFE = 48
"""Labels of each probe once the target has been restarted: its law may be another then."""
PAIR_QUERIES, PAIR_QUERIES_AUDITED, EVEN_QUERIES = 256, 2048, 128
SAME_VOTES_QUERIES = 192


_KEPT_FREE = 9_200
"""Queries that the ladder leaves: calls for one label, labels asked in turn, restarts, a scale that
needs more."""

_FINER = 25.0  # times finer than the smallest effect, the rungs of the ladder go


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
        self._given = bool(claim.given)  # which have the class numbers that they have
        self.rng = rng
        self.anchors = anchors
        self.streams: list[Stream] = []
        self.pairs: list[Pair] = []
        self.twins: dict[str, Twins] = {}

    def add(self, role: Role, histogram: Histogram, queries: int, shuffle: bool = True) -> None:
        """A stream; shuffled, so that no class is the leader everywhere."""
        if shuffle and not self._given:
            histogram = histogram[self.rng.permutation(histogram.size)]
        share = 0.0 if self.claim.mechanism.caching or self._given else role.turned
        votes = tuple(int(v) for v in histogram)
        self.streams.append(Stream(role, votes, queries, turned=int(share * queries)))

    def add_probes(self, probes: Sequence[Histogram], typical: Sequence[Histogram]) -> None:
        """What comes first: where faults show soonest, and what ensembles answer every day."""
        for histogram in probes:
            self.add(Role.PROBE, histogram, self.extent.of(PROBE_QUERIES, 8))
        for histogram in typical:
            self.add(Role.TYPICAL, histogram, self.extent.of(TYPICAL_QUERIES, 16))

    def add_opening(self, histogram: Histogram) -> None:
        """The histogram that opens the run."""
        self.add(Role.FRESH, histogram, FRESH_CALL * FRESH_CALLS, shuffle=False)

    def add_simple(self, histograms: Sequence[Histogram]) -> None:
        """What is asked only to show a violation."""
        for histogram in histograms:
            self.add(Role.SIMPLE, histogram, 0, shuffle=False)

    def add_explorers(self, role: Role, histograms: Sequence[Histogram]) -> None:
        """Many, each asked little."""
        for histogram in histograms:
            self.add(role, histogram, self._explorer_queries, shuffle=False)

    @property
    def _explorer_queries(self) -> int:
        return self.extent.of(EXPLORER_QUERIES, 4)

    def add_neighbours(self) -> None:
        """Neighbours whose labels are audited, and even ones."""
        if not self.claim.mechanism.caching:
            self.add_audited(*tied_pair(self.claim.mechanism))
            even = self.extent.of(EVEN_QUERIES, 16)
            self._add_pair(Role.EVEN, *even_pair(self.claim.mechanism), even)

    def add_audited(self, first: Histogram, second: Histogram) -> None:
        """Neighbours that are asked in turn; often where the claim is of any queries."""
        privacy = self.claim.privacy
        audited = privacy is not None and privacy.scope == ANY_QUERIES
        queries = PAIR_QUERIES_AUDITED if audited else PAIR_QUERIES
        self._add_pair(Role.PAIR, first, second, self.extent.of(queries, 32))

    def add_same_votes(self, histogram: Histogram) -> None:
        """Two inputs with these votes, asked in turn."""
        self._add_pair(
            Role.SAME_VOTES, histogram, histogram, self.extent.of(SAME_VOTES_QUERIES, 32)
        )
        self.streams[-1] = replace(self.streams[-1], second=True)

    def _add_pair(self, role: Role, first: Histogram, second: Histogram, queries: int) -> None:
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
        needed = queries_to_see(self.log_q(histogram), gate.smallest_effect, wanted)
        self.add(role, histogram, max(needed, queries), shuffle)

    def _anchor_share(self, role: Role) -> float:
        """Of the anchors' prior weight, at least."""
        if role.weight is not None:
            return role.weight
        given = [anchor.weight for anchor in self.anchors if anchor.weight is not None]
        return (1.0 - sum(given)) / (len(self.anchors) - len(given))

    def add_ladder(self, rungs: Sequence[Rung], faults: Sequence[Fault], explored: int) -> None:
        """Clear winners of the claimed total, deep enough to see the noise left out there.

        Those whose winner leaves less than a twenty-fifth of the smallest effect are left out, and
        the dearer ones where the budget does not hold them: nobody should need more queries for a
        pass because of them. explored: streams still to come.
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
        """Queries that the budget has left; explored: streams still to come."""
        room = self.claim.gate.max_queries - explored * self._explorer_queries - _KEPT_FREE
        room -= calls_in_turn(self.claim, self.extent)
        return room - sum(stream.queries for stream in self.streams)

    @contextmanager
    def if_affordable(self, explored: int) -> Iterator[None]:
        """Takes streams back that were added within it, where the budget does not hold them."""
        before, twins = list(self.streams), dict(self.twins)
        yield
        if self.room(explored) < 0:
            self.streams, self.twins = before, twins

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
        clear = float(np.exp(self.log_q(histogram).max())) >= CLEAR
        known = [sorted(stream.histogram) for stream in self.streams if stream.is_anchor]
        if clear and sorted(histogram.tolist()) not in known:
            self.add_anchor(role, histogram)

    def add_symmetries(self, role: Role, histogram: Histogram, shift: bool) -> None:
        """An anchor with its permuted and, where totals may change, its shifted twin.

        It is raised, half of the runner-up's votes going to the leader, and asked again late.
        """
        pairs = self._add_base(role, histogram)
        base, original = len(self.streams) - 1, self.streams[-1]
        votes = np.array(original.histogram)
        if shift:
            more = max(1, self.claim.mechanism.teachers // 2)
            self.add(Role.SHIFTED, votes + more, original.queries, shuffle=False)
            self.twins["shift-invariance"] = Twins(base, len(self.streams) - 1, pairs)
        self._add_permuted(base, self._derangement(votes), pairs)
        order = np.argsort(-votes, kind="stable")  # of leaders that tie the first, as argmax
        leader, runner = int(order[0]), int(order[1])
        raised = votes.copy()
        raised[leader] += votes[runner] - votes[runner] // 2
        raised[runner] //= 2
        self.add_raised(base, leader, raised)
        self.add_anchor(Role.LATE, votes, shuffle=False)

    def add_permuted(self, role: Role, histogram: Histogram, order: NDArray[np.intp]) -> None:
        """An anchor, and its twin under other class numbers: of each, the class here."""
        pairs = self._add_base(role, histogram, shuffle=False)
        self._add_permuted(len(self.streams) - 1, order, pairs)

    def _add_base(self, role: Role, histogram: Histogram, shuffle: bool = True) -> int:
        """An anchor that twins are compared with, and the pairs that the smallest effect needs."""
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
        self.twins["permutation-equivariance"] = Twins(base, len(self.streams) - 1, pairs)

    def add_raised(self, base: int, leader: int, raised: Histogram) -> None:
        """A twin of a stream whose class `leader` has gained votes, and no other has.

        Nothing is added where that class is hardly ever answered: a fall could not show.
        """
        gate, original = self.claim.gate, self.streams[base]
        chance = float(np.exp(self.log_q(np.array(original.histogram))[leader]))
        if chance <= 2.0 * gate.smallest_effect:
            return
        wanted = log_threshold(SHARES["vote-monotonicity"], gate.false_alarm)
        pairs = rises_to_see(chance, gate.smallest_effect, wanted)
        self.streams[base] = replace(original, queries=max(original.queries, pairs))
        self.add_anchor(Role.RAISED, raised, pairs, shuffle=False)
        self.twins["vote-monotonicity"] = Twins(base, len(self.streams) - 1, pairs)

    def _derangement(self, votes: Histogram) -> NDArray[np.intp]:
        """A random order of the classes that moves the leader."""
        leader = int(votes.argmax())
        while True:
            order = self.rng.permutation(votes.size)
            if order[leader] != leader:
                return order

    def log_q(self, histogram: Histogram) -> NDArray[np.float64]:
        """The claimed log-probabilities (o,) of a histogram (c,)."""
        mechanism = self.claim.mechanism.mechanism()
        return np.asarray(mechanism.log_probabilities(histogram.astype(np.float64)))
