"""In which order, and in what batches, the streams of a plan are asked."""

from collections.abc import Iterator
from itertools import islice

from .plan import FRESH, LATE, PAIR, SIMPLE, SINGLES, Plan
from .planner import EXPLORER_QUERIES, FRESH_CALL

FIRST_BATCH = 32
LARGEST_BATCH = 8192
_EXPLORERS_A_SWEEP = 12
_TELLING = ("informative", "near-tie")  # deep, and a wrong scale moves their labels most
_FRONT = ("probe", *_TELLING)  # where the commonest faults show soonest
_ROUNDS = 4  # at the end, over what is kept for it
_CALLS_FROM = 128  # labels of each deep stream, after which calls themselves are compared

Batch = tuple[int, int]


def sweeps(plan: Plan) -> Iterator[Batch]:
    """Streams and batch sizes: every deep stream doubles its labels from sweep to sweep.

    So a gross fault shows within a few hundred labels; those of the kinds in `_FRONT` start. What
    is asked in a way of its own (calls of one size, a pair) comes in between, then calls of one
    label. Last is the late anchor, in turns with a quarter of the telling ones: in a clear winner
    alone a fault of the scale that sets in late would hardly show.
    """
    apart = (SIMPLE, FRESH, SINGLES, PAIR, LATE)
    deep = [i for i in range(plan.deep) if plan.streams[i].kind not in apart]
    explorers = iter(range(plan.deep, len(plan.streams)))
    kept = _kept_for_the_end(plan)
    planned = {i: plan.streams[i].queries - kept.get(i, 0) for i in deep}
    asked = dict.fromkeys(deep, 0)
    goal = FIRST_BATCH
    while any(asked[i] < planned[i] for i in deep):
        for i in deep:
            if goal == FIRST_BATCH and plan.streams[i].kind not in _FRONT:
                continue
            wanted = min(goal, planned[i])
            for size in _parts(wanted - asked[i]):
                yield i, size
            asked[i] = max(asked[i], wanted)
        if goal > FIRST_BATCH:
            yield from ((i, EXPLORER_QUERIES) for i in islice(explorers, _EXPLORERS_A_SWEEP))
        if goal == _CALLS_FROM:
            yield from _calls(plan)
        goal *= 2
    yield from ((i, EXPLORER_QUERIES) for i in explorers)
    single = plan.first(SINGLES)
    yield from ((single, 1) for _ in range(plan.streams[single].queries))
    for turn in range(_ROUNDS):
        for i, queries in kept.items():
            upto, before = queries * (turn + 1) // _ROUNDS, queries * turn // _ROUNDS
            yield from ((i, size) for size in _parts(upto - before))


def _kept_for_the_end(plan: Plan) -> dict[int, int]:
    """Queries kept for the end of a run, by stream: a quarter of the telling anchors, all late."""
    shares = {LATE: 1, **dict.fromkeys(_TELLING, 4)}
    return {
        i: stream.queries // shares[stream.kind]
        for i, stream in enumerate(plan.streams)
        if stream.kind in shares
    }


def _calls(plan: Plan) -> Iterator[Batch]:
    """Calls of one size, and the audited pair."""
    for i, stream in enumerate(plan.streams):
        if stream.kind == FRESH:
            # the first call has been made: it opens the run
            yield from ((i, FRESH_CALL) for _ in range(stream.queries // FRESH_CALL - 1))
        elif stream.kind == PAIR:
            yield i, stream.queries


def _parts(size: int) -> Iterator[int]:
    """A size in batches that are not too large."""
    while size > 0:
        yield min(size, LARGEST_BATCH)
        size -= LARGEST_BATCH
