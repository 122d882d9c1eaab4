"""Gradients of records, batches and norms against finite differences and each other."""

from importlib import import_module

import numpy as np
import pytest

batch_gradients = import_module("benchmarks.gradients.derivatives").batch_gradients
norms = import_module("benchmarks.gradients.derivatives").norms
per_example = import_module("benchmarks.gradients.derivatives").per_example
Convolutional = import_module("benchmarks.gradients.models").Convolutional
Perceptron = import_module("benchmarks.gradients.models").Perceptron


RECORDS = np.random.default_rng(0).normal(size=(7, 6)).astype(np.float32)
LABELS = np.arange(7) % 3
PLAIN = Perceptron(6, 3, hidden=(5, 4))
CODED = Perceptron(6, 3, hidden=(5,), bottleneck=2, beta=0.3)
NOISE = np.random.default_rng(1).normal(size=(7, 2)).astype(np.float32)


def loss_by_hand(parameters: np.ndarray, record: np.ndarray, label: int) -> float:
    """The loss of one record under PLAIN, in float64."""
    values, at = record.astype(float), 0
    for layer, (rows, columns) in enumerate([(5, 6), (4, 5), (3, 4)]):
        weights = parameters[at : at + rows * columns].reshape(rows, columns)
        at += rows * columns
        values = weights @ values + parameters[at : at + rows]
        at += rows
        if layer < 2:
            values = np.maximum(values, 0.0)
    assert at == parameters.size
    return float(np.log(np.exp(values - values.max()).sum()) + values.max() - values[label])


@pytest.mark.slow("over half a second")
def test_gradients_are_the_slopes_of_a_loss_written_in_numpy():
    # catches a layout of parameters other than the stated one, a lost bias, a wrong loss
    parameters = PLAIN.initial(3)
    found = per_example(PLAIN, parameters, RECORDS, LABELS)
    base, step = parameters.astype(float), 1e-6
    for i, (record, label) in enumerate(zip(RECORDS, LABELS, strict=True)):
        for j in range(0, PLAIN.size, 3):
            up, down = base.copy(), base.copy()
            up[j] += step
            down[j] -= step
            slope = loss_by_hand(up, record, label) - loss_by_hand(down, record, label)
            assert found[i, j] == pytest.approx(slope / (2 * step), abs=1e-5)


@pytest.mark.parametrize(
    "network",
    [
        pytest.param(PLAIN, marks=pytest.mark.slow("the coded one has all its layers")),
        CODED,
        Convolutional(64, 3, side=8, channels=(2, 3)),
    ],
    ids=repr,
)
@pytest.mark.slow("over half a second")
def test_batches_are_weighted_sums_and_norms_those_of_records(network):
    # catches shares that are left out, noise of the wrong record, and ghost norms without biases
    rng = np.random.default_rng(4)
    records = rng.normal(size=(7, network.inputs)).astype(np.float32)
    noise = NOISE if network.noises else None
    parameters = network.initial(5)
    each = per_example(network, parameters, records, LABELS, noise)
    rows, shares = rng.integers(0, 7, (3, 4)), rng.random((3, 4)).astype(np.float32)
    drawn = None if noise is None else noise[rows]
    sums = batch_gradients(network, parameters, records, LABELS, rows, shares=shares, noise=drawn)
    np.testing.assert_allclose(sums, np.einsum("bk,bkp->bp", shares, each[rows]), atol=2e-6)
    means = batch_gradients(network, parameters, records, LABELS, rows, noise=drawn)
    np.testing.assert_allclose(means, each[rows].mean(1), atol=2e-6)
    lengths = norms(network, parameters, records, LABELS, noise)
    np.testing.assert_allclose(lengths, np.linalg.norm(each, axis=1), rtol=1e-6)


@pytest.mark.slow("over half a second")
def test_the_divergence_of_a_code_is_that_of_normals():
    # beta's part of the loss alone, against the integral by Monte Carlo: catches a sign or a half
    free = Perceptron(6, 3, hidden=(5,), bottleneck=2)
    parameters = free.initial(5)
    added = CODED.losses(parameters, RECORDS, LABELS) - free.losses(parameters, RECORDS, LABELS)
    values = np.maximum(RECORDS @ parameters[:30].reshape(5, 6).T + parameters[30:35], 0.0)
    codes = values @ parameters[35:55].reshape(4, 5).T + parameters[55:59]
    means, spreads = codes[:, :2], np.log1p(np.exp(codes[:, 2:] - 5.0))
    normals = np.random.default_rng(6).standard_normal((200_000, 2))
    for i in range(len(RECORDS)):
        drawn = means[i] + spreads[i] * normals
        ratios = 0.5 * (drawn**2 - normals**2).sum(1) - np.log(spreads[i]).sum()
        reach = 6.0 * ratios.std() / np.sqrt(len(normals))
        assert 0.3 * ratios.mean() == pytest.approx(float(added[i]), abs=0.3 * reach + 1e-5)


def test_sizes_are_those_of_the_paper():
    # 67,716 of CREMA-D are two hidden layers of 64 (Li et al. 2024, section 5.1.3)
    assert Perceptron(988, 4).size == 67_716


def test_an_image_that_does_not_fit_is_told():
    with pytest.raises(ValueError, match=r"63 inputs: expected 8² x 1"):
        Convolutional(63, 3, side=8)
