"""How many queries each stream needs to see what a pass of it rules out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.clock import step
from ....claims.tables import ANY_QUERIES
from ....evidence.dirichlet import FROM_THE_START
from ....evidence.power import (
    bare_winners_to_see,
    pairs_to_see,
    queries_to_see,
    ratios_to_see,
    rises_to_see,
)
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..registry import SHARES
from .histograms import Rung, with_different_counts
from .inputs import CLEAR
from .laws import LabelFault, fault_laws, log_laws
from .plan import ANCHOR_SHARE, GENERAL, POINTED, POOLED, FaultToSee
from .streams import FULL, ComparedStreams, Extent, Role, Stream, StreamPair
from .telling import TellingHistogram

_PAIR_QUERIES_OF_ANY = 2048  # where the privacy claim is for any queries
_SINGLES, _SINGLES_ELSEWHERE = (2048, 64), (128, 8)  # in full, and the least
_KEPT_FREE = 9_200
"""Queries that the ladder leaves for calls for one label, pairs, restarts and the noise scale."""

_FINER = 25.0  # smallest effect over the least 1 - chance of a rung that is asked
_FINER_ROUNDING = 3.0  # smallest effect over the least total variation that is looked for
_MOST_TELLING = 6_000  # queries on all telling histograms of one role
_LEAST_OF_ONE, _MOST_OF_ONE = 200, 3_000  # queries on each
_STILL_TO_COME = 20  # streams of calls for one label


class StreamPlanner:
    """Collects streams, and works out how many queries each needs.

    asked: the histograms of each role; anchors: the roles of anchors that a plan may have; faults:
    all known ones; in_turn: calls of the traffic.
    """

    def __init__(
        self,
        claim: LabelsClaim,
        rng: np.random.Generator,
        extent: Extent,
        *,
        asked: Mapping[Role, Sequence[Histogram]],
        anchors: Sequence[Role],
        faults: Sequence[LabelFault],
        in_turn: int,
    ) -> None:
        self.claim, self.mechanism, self.gate = claim, claim.mechanism, claim.gate
        self.rng, self.extent, self.asked, self.anchors = rng, extent, asked, anchors
        self._explored = sum(len(asked[role]) for role in (Role.EXPLORER, Role.OWN))
        self._in_turn = in_turn
        self._weights = [fault.weight for fault in faults]
        self.streams: list[Stream] = []
        self.pairs: list[StreamPair] = []
        self.compared_streams: dict[str, ComparedStreams] = {}

    def add(self, role: Role, histogram: Histogram, queries: int, shuffle: bool = True) -> None:
        """Adds a stream; shuffle: permute the classes, so that no class leads everywhere.

        Given inputs cannot be asked under other class numbers.
        """
        given = bool(self.claim.given)
        if shuffle and not given:
            histogram = histogram[self.rng.permutation(histogram.size)]
        fixed = self.mechanism.caching or given or self.mechanism.ordered
        rotated = 0 if fixed else int(role.rotated * queries)
        self.streams.append(Stream(role, tuple(histogram.tolist()), queries, rotated=rotated))

    def add_all(self, role: Role, shuffle: bool = False) -> None:
        """Adds a stream for each histogram that is asked in a role, if there are any."""
        most, least = role.breadth
        privacy = self.claim.privacy
        if role is Role.PAIR and privacy is not None and privacy.scope == ANY_QUERIES:
            most = _PAIR_QUERIES_OF_ANY
        for histogram in self.asked.get(role, ()):
            self.add(role, histogram, self.extent.of(most, least), shuffle)

    def add_pairs(self) -> None:
        """Adds the pairs of streams that are asked alternately."""
        for role in (Role.PAIR, Role.EVEN, Role.SAME_VOTES):
            if role in self.asked:
                self.pairs.append(StreamPair(role, len(self.streams), len(self.streams) + 1))
                self.add_all(role)
                if role is Role.SAME_VOTES:
                    self.streams[-1] = replace(self.streams[-1], second=True)

    def _log_wanted(self, check: str) -> float:
        """The log of the evidence with which a check refutes."""
        return log_threshold(SHARES[check], self.gate.false_alarm)

    def _log_q(self, histogram: Histogram) -> NDArray[np.float64]:
        return log_laws(self.mechanism, histogram)

    # -- anchors and their twins -----------------------------------------------------------------

    def add_anchor(
        self, role: Role, histogram: Histogram, queries: int = 0, shuffle: bool = True
    ) -> None:
        """Adds an anchor: enough queries for `class-probabilities` to see the smallest effect."""
        step(role.kind)
        if self.mechanism.caching:
            histogram = with_different_counts(histogram)
        weighed = [anchor.weight for anchor in self.anchors if anchor.weight is not None]
        even = (1.0 - sum(weighed)) / (len(self.anchors) - len(weighed))
        share = even if role.weight is None else role.weight
        wanted = self._log_wanted("class-probabilities")
        wanted -= np.log(ANCHOR_SHARE * share) + np.log(GENERAL)
        needed = queries_to_see(self._log_q(histogram), self.gate.smallest_effect, wanted)
        self.add(role, histogram, max(needed, queries), shuffle)

    def add_clear_anchor(self, role: Role) -> None:
        """Adds an anchor if its label is predictable and no other anchor has its votes.

        Where noise is so large that no label is, the informative anchor stands in for it.
        """
        known = [sorted(stream.histogram) for stream in self.streams if stream.role.anchor]
        for histogram in self.asked.get(role, ()):
            clear = float(np.exp(self._log_q(histogram).max())) >= CLEAR
            if clear and sorted(histogram.tolist()) not in known:
                self.add_anchor(role, histogram)

    def add_symmetries(self, role: Role, shift: bool) -> None:
        """Adds an anchor, if there is one in a role, with its twins, and the late anchor.

        They are permuted, raised (half of the runner-up's votes go to the leader) and, where
        `shift`, shifted. The late anchor has the same votes.
        """
        if role not in self.asked:
            return
        pairs = self._add_base(role, self.asked[role][0])
        base, original = len(self.streams) - 1, self.streams[-1]
        votes = np.array(original.histogram)
        leader, runner = np.argsort(-votes, kind="stable")[:2]  # of tied ones the first, as argmax
        if shift and not self.mechanism.moved_by_shifts:
            more = max(1, self.mechanism.teachers // 2)
            self.add(Role.SHIFTED, votes + more, original.queries, shuffle=False)
            self._compare("shift-invariance", base, pairs)
        if not self.mechanism.ordered:
            relabel = self.rng.permutation(votes.size)
            while relabel[leader] == leader:
                relabel = self.rng.permutation(votes.size)
            self._add_permuted(base, relabel, pairs)
        raised = votes.copy()
        raised[leader] += votes[runner] - votes[runner] // 2
        raised[runner] //= 2
        self.add_raised(base, int(leader), raised)
        self.add_anchor(Role.LATE, votes, shuffle=False)

    def add_permuted(self, role: Role, histogram: Histogram, order: NDArray[np.intp]) -> None:
        """Adds an anchor and its permuted twin; order: the original class (c,) of each class."""
        pairs = self._add_base(role, histogram, shuffle=False)
        self._add_permuted(len(self.streams) - 1, order, pairs)

    def _add_base(self, role: Role, histogram: Histogram, shuffle: bool = True) -> int:
        """Adds the anchor that twins are compared with; returns the label pairs that are needed."""
        wanted = self._log_wanted("shift-invariance")
        pairs = pairs_to_see(self._log_q(histogram), self.gate.smallest_effect, wanted)
        self.add_anchor(role, histogram, pairs, shuffle)
        return pairs

    def _add_permuted(self, base: int, order: NDArray[np.intp], pairs: int) -> None:
        original, relabel = self.streams[base], tuple(order.tolist())
        moved = tuple(original.histogram[k] for k in relabel)
        self.streams.append(Stream(Role.PERMUTED, moved, original.queries, relabel))
        self._compare("permutation-equivariance", base, pairs)

    def add_raised(self, base: int, leader: int, raised: Histogram) -> None:
        """Adds a twin of stream `base` in which class `leader` has gained votes, and no other.

        Nothing is added where that class is so rarely answered that a drop could not show.
        """
        original, effect = self.streams[base], self.gate.smallest_effect
        chance = float(np.exp(self._log_q(np.array(original.histogram))[leader]))
        if chance > 2.0 * effect:
            pairs = rises_to_see(chance, effect, self._log_wanted("vote-monotonicity"))
            self.streams[base] = replace(original, queries=max(original.queries, pairs))
            self.add_anchor(Role.RAISED, raised, pairs, shuffle=False)
            self._compare("vote-monotonicity", base, pairs)

    def _compare(self, check: str, base: int, pairs: int) -> None:
        """Lets a check compare the stream that was added last with stream `base`."""
        self.compared_streams[check] = ComparedStreams(base, len(self.streams) - 1, pairs)

    # -- as far as the budget goes ---------------------------------------------------------------

    def room(self) -> int:
        """Queries that the budget has left."""
        kept = _KEPT_FREE + self._in_turn
        kept += self._explored * self.extent.of(*Role.EXPLORER.breadth)
        return self.gate.max_queries - kept - sum(stream.queries for stream in self.streams)

    @contextmanager
    def if_affordable(self) -> Iterator[None]:
        """A block whose added streams are removed again where they exceed the budget."""
        before, compared_streams = list(self.streams), dict(self.compared_streams)
        yield
        if self.room() < 0:
            self.streams, self.compared_streams = before, compared_streams

    def add_telling(self, role: Role, telling: Iterable[TellingHistogram]) -> None:
        """Adds histograms with enough queries to see the faults that each should show.

        Left out are faults that take too many queries, histograms whose faults a stream of the same
        support and total shows already, and histograms beyond the budget.
        """
        left = min(self.extent.of(_MOST_TELLING, 0), self.room())
        for histogram, faults in telling:
            step(role.kind)
            needed = {fault: self._to_see(histogram, fault) for fault in faults}
            seen = {fault: n for fault, n in needed.items() if n <= _MOST_OF_ONE}
            queries = max([_LEAST_OF_ONE, *seen.values()])
            shown = any(self._shows(stream, histogram, list(seen)) for stream in self.streams)
            if seen and not shown and queries <= left:
                left -= queries
                self.add(role, histogram, queries)

    def _to_see(self, histogram: Histogram, fault: LabelFault) -> int:
        """Labels of a stream, no anchor, after which the fault shows with probability 0.99."""
        log_q = self._log_q(histogram)
        law = fault_laws((fault,), log_q[None], histogram[None].astype(np.float64))[0, 0]
        others = len(self.streams) + self._explored + _STILL_TO_COME
        share = (1.0 - ANCHOR_SHARE) / others * POINTED * fault.weight / sum(self._weights)
        wanted = self._log_wanted("class-probabilities") - np.log(share * FROM_THE_START)
        return ratios_to_see(law, log_q, float(wanted))

    def _shows(self, stream: Stream, other: Histogram, faults: Sequence[LabelFault]) -> bool:
        """Whether a stream with the support and total of another has queries to show faults."""
        votes = np.array(stream.histogram)
        alike = np.count_nonzero(votes) == np.count_nonzero(other) and votes.sum() == other.sum()
        return alike and all(stream.queries >= self._to_see(votes, fault) for fault in faults)

    def add_ladder(self, rungs: Sequence[Rung]) -> None:
        """Adds clear winners, with enough queries to see a shortcut that leaves out their noise.

        Rungs with 1 - chance below a twenty-fifth of the smallest effect are left out, and those
        beyond the budget, so that a pass never takes more queries because of them.
        """
        room, wanted = self.room(), self._log_wanted("class-probabilities")
        weight = max(self._weights) / sum(self._weights)
        wanted -= np.log(POOLED * weight * FROM_THE_START)
        costs: list[tuple[Rung, int]] = []
        for rung in rungs:
            if 1.0 - rung.chance >= self.gate.smallest_effect / _FINER:
                votes = np.array(rung.histogram)
                answered = float(np.exp(self._log_q(votes)[: votes.size]).sum())
                costs.append((rung, bare_winners_to_see(rung.chance, answered, wanted)))
        for (rung, queries), after in zip_longest(costs, costs[1:]):
            if rung.instead and after is not None and after[1] <= room:
                continue
            if queries > room:
                break
            room -= queries
            self.add(Role.LADDER, np.array(rung.histogram), queries)

    def add_roundings(self, seen: Sequence[FaultToSee]) -> None:
        """Adds the histograms that show roundings, those that take fewest labels first.

        One that shows several is added once, with as many labels as the largest of them needs. Left
        out are roundings that move the labels by less than a third of the smallest effect, and
        those beyond the budget.
        """
        if self.mechanism.caching or self.extent != FULL:
            return
        asked: dict[tuple[int, ...], int] = {}
        least, room = self.gate.smallest_effect / _FINER_ROUNDING, self.room()
        for one in sorted((one for one in seen if one.moves >= least), key=lambda one: one.queries):
            if one.queries <= room - sum(asked.values()) + asked.get(one.histogram, 0):
                asked[one.histogram] = one.queries
        for histogram, queries in asked.items():
            self.add(Role.ROUNDED, np.array(histogram), queries, shuffle=False)

    def add_singles(self) -> None:
        """Adds calls for one label: many of the near-tie, some of the other deep histograms."""
        deep = [s for s in self.streams if s.role.anchor or s.role in (Role.FRESH, Role.LADDER)]
        deep.sort(key=lambda stream: stream.role is not Role.NEAR_TIE)
        for votes in dict.fromkeys(stream.histogram for stream in deep):
            asked = _SINGLES if votes == deep[0].histogram else _SINGLES_ELSEWHERE
            self.add(Role.SINGLES, np.array(votes), self.extent.of(*asked), shuffle=False)
