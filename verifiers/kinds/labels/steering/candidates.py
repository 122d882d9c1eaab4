"""Histograms, sizes and sequences made of the whole numbers in a target's source."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, product, zip_longest

import numpy as np

from ....paths.constants import LARGEST, around, sums
from ....paths.search import Call, Candidate, InputSource, PlannedCalls, Tried, nearest
from ..planning.histograms import far_totals
from ..planning.laws import log_laws
from ..planning.plan import Plan
from ..planning.schedule import Schedule
from ..planning.streams import Role
from .shapes import GAPS, Shapes, Votes

_LARGEST_TOTAL = 10_000  # or ten times the teachers, as valid input goes
_LARGEST_CALL = 5_000
_LONGEST = 64  # calls of a sequence
_LEAST_NATS = 1e-9
_OF_BARE = 0.2  # of its nats that missing noise counts, where half the noise tells little
_REFUSED_CALLS = 8  # calls that are refused, so that no guard against bad input is set off
_SMALL_CALL = 64  # labels of a planned call that is run again
_TRAFFIC = 400  # planned calls in turn that are run again
_NEAR = 40
_PAIRED = 8  # sizes of calls of which each follows each


class LabelSource(InputSource):
    """What labels know of their inputs.

    needed: nats of evidence with which half the noise has shown; other_totals: whether the target
    serves totals of votes other than the claimed teachers.
    """

    def __init__(self, plan: Plan, seed: int, needed: float, *, other_totals: bool) -> None:
        self.plan, self.claim = plan, plan.claim
        self.mechanism = plan.claim.mechanism
        self.teachers, self.classes = self.mechanism.teachers, self.mechanism.classes
        self.needed = needed
        other_totals = other_totals and not plan.claim.one_total
        self.shapes = Shapes(self.mechanism, other_totals=other_totals)
        most = max(10 * self.teachers, _LARGEST_TOTAL)
        self._largest_total = most if other_totals else self.teachers
        asked_for_others = not other_totals and not plan.claim.one_total
        self._refused_totals = far_totals(self.teachers) if asked_for_others else ()
        self._rng = np.random.default_rng([seed, 59])
        probe = np.array(plan.streams[plan.first(Role.PROBE)].histogram, dtype=np.int64)
        self._telling = self._candidate([(probe, 1)], probe)

    # -- what the plan asks ----------------------------------------------------------------------

    def planned(self) -> Iterator[PlannedCalls]:
        found: dict[tuple[bytes, int], tuple[Votes, int]] = {}
        for batch in Schedule(self.plan).sweeps():
            votes = np.array(self.plan.streams[batch.stream].histogram, dtype=np.int64)
            turned = np.roll(votes, batch.rotation)
            for size in batch.calls:
                key = turned.tobytes(), size
                found[key] = turned, found.get(key, (turned, 0))[1] + size
        yield from self._at_once(found)
        traffic = self.plan.traffic.histograms[:_TRAFFIC]
        if len(traffic):
            of_each = len(self.plan.traffic.histograms) / len(traffic)
            calls = tuple((votes, 1) for votes in traffic)
            yield PlannedCalls(
                calls,
                tuple(votes.tobytes() for votes in traffic),
                (of_each,) * len(calls),
                tuple(self.shapes.nats(traffic).tolist()),
            )

    def _at_once(self, found: dict[tuple[bytes, int], tuple[Votes, int]]) -> Iterator[PlannedCalls]:
        """The plan's calls: each histogram in calls of a few sizes, each large size once."""
        kept: dict[tuple[bytes, int], tuple[Votes, int, float]] = {}
        sizes = set[int]()
        for (key, size), (votes, labels) in found.items():
            large = size > _SMALL_CALL
            run = size if not large or size not in sizes else _SMALL_CALL
            sizes.add(run)
            before = kept.get((key, run), (votes, run, 0.0))[2]
            kept[key, run] = votes, run, before + labels
        each = list(kept.values())
        nats = self.shapes.nats(np.array([votes for votes, _, _ in each]))
        for start in range(0, len(each), _TRAFFIC):
            some, of_each = each[start : start + _TRAFFIC], nats[start : start + _TRAFFIC]
            yield PlannedCalls(
                tuple((votes, size) for votes, size, _ in some),
                tuple(votes.tobytes() for votes, _, _ in some),
                tuple(labels for _, _, labels in some),
                tuple(of_each.tolist()),
            )

    # -- what the source suggests ----------------------------------------------------------------

    def candidates(self, constants: Sequence[int]) -> Iterator[Candidate]:
        parts = (round(share * self.teachers) for share in self.shares)
        near = [list(around(c)) for c in sorted({*constants, *parts, 1, 2})]
        by_turn = chain(chain.from_iterable(zip_longest(*near)), sums(constants))
        values = [v for v in dict.fromkeys(by_turn) if v is not None and v <= LARGEST]
        votes_of = [v for v in values if v <= self._largest_total]
        histograms = self._distinct(self.shapes.having(votes_of))
        known = list[Candidate]()
        for votes in histograms:
            candidate = self._candidate([(votes, 1)], votes)
            known.append(candidate)
            yield candidate
        telling = self._most_telling([one.calls[0][0] for one in known])
        self._telling = self._candidate([(telling, 1)], telling)
        yield from self._sizes(telling, values, constants)
        yield from self._sequences(telling, values, known)

    def _most_telling(self, histograms: Sequence[Votes]) -> Votes:
        """The histogram of all teachers where half the noise shows soonest."""
        whole = [votes for votes in histograms if votes.sum() == self.teachers]
        return whole[int(self.shapes.nats(np.array(whole)).argmax())]

    def telling(self) -> Candidate:
        return self._telling

    def across(self, number: int, tried: Tried, turn: int) -> Iterable[Candidate]:
        candidate = nearest(tried)
        votes, size = candidate.calls[-1]
        for _ in range(_NEAR):
            moved = np.array(votes)
            one, other = self._rng.permutation(self.classes)[:2]
            most = int(moved[one])
            if most:
                step = int(self._rng.integers(1, most + 1))
                moved[one] -= step
                moved[other] += step
                yield self._candidate([*candidate.calls[:-1], (moved, size)], moved)

    def _candidate(self, calls: list[Call], votes: Votes) -> Candidate:
        half = float(self.shapes.nats(votes[None])[0])
        claimed = log_laws(self.mechanism, votes[None])[0]
        bare = -float(claimed[int(votes.argmax())])  # of the first class that leads, without noise
        nats = max(half, _OF_BARE * min(bare, self.needed), _LEAST_NATS)
        return Candidate(tuple(calls), self.needed / nats)

    def _distinct(self, histograms: Iterable[Votes]) -> Iterator[Votes]:
        met = set[bytes]()
        for votes in histograms:
            valid = 1 <= votes.sum() <= self._largest_total
            if votes.tobytes() not in met and valid:
                met.add(votes.tobytes())
                yield votes

    # -- calls for several labels, and several calls ---------------------------------------------

    def _sizes(
        self, telling: Votes, values: Sequence[int], constants: Sequence[int]
    ) -> Iterator[Candidate]:
        most = min(_LARGEST_CALL, self.claim.gate.largest_call or _LARGEST_CALL)
        for size in values:
            if 1 < size <= most:
                yield self._candidate([(telling, size)], telling)
                yield self._candidate([(telling, size), (telling, 1)], telling)
        few = [size for size in constants if 1 < size <= most][:_PAIRED]
        for one, other in product([1, *few], few):
            yield self._candidate([(telling, one), (telling, other)], telling)

    def _sequences(
        self, telling: Votes, values: Sequence[int], known: Sequence[Candidate]
    ) -> Iterator[Candidate]:
        """The same again, several leaders in turn, a larger call before a smaller one."""
        other = np.roll(telling, 1)
        anchors = [
            np.array(self.plan.streams[self.plan.first(role)].histogram, dtype=np.int64)
            for role in (Role.HIGH_CONSENSUS, Role.NEAR_TIE)
        ]
        for before in (telling, other, *anchors):
            yield self._candidate([(before, 1), (telling, 1)], telling)
            yield self._candidate([(before, 4), (telling, 1)], telling)
            yield self._candidate([(telling, 1), (before, 1), (telling, 1)], telling)
            yield self._candidate([(before, 1), (telling, 1)] * 2, telling)
            yield self._candidate([(before, 1), (before, 1), (telling, 1)], telling)
        for length in values:
            if 2 < length <= _LONGEST:
                for before in (telling, other, *anchors):
                    yield self._candidate([(before, 1)] * (length - 1) + [(telling, 1)], telling)
                fillers = [one.calls[-1][0] for one in known[: length - 2]]
                between = [(votes, 1) for votes in fillers]
                yield self._candidate([(telling, 1), *between, (telling, 1)], telling)
        for total in self._refused_totals:
            other = self.shapes.spread(total, {}, 0, GAPS[0])
            one = self._candidate([(telling, 1)], telling)
            size = math.ceil(one.answers / _REFUSED_CALLS)
            after = self._candidate([(other, 1), (telling, size)], telling)
            yield replace(after, after_refusal=True)
        few = sorted(known, key=lambda one: one.answers)[:_NEAR]
        for one in few:
            votes = one.calls[-1][0]
            yield self._candidate([(votes, 1), (votes, 1)], votes)
            yield self._candidate([(votes, 1), (telling, 1)], telling)
