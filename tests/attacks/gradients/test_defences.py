"""The defences: what each releases, against a derivation of its own or another library."""

from importlib import import_module

import dp_accounting
import jax
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant
from optax.contrib import differentially_private_aggregate
from scipy.stats import kstest

from dpassay.attacks.gradients.defences.dp_sgd import DPSGD
from dpassay.attacks.gradients.defences.named import (
    DEFENCES,
    Perturbation,
    Pruning,
    Signs,
)
from dpassay.reference.accounting.adjacency import Adjacency

models = import_module("benchmarks.gradients.models")
Bottleneck, Convolutional, Perceptron = models.Bottleneck, models.Convolutional, models.Perceptron

RNG = np.random.default_rng(0)
RECORDS = RNG.normal(scale=2.0, size=(3, 4, 200)).astype(np.float32)
"""Gradients of four records in each of three batches."""


def released(defence, records, seed):
    """What a defence releases (b, p) for batches, from the gradients of their records (b, k, p)."""
    shares = defence.shares(np.linalg.norm(records, axis=2))
    return defence.defended(np.einsum("bk,bkp->bp", shares, records), None, seed)


def test_pruning_keeps_the_largest_coordinates_of_each_batch_as_they_are() -> None:
    """Of 200 coordinates two, of the mean; not those that are largest over all batches."""
    means = RECORDS.mean(1)
    means[1] *= 1000.0
    found = Pruning().defended(means, None, 0)
    for row, kept in zip(means, found, strict=True):
        largest = sorted(range(200), key=lambda i: abs(row[i]))[-2:]
        assert {int(i) for i in np.flatnonzero(kept)} == set(largest)
        assert (kept[largest] == row[largest]).all()
    ties = Pruning(rate=0.5).defended(np.ones((1, 4), dtype=np.float32), None, 0)
    assert ties.tolist() == [[1.0, 1.0, 0.0, 0.0]]
    assert (Pruning(rate=0.99).defended(means[:, :5], None, 0) != 0).sum() == 3


def test_signs_are_of_the_mean_of_a_batch() -> None:
    """Not the mean of the records' signs."""
    batch = np.array([[3.0, -1.0, 1.0, 0.0], [-1.0, -1.0, -1.0, 0.0]])
    assert released(Signs(), batch[None], 0).tolist() == [[1.0, -1.0, 0.0, 0.0]]


def two_kinds(batches):
    """Gradients that tell a by a few coordinates, and a."""
    sensitive = np.arange(batches) % 2
    gradients = RNG.normal(scale=0.01, size=(batches, 60)).astype(np.float32)
    gradients[:, :20] += 0.004 * (2 * sensitive[:, None] - 1)
    return gradients, sensitive


def surrogate_says(defence, gradients):
    found = defence.surrogate
    first, shift, last, biases = (np.asarray(part) for part in found.weights)
    hidden = np.maximum((gradients - found.centre) / found.scale @ first + shift, 0.0)
    return (hidden @ last + biases).argmax(1)


@pytest.mark.slow("over half a second")
def test_perturbation_misleads_its_surrogate_and_keeps_to_the_bound() -> None:
    """Descending in place of ascending would make the surrogate surer."""
    shown, known = two_kinds(1000)
    defence = Perturbation().fitted(shown, known, 1)
    gradients, sensitive = two_kinds(400)
    moved = defence.defended(gradients, sensitive, 0)
    assert np.abs(moved - gradients).max() <= 0.005 + 1e-7
    assert (surrogate_says(defence, gradients) == sensitive).mean() > 0.85
    assert (surrogate_says(defence, moved) == sensitive).mean() < 0.2
    steps = np.abs(moved - gradients)
    assert np.isclose(steps, 0.005, atol=1e-6).mean() > 0.5  # 5 steps of .002, projected


