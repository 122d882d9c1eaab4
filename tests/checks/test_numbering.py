"""Classes that a target numbers, or counts, otherwise: what a newcomer reads of it."""

import numpy as np
import pytest
from claims import COARSE
from runs import claimed, result

from dpassay.verifiers.kinds.labels.checks.numbering import AsNumbered
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

CLAIM = claimed(**COARSE)
SHUFFLED = np.array([3, 1, 4, 0, 5, 9, 2, 6, 8, 7])
SWAPPED = np.array([0, 1, 2, 8, 4, 5, 6, 7, 3, 9])


def said_of(number, kept=10):
    """What class-probabilities finds where class k comes as number(k), of the first `kept`."""
    rng = np.random.default_rng(4)

    def aggregate(votes, size):
        labels = (votes[:kept] + rng.normal(0.0, 40.0, (size, kept))).argmax(-1)
        return number(labels)

    report = verify(InProcessTarget(aggregate), CLAIM, seed=2)
    return result(report, "class-probabilities"), report


@pytest.mark.parametrize(
    ("number", "fields"),
    [
        (lambda k: (k + 1) % 10, {"shift": 1}),
        (lambda k: (k - 1) % 10, {"shift": 9}),
        (lambda k: 9 - k, {"order": "backwards"}),
        (lambda k: SHUFFLED[k], {"classes": int((np.arange(10) != SHUFFLED).sum())}),
        (lambda k: SWAPPED[k], {"class": 3, "other_class": 8}),
    ],
    ids=["plus-one", "minus-one", "backwards", "shuffled", "swapped"],
)
@pytest.mark.slow("over half a second")
def test_how_classes_are_numbered_is_read_from_the_labels(number, fields) -> None:
    """Catches labels of turned histograms that are taken as numbered back, and other causes told.

    Frozen answers and wrong scales explain such labels too, and far worse.
    """
    _, report = said_of(number)
    failed = [found for found in report.checks if found.verdict.value == "fail"]
    assert failed
    for found in failed:
        assert (found.code, dict(found.fields)) == ("classes-renumbered", fields)


@pytest.mark.parametrize("kept", [9, 6])
@pytest.mark.slow("over half a second")
def test_fewer_classes_than_claimed_are_counted(kept) -> None:
    """Noise that is missing on the last class leaves it rare as well, but lets it win at times."""
    found, _ = said_of(lambda k: k, kept)
    assert found.code == "class-count-differs"
    assert (found.fields["classes"], found.fields["claimed"]) == (kept, 10)
    assert found.fields["expected"] > 20.0


@pytest.mark.slow("over half a second")
def test_labels_of_the_claim_have_no_other_numbering() -> None:
    """Of 20 runs none: a choice among 10! orders that cost nothing would explain each better."""
    plan = make_plan(CLAIM, 0)
    rng = np.random.default_rng(0)
    law = np.exp(plan.log_q)
    for _ in range(20):
        numbered = AsNumbered(plan)
        for stream in range(len(plan.streams)):
            for rotation in (0, 3):
                counts = rng.multinomial(60, law[stream] / law[stream].sum()).astype(np.float64)
                numbered.observe(stream, counts, rotation)
        found = numbered.likeliest()
        assert found is None or found.log_ratio < 0.0
