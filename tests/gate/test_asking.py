"""How a batch is asked: in calls of its size, its classes numbered on and the labels back."""

import numpy as np
import pytest
from claims import gnmax

from dpassay.verifiers.kinds.labels.gathering.asking import StreamAsking
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import LabelBatch, Role
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget, PacedTarget

GNMAX = gnmax()
COARSE = {"smallest_effect": 0.5, "tolerance": 0.5}


class Leader:
    """Names the class with most votes, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def sample(self, histogram, size):
        self.asked.append((histogram.copy(), size))
        return np.full(size, histogram.argmax())


@pytest.fixture(scope="module")
def plan():
    return make_plan(parse_claim({"mechanism": GNMAX, "gate": COARSE}), 0)


@pytest.mark.parametrize("turn", [0, 1, 9])
def test_labels_of_turned_classes_are_numbered_back(plan, turn) -> None:
    target, stream = Leader(), plan.first(Role.INFORMATIVE)
    votes = np.array(plan.streams[stream].histogram)
    labels, calls = StreamAsking(InProcessTarget(target), plan, True, 0).labels(
        LabelBatch(stream, 5, turn)
    )
    assert labels.tolist() == [votes.argmax()] * 5
    assert calls == (5,)
    (asked, _) = target.asked[0]
    assert asked.tolist() == np.roll(votes, turn).tolist()


def test_a_batch_is_asked_in_calls_of_its_size(plan) -> None:
    target, stream = Leader(), plan.first(Role.NEAR_TIE)
    labels, calls = StreamAsking(InProcessTarget(target), plan, True, 0).labels(
        LabelBatch(stream, 7, call=3)
    )
    assert [size for _, size in target.asked] == [3, 3, 1]
    assert calls == (3, 3, 1)
    assert labels.size == 7


def test_the_calls_of_a_slow_target_are_told_as_they_were_made(plan) -> None:
    """What is compared call by call must not take two calls for one."""
    target, stream = Leader(), plan.first(Role.NEAR_TIE)
    slow = PacedTarget(InProcessTarget(target), 30.0, largest=4)
    _, calls = StreamAsking(slow, plan, True, 0).labels(LabelBatch(stream, 10))
    assert calls == (4, 4, 2) == tuple(size for _, size in target.asked)


@pytest.mark.slow("whole runs; others are")
def test_no_call_of_a_run_is_larger_than_the_claim_allows() -> None:
    sizes = []

    def single(histogram, size):
        sizes.append(size)
        return (histogram + np.random.default_rng().normal(0, 40, (size, 10))).argmax(1)

    claim = parse_claim({"mechanism": GNMAX, "gate": COARSE | {"largest_call": 3}})
    assert verify(InProcessTarget(single), claim, seed=0).verdict == "pass"
    assert max(sizes) == 3


@pytest.mark.slow("over half a second")
def test_one_query_that_is_left_asks_neither_of_two_in_turn() -> None:
    """Catches an ask for no labels, which is no evidence and no reply either."""
    coarse = parse_claim({"mechanism": GNMAX, "gate": COARSE})
    pair = make_plan(coarse, 0).streams[make_plan(coarse, 0).first(Role.PAIR)].histogram
    alone = select(["fresh-noise"], of=SHARES)
    target = Correct()
    verify(target, coarse, seed=0, selection=alone)
    sizes = [size for votes, size in target.asked if votes == pair]
    first = next(i for i, (votes, size) in enumerate(target.asked) if (votes, size) == (pair, 1))
    queries = sum(size for _, size in target.asked[:first])
    assert min(sizes) == 1
    report = verify(Correct(), coarse.with_limits(queries + 1, None), seed=0, selection=alone)
    assert report.queries == queries
    assert report.verdict == "inconclusive"


class Correct(InProcessTarget):
    """Right answers, in a start of its own; asked: the histogram and the size of each call."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.asked = []

        def answer(votes, size):
            self.asked.append((tuple(votes.tolist()), size))
            return (votes + rng.normal(0, 40, (size, 10))).argmax(1)

        super().__init__(answer)