@pytest.mark.slow("over half a second")
def test_perturbation_needs_a_surrogate_and_what_it_hides() -> None:
    gradients, sensitive = two_kinds(100)
    with pytest.raises(ValueError, match=r"perturbation .*surrogate"):
        Perturbation().defended(gradients, sensitive, 0)
    fitted = Perturbation().fitted(gradients, sensitive, 0)
    with pytest.raises(ValueError, match="the batches' a"):
        fitted.defended(gradients, None, 0)


def test_the_bottleneck_is_another_model_with_its_own_loss() -> None:
    network = Bottleneck(width=3).network(Perceptron(5, 2, (4,)))
    assert network == Perceptron(5, 2, (4,), bottleneck=3, beta=0.01)
    assert network.shapes == ((4, 5), (4,), (6, 4), (6,), (2, 3), (2,))
    with pytest.raises(ValueError, match=r"Convolutional: .*perceptron"):
        Bottleneck().network(Convolutional(16, 2, side=4))


@pytest.mark.slow("over half a second")
def test_dp_sgd_releases_what_optax_does() -> None:
    """Bit for bit up to float32's rounding, from gradients of records, some of them clipped."""
    defence = DPSGD(multiplier=1.3, clip_norm=25.0, size=4)
    norms = np.linalg.norm(RECORDS, axis=2)
    assert (norms > 25.0).any()
    assert (norms < 25.0).any()
    found_all = released(defence, RECORDS, 7)
    for batch, key, found in zip(
        RECORDS, jax.random.split(jax.random.key(7), 3), found_all, strict=True
    ):
        aggregate = differentially_private_aggregate(25.0, 1.3, key)
        expected, _ = aggregate.update(batch, aggregate.init(batch))
        assert np.allclose(found, expected, atol=1e-5)


@pytest.mark.slow("over half a second")
def test_the_noise_of_dp_sgd_is_gaussian_and_fresh_in_each_batch() -> None:
    """Of the sum's standard deviation sigma C, divided by the records of a batch."""
    defence = DPSGD(multiplier=0.5, clip_norm=3.0, size=8)
    noise = defence.defended(np.zeros((40, 500), dtype=np.float32), None, 3)
    assert kstest(noise.ravel() / (0.5 * 3.0 / 8), "norm").pvalue > 1e-6
    assert np.abs(np.corrcoef(noise) - np.eye(40)).max() < 0.35
    assert (noise != defence.defended(np.zeros((40, 500), dtype=np.float32), None, 4)).all()


def test_batches_of_another_size_are_refused() -> None:
    """Their noise would be of another scale without a word."""
    with pytest.raises(ValueError, match=r"dp-sgd .*16 records.* 4"):
        released(DPSGD(), RECORDS, 0)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("sigma", "releases"), [(0.75, 1), (1.0, 10), (4.0, 100)])
def test_the_cost_is_that_of_another_accountant(sigma, releases) -> None:
    """dp-accounting's, by privacy loss distributions; and twice the distance by substitution."""
    for adjacency, distance in ((Adjacency.ADD_REMOVE, 1.0), (Adjacency.REPLACE_ONE, 2.0)):
        accountant = PLDAccountant(value_discretization_interval=1e-3)
        accountant.compose(dp_accounting.GaussianDpEvent(sigma / distance), releases)
        found = DPSGD(multiplier=sigma).epsilon(1e-5, releases, adjacency)
        assert found == pytest.approx(accountant.get_epsilon(1e-5), rel=2e-3)
        assert found <= accountant.get_epsilon(1e-5)


def test_all_go_by_name() -> None:
    assert set(DEFENCES) == {"none", "pruning", "sign-sgd", "perturbation", "dp-sgd"}
    for make in (
        lambda: Pruning(rate=1.0),
        lambda: Perturbation(step=0.0),
        lambda: Bottleneck(width=0),
        lambda: DPSGD(clip_norm=0.0),
        lambda: DPSGD(multiplier=-1.0),
    ):
        with pytest.raises(ValueError, match="expected"):
            make()
