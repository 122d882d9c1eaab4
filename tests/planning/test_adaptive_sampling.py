"""What is asked next follows the evidence; which labels are asked in all does not."""

from collections import Counter
from functools import partial
from itertools import islice, product

import numpy as np
import pytest
from claims import gnmax
from plans import PLANS, plan

from dpassay.verifiers.evidence.dirichlet import PointedEvidence
from dpassay.verifiers.kinds.labels.planning.schedule import AdaptiveSampling, Schedule
from dpassay.verifiers.kinds.labels.planning.streams import LabelBatch, Role

COIN = gnmax(3, 2, 5)


def any_stream(_stream: int) -> bool:
    return True


def capital_of(evidence: PointedEvidence) -> np.ndarray:
    return evidence.capital


def labels_of(batches: list[LabelBatch]) -> dict[tuple[int | None, int], int]:
    """Labels by stream and turn."""
    asked: Counter[tuple[int | None, int]] = Counter()
    for batch in batches:
        asked[batch.stream, batch.rotation] += batch.size
        asked[batch.other, 0] += batch.size  # None, where there is none
    return asked


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.slow("over half a second")
def test_every_label_of_the_plan_is_asked_whatever_the_evidence(name) -> None:
    """Catches labels that are asked twice, or never: a pass would then say too much."""
    made, rng = plan(**PLANS[name]), np.random.default_rng(3)
    sampling = AdaptiveSampling(
        Schedule(made), lambda: rng.normal(0, 9, len(made.faults)), any_stream
    )
    asked, swept = labels_of(list(sampling.batches())), labels_of(list(Schedule(made).sweeps()))
    for i in range(len(made.streams)):
        assert asked[i, 0] == swept[i, 0]
        rotated = [
            sum(n for (at, rotation), n in a.items() if at == i and rotation)
            for a in (asked, swept)
        ]
        assert rotated[0] == rotated[1]


@pytest.mark.slow("over half a second")
def test_a_fault_that_has_won_is_followed_to_where_it_shows_most() -> None:
    """Catches a choice by the prior, and one by the labels that are left."""
    made = plan()
    for fault in range(len(made.faults)):
        capital = np.where(np.arange(len(made.faults)) == fault, 50.0, 0.0)
        first = next(AdaptiveSampling(Schedule(made), capital.copy, any_stream).batches())
        shows = np.where(Schedule(made).left > 0, made.fault_divergences[:, fault], 0.0)
        assert made.fault_divergences[first.stream, fault] == shows.max()
    assert np.unique(made.fault_divergences.argmax(0)).size > 5  # where each shows most differs


@pytest.mark.slow("over half a second")
def test_what_cannot_be_asked_is_passed_over() -> None:
    made = plan()
    zeros = np.zeros(len(made.faults))
    sampling = AdaptiveSampling(Schedule(made), lambda: zeros, lambda i: i != first.stream)
    first = next(AdaptiveSampling(Schedule(made), lambda: zeros, any_stream).batches())
    assert next(sampling.batches()).stream != first.stream
    nothing = AdaptiveSampling(Schedule(made), lambda: zeros, lambda _: False)
    assert list(nothing.batches()) == list(Schedule(made).sweeps())


@pytest.mark.slow("over half a second")
def test_the_sweeps_go_on_in_between() -> None:
    """A fault that nobody knows, of a histogram that no known one tells of, shows there alone."""
    made = plan()
    zeros = np.zeros(len(made.faults))
    swept = list(Schedule(made).sweeps())
    asked = list(AdaptiveSampling(Schedule(made), lambda: zeros, any_stream).batches())
    before = next(i for i, b in enumerate(asked) if made.streams[b.stream].role is Role.EXPLORER)
    planned = next(i for i, b in enumerate(swept) if made.streams[b.stream].role is Role.EXPLORER)
    labels = sum(b.labels for b in asked[:before])
    assert labels <= 4 * sum(b.labels for b in swept[:planned])


@pytest.mark.slow("over half a second")
def test_evidence_on_labels_chosen_by_evidence_has_expectation_1() -> None:
    """All ways that six labels can come out, each under its own choices.

    Catches a choice that has seen the labels it is made for.
    """
    made = plan(COIN, 0.5)
    q = np.exp(made.log_q)
    expected, chosen = 0.0, set()
    for labels in product(range(q.shape[1]), repeat=6):
        evidence = PointedEvidence(made.fault_weights)
        chance, streams = 1.0, []
        batches = AdaptiveSampling(
            Schedule(made), partial(capital_of, evidence), any_stream
        ).batches()
        for label, batch in zip(labels, islice(batches, 6), strict=True):
            assert batch.size == 1
            outcome = np.arange(q.shape[1]) == label
            evidence.observe(
                outcome.astype(float), made.rotated_ratios(batch.stream, batch.rotation)
            )
            chance *= q[batch.stream, label]
            streams.append(batch.stream)
        expected += chance * np.exp(evidence.log_e_value)
        chosen.add(tuple(streams))
    assert expected == pytest.approx(1.0, abs=1e-9)
    assert len(chosen) > 1  # the choice depends on the labels
