"""Wagers on logs: exact expectations over all label sequences, and the same by any chunks."""

import itertools

import numpy as np
import pytest

from dpassay.verifiers.evidence.onset import (
    CellEvidence,
    OnsetEvidence,
    log_prior,
    log_tail,
    transform_to_cells,
)

LAW = np.array([0.6, 0.3, 0.1])
OTHERS = np.log(np.array([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]]) / LAW)


@pytest.mark.parametrize("labels", [1, 2, 5, 9])
def test_cells_are_fair_for_every_number_of_labels(labels):
    """Catches windows whose shares sum to more than one, or that count labels from before."""
    total = 0.0
    for cells in itertools.product(range(2), repeat=labels):
        total += np.exp(CellEvidence(0.05, 2).observe(np.array(cells))[-1]) / 2**labels
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("labels", [1, 2, 6])
def test_onsets_are_fair_for_every_number_of_labels(labels):
    """Catches an onset that is paid for twice, or a prior that sums to more than one."""
    total = 0.0
    for seen in itertools.product(range(3), repeat=labels):
        evidence = OnsetEvidence(np.array([0.25, 0.75]))
        value = evidence.observe(OTHERS[:, list(seen)].T)[-1]
        assert evidence.log_e_value == pytest.approx(value)
        total += np.exp(value) * np.prod(LAW[list(seen)])
    assert total == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(ValueError, match="at most 1"):
        OnsetEvidence(np.array([0.7, 0.7]))


def test_the_best_rule_of_stopping_gains_nothing():
    """Backward induction over all sequences of six labels: a martingale's optimum is 1."""

    def best(seen):
        evidence = OnsetEvidence(np.array([0.5, 0.5]))
        now = 1.0
        if seen:
            now = float(np.exp(evidence.observe(OTHERS[:, list(seen)].T)[-1]))
        if len(seen) == 6:
            return now
        return max(now, sum(LAW[k] * best((*seen, k)) for k in range(3)))

    assert best(()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("sizes", [(40,), (1,) * 40, (3, 17, 1, 19)])
def test_chunks_change_nothing(sizes):
    """Catches carries that are lost between chunks, in values, onsets and windows."""
    rng = np.random.default_rng(1)
    cells, labels = rng.integers(0, 16, 40), rng.integers(0, 3, 40)
    whole_cells, whole_onset = CellEvidence(0.02), OnsetEvidence(np.array([0.5, 0.5]))
    expected = whole_cells.observe(cells), whole_onset.observe(OTHERS[:, labels].T)
    by_cells, by_onset = CellEvidence(0.02), OnsetEvidence(np.array([0.5, 0.5]))
    found: tuple[list[float], list[float]] = ([], [])
    ends = np.cumsum(sizes)
    for start, end in zip(ends - np.array(sizes), ends, strict=True):
        found[0].extend(by_cells.observe(cells[start:end]))
        found[1].extend(by_onset.observe(OTHERS[:, labels[start:end]].T))
    np.testing.assert_allclose(found[0], expected[0], atol=1e-10)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-10)
    np.testing.assert_array_equal(by_onset.onsets, whole_onset.onsets)
    np.testing.assert_allclose(by_onset.recent, whole_onset.recent, atol=1e-10)


def test_the_prior_of_an_onset_sums_to_one():
    """Each is a difference of tails, so that a sum to n and the tail after n are one."""
    labels = np.arange(1.0, 5000.0)
    total = np.exp(log_prior(labels)).sum() + np.exp(log_tail(labels[-1:]))[0]
    assert total == pytest.approx(1.0, abs=1e-12)
    assert -log_prior(np.array([50_000.0]))[0] < 16.5  # a geometric one of mean 64 has 780


def test_a_late_onset_is_dated():
    """Catches an onset that is the first label at which the ratio rises, not the last lowest."""
    rng = np.random.default_rng(2)
    sound = rng.choice(3, 3000, p=LAW)
    broken = rng.choice(3, 400, p=np.exp(OTHERS[0]) * LAW)
    evidence = OnsetEvidence(np.array([0.5, 0.5]))
    for part in np.array_split(np.concatenate([sound, broken]), 7):
        evidence.observe(OTHERS[:, part].T)
    # rate: the random walk dates an onset wrongly by 60 labels with probability below 1e-6
    assert abs(int(evidence.onsets[0]) - 3000) < 60
    assert evidence.recent[0] > 50.0


def test_the_transform_of_a_label_is_uniform_given_its_law():
    """Each cell has probability 1/16 whatever the law: integrated over labels and uniforms."""
    below = np.concatenate([[0.0], np.cumsum(LAW)[:-1]])
    points = 160_000
    grid = (np.arange(points) + 0.5) / points
    mass = np.zeros(16)
    for label in range(3):
        cells = transform_to_cells(np.full(points, below[label]), np.full(points, LAW[label]), grid)
        mass += np.bincount(cells, minlength=16) * LAW[label] / points
    # the grid misplaces a point at each end of a cell
    np.testing.assert_allclose(mass, 1 / 16, atol=2 / points)
