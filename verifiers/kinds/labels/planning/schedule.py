"""In which order, and in what batches, the streams of a plan are asked."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ....targets import parts
from .course import Course
from .plan import Batch, Pair, Plan
from .roles import Role
from .stream_planner import FRESH_CALL, PAIR_QUERIES
from .traits import Asked

FIRST_BATCH = 32
SHORT_CALL, SHORT_CALLS = 16, 1024
"""Labels per call, and number, of the calls that are compared with each other. Where each call has
one of 2^16 seeds at random, two of the calls share one with probability above 0.9995."""

_CALLS_A_BATCH = 64
_MIXED = 2048  # labels of the near-tie in calls of any size
_SINGLES_A_BATCH = 256
_EXPLORERS_A_SWEEP = 12
_TELLING = (Role.INFORMATIVE, Role.NEAR_TIE)  # deep, and a wrong scale moves their labels most
_FRONT = (Role.PROBE, *_TELLING)  # where the commonest faults show soonest
_ROUNDS = 4  # at the end, over what is kept for it
_TURNED_FROM = 512  # labels of a stream, from which its classes are numbered otherwise in turn
# labels of each deep stream after which come:
_CALLS_AFTER = 32  # a pair, some calls for one label
_SHORT_CALLS_AFTER = 2048
_SINGLES_AFTER = 4096  # calls for one label of the near-tie: most of them
_LARGE_CALL_AFTER = 8192  # all that is left of the near-tie, in one call


class Schedule:
    """The labels of a plan and the order in which sweeps ask them; some may be asked ahead of it.

    Every deep stream doubles its labels from sweep to sweep, so that a gross fault shows within a
    few hundred labels; those of the roles in `_FRONT` start. What is asked in a way of its own
    (calls of one size, a pair, calls for one label, one large call) comes in between. Last is the
    late anchor, interleaved with a reserved quarter of the telling anchors: in a clear winner alone
    a fault of the scale that sets in late would hardly show.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._kept = _kept_for_the_end(plan)
        self._in_between = _in_between(plan, self._kept)
        self._straight, self._turned = _courses(plan, self._kept, self._in_between)

    def sweeps(self) -> Iterator[Batch]:
        """All batches of labels that have not been asked ahead."""
        explorers = iter(_explorers(self.plan))
        goal = FIRST_BATCH
        while any(course.left for course in (*self._straight, *self._turned)):
            while self._in_between and goal > self._in_between[0][0]:
                yield from self._in_between.pop(0)[1]
            yield from self._sweep(goal)
            few = _EXPLORERS_A_SWEEP // (2 if goal == FIRST_BATCH else 1)
            yield from islice(explorers, few)
            goal *= 2
        for _, batches in self._in_between:
            yield from batches
        yield from explorers
        late = [_course(self.plan, i, *labels) for i, labels in self._kept.items()]
        for turn in range(1, _ROUNDS + 1):
            for courses in late:
                for course in courses:
                    yield from course.up_to(course.planned * turn // _ROUNDS)

    def _sweep(self, goal: int) -> Iterator[Batch]:
        """Once over the deep streams, until each has been asked for so many labels."""
        for course, other in zip(self._straight, self._turned, strict=True):
            halved = other.planned > 0 and goal >= _TURNED_FROM
            if goal > FIRST_BATCH or self.plan.streams[course.stream].role in _FRONT:
                yield from course.up_to(goal // 2 if halved and course.planned > goal else goal)
            if halved:
                yield from other.up_to(goal // 2 if other.planned > goal else goal)

    @property
    def left(self) -> NDArray[np.int64]:
        """Labels of each stream (streams,) that may be asked ahead."""
        left = np.zeros(len(self.plan.streams), dtype=np.int64)
        for course in (*self._straight, *self._turned):
            left[course.stream] += course.left
        return left

    def ahead(self, stream: int, size: int) -> Iterator[Batch]:
        """Batches of a stream's next labels, about `size` of them, that sweeps then leave out.

        Straight and turned ones in the ratio in which they are left.
        """
        courses = [c for c in (*self._straight, *self._turned) if c.stream == stream and c.left]
        most = max(courses, key=lambda course: course.left / course.planned)
        yield from most.up_to(most.asked + size)


def _course(plan: Plan, stream: int, straight: int, turned: int) -> tuple[Course, Course]:
    classes = plan.claim.mechanism.classes
    return Course(stream, straight), Course(stream, turned, classes)


def _courses(
    plan: Plan, kept: dict[int, tuple[int, int]], in_between: list[tuple[int, list[Batch]]]
) -> tuple[tuple[Course, ...], tuple[Course, ...]]:
    """The straight and the turned labels of the streams that the sweeps ask."""
    elsewhere = Counter({i: straight for i, (straight, _) in kept.items()})
    for _, batches in in_between:
        elsewhere.update(dict.fromkeys((b.stream for b in batches), 0))
        for batch in batches:
            elsewhere[batch.stream] += batch.size
    found = []
    for i, stream in enumerate(plan.streams[: plan.deep]):
        if stream.role.asked is Asked.SWEPT:
            late = kept.get(i, (0, 0))[1]
            planned = stream.queries - stream.turned - elsewhere[i]
            found.append(_course(plan, i, planned, stream.turned - late))
    return tuple(one for one, _ in found), tuple(other for _, other in found)


def _kept_for_the_end(plan: Plan) -> dict[int, tuple[int, int]]:
    """Labels kept for the end of a run, straight and turned, by stream.

    A quarter of the telling anchors, turned as far as may be, and all of the late one.
    """
    kept = {}
    for i, stream in enumerate(plan.streams):
        if stream.role.asked is Asked.AT_THE_END:
            kept[i] = (stream.queries - stream.turned, stream.turned)
        elif stream.role in _TELLING:
            turned = min(stream.turned, stream.queries // 4)
            kept[i] = (stream.queries // 4 - turned, turned)
    return kept


def _in_between(plan: Plan, kept: dict[int, tuple[int, int]]) -> list[tuple[int, list[Batch]]]:
    """What is asked in a way of its own, and after how many labels of each deep stream."""
    like_the_first, first, more = [], [], []
    pairs = {pair.first: pair for pair in plan.pairs}
    for i, stream in enumerate(plan.streams):
        if stream.role.asked is Asked.IN_CALLS:
            # the first call has been made: it opens the run
            calls = stream.queries // FRESH_CALL - 1
            like_the_first += [Batch(i, FRESH_CALL)] * calls
        elif i in pairs:
            first += _in_turn(plan, pairs[i])
        elif stream.role.asked is Asked.ONE_BY_ONE:
            batches = [Batch(i, size, call=1) for size in parts(stream.queries, _SINGLES_A_BATCH)]
            first += batches[:1]
            more += batches[1:]
    short, large = _of_the_near_tie(plan, kept)
    after = (0, _CALLS_AFTER, _SHORT_CALLS_AFTER, _SINGLES_AFTER, _LARGE_CALL_AFTER)
    return list(zip(after, (like_the_first, first, short, more, large), strict=True))


def _in_turn(plan: Plan, pair: Pair) -> list[Batch]:
    """Two neighbours in calls for one label, in turn; then, one by one, what an audit needs more.

    In turn, because an answer may be that to the histogram asked just before.
    """
    queries = plan.streams[pair.first].queries
    in_turn = min(PAIR_QUERIES, queries)
    more = queries - in_turn
    batches = [Batch(pair.first, in_turn, call=1, other=pair.second)]
    return batches + ([Batch(i, more) for i in pair.streams] if more else [])


def _of_the_near_tie(
    plan: Plan, kept: dict[int, tuple[int, int]]
) -> tuple[list[Batch], list[Batch]]:
    """Short calls that are compared with each other, and one large call."""
    at = plan.first(Role.NEAR_TIE)
    stream = plan.streams[at]
    if plan.claim.mechanism.caching:
        return [], []
    straight = stream.queries - stream.turned - kept[at][0]
    calls = min(SHORT_CALLS, straight // (2 * SHORT_CALL))
    large = (straight - calls * SHORT_CALL) * 3 // 4
    sizes = parts(calls, _CALLS_A_BATCH)
    short = [Batch(at, size * SHORT_CALL, call=SHORT_CALL) for size in sizes]
    if large > _MIXED:
        mixed = _mixed(np.random.default_rng(at))
        short.append(Batch(at, _MIXED, call=mixed))
        large -= _MIXED
    return short, [Batch(at, large)] if large else []


def _explorers(plan: Plan) -> list[Batch]:
    """Every other one in calls for one label, as production asks, the others in calls of any."""
    explored = [i for i, s in enumerate(plan.streams) if s.role.asked is Asked.EXPLORED]
    rng = np.random.default_rng(len(plan.streams))
    return [
        Batch(i, plan.streams[i].queries, call=1 if place % 2 else _mixed(rng))
        for place, i in enumerate(explored)
    ]


def _mixed(rng: np.random.Generator) -> tuple[int, ...]:
    """Sizes of calls between 2 and 64: as many labels in those of 2 to 3 as in those of 32 to 63.

    So the density of sizes falls with their square. Were small calls only as many as large ones,
    few labels would be in them, and what they share would show by chance.
    """
    inverse = rng.uniform(1.0 / 65.0, 1.0 / 2.0, 40)
    return tuple(int(1.0 / x) for x in inverse)
