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
    """What class-probabilities says where class k comes as number(k), of the first `kept`."""
    rng = np.random.default_rng(4)

    def aggregate(votes, size):
        labels = (votes[:kept] + rng.normal(0.0, 40.0, (size, kept))).argmax(-1)
        return number(labels)

    report = verify(InProcessTarget(aggregate), CLAIM, seed=2)
    return result(report, "class-probabilities").diagnosis, report


@pytest.mark.parametrize(
    ("number", "words", "advice"),
    [
        (
            lambda k: (k + 1) % 10,
            "class k were numbered k + 1, and class 9 were 0",
            "count classes from 1?",
        ),
        (
            lambda k: (k - 1) % 10,
            "class k were numbered k - 1, and class 0 were 9",
            "count classes from 1?",
        ),
        (lambda k: 9 - k, "classes were numbered backwards", "compare the order"),
        (lambda k: SHUFFLED[k], "classes were numbered otherwise, ", "compare the"),
        (lambda k: SWAPPED[k], "classes 3 and 8 had each other's numbers", "compare the order"),
    ],
    ids=["plus-one", "minus-one", "backwards", "shuffled", "swapped"],
)
@pytest.mark.quick_cases(1)
def test_how_classes_are_numbered_is_read_from_the_labels(number, words, advice) -> None:
    """Catches labels of turned histograms that are taken as numbered back, and other causes told.

    Frozen answers and wrong scales explain such labels too, and far worse.
    """
    diagnosis, report = said_of(number)
    assert words in diagnosis
    assert advice in diagnosis
    causes = [found.diagnosis for found in report.checks if found.verdict.value == "fail"]
    assert all(words in cause for cause in causes)


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (9, "as if the target had 9 classes: class 9 never came"),
        (6, "as if the target had 6 classes: classes 6 to 9 never came"),
    ],
)
@pytest.mark.quick_cases(1)
def test_fewer_classes_than_claimed_are_counted(kept, words) -> None:
    """Noise that is missing on the last class leaves it rare as well, but lets it win at times."""
    diagnosis, _ = said_of(lambda k: k, kept)
    assert words in diagnosis
    assert "compare classes = 10 of the claim" in diagnosis


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
