"""In which order streams are asked: each as often as planned, telling ones late too."""

from collections import Counter

import numpy as np
import pytest
from plans import GNMAX, PLANS, plan

from dpassay.verifiers.kinds.labels.planning.schedule import (
    LARGEST_BATCH,
    SHORT_CALL,
    SHORT_CALLS,
    Schedule,
)
from dpassay.verifiers.kinds.labels.planning.streams import FRESH_CALL, Role


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.quick_cases(2)
def test_each_stream_is_asked_as_often_as_planned(name) -> None:
    """Catches a part kept for the end and forgotten, or asked twice."""
    made, asked, rotated = plan(**PLANS[name]), Counter(), Counter()
    for batch in Schedule(made).sweeps():
        large = batch.size > LARGEST_BATCH
        assert batch.size > 0
        assert not large or made.streams[batch.stream].role is Role.NEAR_TIE
        asked[batch.stream] += batch.size
        asked[batch.other] += batch.size  # None, where there is none
        rotated[batch.stream] += batch.size * (batch.rotation > 0)
    for i, stream in enumerate(made.streams):
        opening = FRESH_CALL if stream.role is Role.FRESH else 0  # the run's first call
        assert asked[i] == stream.queries - opening, stream.kind
        assert rotated[i] == stream.rotated, stream.kind


@pytest.mark.slow("over half a second")
def test_every_class_contends_under_some_numbering() -> None:
    """Half of an anchor is asked under other numbers, each of them; not those that are compared."""
    made = plan()
    for role in (Role.INFORMATIVE, Role.NEAR_TIE, Role.SMALLER_TOTAL, Role.LADDER):
        stream = made.of(role)[-1]
        turns = {batch.rotation for batch in Schedule(made).sweeps() if batch.stream == stream}
        assert turns == set(range(10)), role
    for role in (Role.OTHER_TOTAL, Role.SHIFTED, Role.PERMUTED, Role.RAISED):
        assert made.streams[made.first(role)].rotated == 0
    assert all(stream.rotated == 0 for stream in plan(GNMAX | {"caching": True}).streams)


def test_calls_of_every_kind_are_made() -> None:
    """Production asks for one label at a time: what it asks must have been looked at."""
    made = plan()
    batches = list(Schedule(made).sweeps())
    singles = Counter()
    for batch in batches:
        singles[made.streams[batch.stream].histogram] += batch.size * (batch.call == 1)
    near_tie = made.streams[made.first(Role.NEAR_TIE)].histogram
    assert singles[near_tie] == 2048
    deep = {s.histogram for s in made.streams if s.is_anchor or s.role is Role.LADDER}
    assert all(singles[histogram] >= 128 for histogram in deep)
    short = [b for b in batches if b.call == SHORT_CALL]
    assert sum(b.size for b in short) == SHORT_CALLS * SHORT_CALL
    assert max(b.size for b in batches if b.call is None) > 12_000  # blocks of 10,000 show
    sizes = Counter(size for b in batches if isinstance(b.call, tuple) for size in b.calls)
    assert all(any(sizes[n] for n in few) for few in ((2, 3), (4, 5, 6), (8, 9), range(10, 16)))


def test_small_calls_have_their_share_of_the_labels() -> None:
    """Noise that calls for 2 to 15 labels share passed where few labels were in such calls.

    With as many labels in each octave of sizes from 2 to 64, those below 16 have 0.6 of them; with
    as many calls in each, 0.2.
    """
    made = plan()
    for batch in Schedule(made).sweeps():
        if isinstance(batch.call, tuple) and made.streams[batch.stream].role is Role.NEAR_TIE:
            small = sum(size for size in batch.calls if size < 16)
            assert small > 0.4 * batch.size
    explored = Counter()
    for batch in Schedule(made).sweeps():
        if isinstance(batch.call, tuple) and made.streams[batch.stream].role is Role.EXPLORER:
            explored["small"] += sum(size for size in batch.calls if size < 16)
            explored["all"] += batch.size
    assert explored["small"] > 0.4 * explored["all"]


def test_two_neighbours_are_asked_in_turn() -> None:
    """An answer kept for the request after the next would not show otherwise."""
    made = plan()
    roles = {made.streams[b.stream].role for b in Schedule(made).sweeps() if b.other is not None}
    assert roles == {Role.PAIR, Role.EVEN}
    for batch in Schedule(made).sweeps():
        if batch.other is not None:
            one, other = (np.array(made.streams[i].histogram) for i in (batch.stream, batch.other))
            assert np.abs(one - other).sum() == 2


def test_the_end_of_a_run_tells_the_noise_scale() -> None:
    """A clear winner alone would not: the last tenth has a quarter of the telling anchors."""
    made = plan()
    batches = list(Schedule(made).sweeps())
    at_the_end = {Role.INFORMATIVE, Role.NEAR_TIE, Role.LATE}
    last = max(i for i, b in enumerate(batches) if made.streams[b.stream].role not in at_the_end)
    labels = Counter()
    for batch in batches[last + 1 :]:
        labels[made.streams[batch.stream].role] += batch.size
    for role in (Role.INFORMATIVE, Role.NEAR_TIE):
        planned = made.streams[made.first(role)].queries
        assert labels[role] >= planned // 4 - planned // 16
    assert labels[Role.LATE] == made.streams[made.first(Role.LATE)].queries
