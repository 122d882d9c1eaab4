"""The order and the batches in which the streams of a plan are asked.

A `Schedule` follows from the plan. `AdaptiveSampling` goes through it, and asks ahead what tells
most by the evidence so far: sequential design of experiments.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from ....targets import parts
from .plan import Plan
from .streams import FRESH_CALL, LabelBatch, Role, StreamPair, WayOfAsking

FIRST_BATCH = 32
SHORT_CALL, SHORT_CALLS = 16, 1024
"""Labels per call, and number, of the calls that are compared with each other. Where each call has
one of 2^16 seeds at random, two of the calls share one with probability above 0.9995."""

LARGEST_BATCH = 8192
"""Most labels of a batch, except for the one large call."""

_ROTATED_BATCH = 256  # labels under one numbering, about
_CALLS_A_BATCH = 64
_MIXED = 2048  # labels of the near-tie in calls of any size
_SINGLES_A_BATCH = 256
_EXPLORERS_A_SWEEP = 12
_TELLING = (Role.INFORMATIVE, Role.NEAR_TIE)  # a wrong scale moves their labels most
_FRONT = (Role.PROBE, *_TELLING)  # where the commonest faults show soonest
_ROUNDS = 4  # over the streams that are kept for the end
_TURNED_FROM = 512  # labels of a stream from which its class numbers are rotated too
# labels of each deep stream after which the following are asked:
_CALLS_AFTER = 32  # pairs of neighbours, and the first calls for one label
_SHORT_CALLS_AFTER = 2048
_SINGLES_AFTER = 4096  # the other calls for one label
_LARGE_CALL_AFTER = 8192  # the rest of the near-tie, in one call

_HEAD_START = 128  # labels before the first sweep
_SHARE, _SHARE_OF_A_LEADER = 1 / 2, 3 / 4  # labels asked ahead; more once a fault leads
_LEADS = 3.0  # nats of evidence from which a fault leads
_GROWTH = 8  # a batch is an eighth of the labels asked so far


@dataclass
class StreamProgress:
    """Progress of a stream: `asked` of its `planned` labels.

    classes: 0 where the histogram is asked as it stands, else the number of classes, whose
    numbering is rotated from batch to batch; rotation: the latest rotation, in places.
    """

    stream: int
    planned: int
    classes: int = 0
    asked: int = 0
    rotation: int = 0

    @property
    def left(self) -> int:
        """Labels still to be asked."""
        return self.planned - self.asked

    def up_to(self, goal: int) -> Iterator[LabelBatch]:
        """Batches until `goal` labels, or all planned ones, have been asked."""
        left = min(goal, self.planned) - self.asked
        self.asked += max(left, 0)
        while left > 0:
            size = min(left, LARGEST_BATCH)
            if self.classes:
                self.rotation = self.rotation % (self.classes - 1) + 1
                size = max(min(size, _ROTATED_BATCH), -(-size // (self.classes - 1)))
            yield LabelBatch(self.stream, size, self.rotation)
            left -= size


class Schedule:
    """The order of a plan's labels, in sweeps; labels may also be asked ahead of their sweep.

    Each round over the deep streams doubles their labels, so that a gross fault shows soon; the
    first asks the roles in `_FRONT` only. Streams with a way of asking of their own come in
    between. The late anchor comes last, with a quarter of the informative and the near-tie: a scale
    that goes wrong late would hardly show on a clear winner alone.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._in_between = _in_between(plan)
        elsewhere = Counter[int]()
        for _, batches in self._in_between:
            for batch in batches:
                elsewhere[batch.stream] += batch.size
        # of each swept stream, and of each that is kept for the end: straight, then rotated labels
        self._swept: list[tuple[StreamProgress, StreamProgress]] = []
        self._late: list[tuple[StreamProgress, StreamProgress]] = []
        for i, stream in enumerate(plan.streams):
            straight, rotated = _kept_for_the_end(plan, i)
            if straight + rotated:
                self._late.append(self._progress(i, straight, rotated))
            if stream.role.asked is WayOfAsking.SWEPT:
                elsewhere[i] += straight
                swept = stream.queries - stream.rotated - elsewhere[i]
                self._swept.append(self._progress(i, swept, stream.rotated - rotated))
        self._each = [progress for both in self._swept for progress in both]

    def _progress(
        self, stream: int, straight: int, rotated: int
    ) -> tuple[StreamProgress, StreamProgress]:
        classes = self.plan.claim.mechanism.classes
        return StreamProgress(stream, straight), StreamProgress(stream, rotated, classes)

    def sweeps(self) -> Iterator[LabelBatch]:
        """Every batch of labels that has not been asked ahead, in order."""
        explorers = iter(_explorers(self.plan))
        goal = FIRST_BATCH
        while any(progress.left for progress in self._each):
            while self._in_between and goal > self._in_between[0][0]:
                yield from self._in_between.pop(0)[1]
            yield from self._sweep(goal)
            few = _EXPLORERS_A_SWEEP // (2 if goal == FIRST_BATCH else 1)
            yield from islice(explorers, few)
            goal *= 2
        for _, batches in self._in_between:
            yield from batches
        yield from explorers
        for turn in range(1, _ROUNDS + 1):
            for both in self._late:
                for progress in both:
                    yield from progress.up_to(progress.planned * turn // _ROUNDS)

    def _sweep(self, goal: int) -> Iterator[LabelBatch]:
        """One round over the deep streams, up to `goal` labels of each."""
        for progress, other in self._swept:
            halved = other.planned > 0 and goal >= _TURNED_FROM
            if goal > FIRST_BATCH or self.plan.streams[progress.stream].role in _FRONT:
                yield from progress.up_to(goal // 2 if halved and progress.planned > goal else goal)
            if halved:
                yield from other.up_to(goal // 2 if other.planned > goal else goal)

    @property
    def left(self) -> NDArray[np.int64]:
        """Labels of each stream (streams,) that may be asked ahead."""
        left = np.zeros(len(self.plan.streams), dtype=np.int64)
        for progress in self._each:
            left[progress.stream] += progress.left
        return left

    def ahead(self, stream: int, size: int) -> Iterator[LabelBatch]:
        """Batches of about `size` of a stream's next labels, which later sweeps leave out.

        They are straight or rotated, whichever has more left of what was planned.
        """
        courses = [c for c in self._each if c.stream == stream and c.left]
        most = max(courses, key=lambda progress: progress.left / progress.planned)
        yield from most.up_to(most.asked + size)


def _kept_for_the_end(plan: Plan, at: int) -> tuple[int, int]:
    """Labels of a stream that are kept for the end of a run, straight and rotated.

    All of the late anchor; a quarter of the informative and the near-tie, rotated as far as
    planned.
    """
    stream = plan.streams[at]
    if stream.role.asked is WayOfAsking.AT_THE_END:
        return stream.queries - stream.rotated, stream.rotated
    if stream.role not in _TELLING:
        return 0, 0
    rotated = min(stream.rotated, stream.queries // 4)
    return stream.queries // 4 - rotated, rotated


def _in_between(plan: Plan) -> list[tuple[int, list[LabelBatch]]]:
    """Batches that are asked between sweeps, and after how many labels of each deep stream."""
    like_the_first, first, more = [], [], []
    pairs = {pair.first: pair for pair in plan.pairs}
    for i, stream in enumerate(plan.streams):
        if stream.role.asked is WayOfAsking.IN_CALLS:
            # the first call has been made: it opens the run
            like_the_first += [LabelBatch(i, FRESH_CALL)] * (stream.queries // FRESH_CALL - 1)
        elif i in pairs:
            first += _in_turn(pairs[i], stream.queries)
        elif stream.role.asked is WayOfAsking.ONE_BY_ONE:
            sizes = parts(stream.queries, _SINGLES_A_BATCH)
            batches = [LabelBatch(i, size, call=1) for size in sizes]
            first += batches[:1]
            more += batches[1:]
    short, large = _of_the_near_tie(plan)
    after = (0, _CALLS_AFTER, _SHORT_CALLS_AFTER, _SINGLES_AFTER, _LARGE_CALL_AFTER)
    return list(zip(after, (like_the_first, first, short, more, large), strict=True))


def _in_turn(pair: StreamPair, queries: int) -> list[LabelBatch]:
    """Two neighbours in alternating calls for one label; then each one's other audit labels.

    They alternate because a faulty target may answer the histogram asked just before.
    """
    in_turn = min(Role.PAIR.breadth[0], queries)
    batches = [LabelBatch(pair.first, in_turn, call=1, other=pair.second)]
    more = queries - in_turn
    return batches + ([LabelBatch(i, more) for i in pair.streams] if more else [])


def _of_the_near_tie(plan: Plan) -> tuple[list[LabelBatch], list[LabelBatch]]:
    """Batches of the near-tie: short calls that are compared with each other, and a large one."""
    if plan.claim.mechanism.caching:
        return [], []
    at = plan.first(Role.NEAR_TIE)
    stream = plan.streams[at]
    straight = stream.queries - stream.rotated - _kept_for_the_end(plan, at)[0]
    calls = min(SHORT_CALLS, straight // (2 * SHORT_CALL))
    large = (straight - calls * SHORT_CALL) * 3 // 4
    sizes = parts(calls, _CALLS_A_BATCH)
    short = [LabelBatch(at, size * SHORT_CALL, call=SHORT_CALL) for size in sizes]
    if large > _MIXED:
        short.append(LabelBatch(at, _MIXED, call=_mixed(np.random.default_rng(at))))
        large -= _MIXED
    return short, [LabelBatch(at, large)] if large else []


def _explorers(plan: Plan) -> Iterator[LabelBatch]:
    """Batches of the explorers: every other one in calls for one label, the rest in mixed sizes."""
    rng, mixed = np.random.default_rng(len(plan.streams)), True
    for i, stream in enumerate(plan.streams):
        if stream.role.asked is WayOfAsking.EXPLORED:
            yield LabelBatch(i, stream.queries, call=_mixed(rng) if mixed else 1)
            mixed = not mixed


def _mixed(rng: np.random.Generator) -> tuple[int, ...]:
    """40 sizes of calls from 2 to 64, with density proportional to size^-2.

    Small calls are then common enough for noise that the labels of a small call share to show.
    """
    inverse = rng.uniform(1.0 / 65.0, 1.0 / 2.0, 40)
    return tuple(int(1.0 / x) for x in inverse)


class AdaptiveSampling:
    """Asks ahead of the sweeps where the known faults would show soonest, by the evidence so far.

    The stream asked next has the largest divergence from the claim, averaged over the faults by the
    capital of each wager (Chernoff 1959; Naghshvar and Javidi 2013). The choice depends on earlier
    labels alone, so every e-process remains valid, and the labels of the whole run stay as planned.
    capital: gives the log-wealth (faults,) of each wager, prior weights included; usable: whether a
    stream can be asked.
    """

    def __init__(
        self,
        schedule: Schedule,
        capital: Callable[[], Vector],
        usable: Callable[[int], bool],
    ) -> None:
        self._schedule, self._capital, self._usable = schedule, capital, usable
        self._before = capital()
        self._ahead = self._swept = 0

    def batches(self) -> Iterator[LabelBatch]:
        """Every batch of the plan, those asked ahead between those of the sweeps."""
        for swept in self._schedule.sweeps():
            while self._ahead < _HEAD_START + self._of_each_swept * self._swept:
                stream = self._best()
                if stream is None:
                    break
                size = min(LARGEST_BATCH, max(1, (self._ahead + self._swept) // _GROWTH))
                for batch in self._schedule.ahead(stream, size):
                    self._ahead += batch.labels
                    yield batch
            self._swept += swept.labels
            yield swept

    @property
    def _of_each_swept(self) -> float:
        """Labels asked ahead for each label of the sweeps."""
        leads = float(np.max(self._capital() - self._before)) >= _LEADS
        share = _SHARE_OF_A_LEADER if leads else _SHARE
        return share / (1.0 - share)

    def _best(self) -> int | None:
        """The stream to ask next; None where no label that is left distinguishes a fault."""
        capital = self._capital()
        tells = self._schedule.plan.fault_divergences @ np.exp(capital - capital.max())
        left = self._schedule.left
        usable = [left[i] > 0 and self._usable(i) for i in range(left.size)]
        best = int(np.argmax(np.where(usable, tells, -1.0)))
        return best if usable[best] and tells[best] > 0.0 else None
