"""Mechanisms draw what their probabilities say."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy.stats import chisquare

from dpassay.reference import (
    REFUSAL,
    ConfidentGNMax,
    Exponential,
    Gaussian,
    Gumbel,
    InteractiveGNMax,
    Laplace,
    Mechanism,
    NoisyArgmax,
    digit_histograms,
    exact_probabilities,
    secure_generator,
)

HISTOGRAM = np.array([100, 90, 60, 0])
MECHANISMS: list[Any] = [
    NoisyArgmax(Gaussian(40.0)),
    NoisyArgmax(Laplace(30.0)),
    NoisyArgmax(Gumbel(40.0)),
    NoisyArgmax(Exponential(40.0)),
    ConfidentGNMax(Gaussian(40.0), 120.0, Gaussian(60.0)),
    InteractiveGNMax(Gaussian(40.0), 20.0, Gaussian(30.0), (0.1, 0.7, 0.1, 0.1), 250.0, 0.5),
    InteractiveGNMax(Gaussian(40.0), 20.0, Gaussian(30.0), (0.3, 0.4, 0.2, 0.1), 250.0, 0.5),
]
DRAWS = 200_000


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_samples_follow_the_probabilities(mechanism) -> None:
    """Chi-square at 1e-9. Power: the neighbouring histogram two votes away is rejected."""
    assert isinstance(mechanism, Mechanism)
    labels = mechanism.sample(HISTOGRAM, DRAWS, np.random.default_rng(1))
    q = np.exp(mechanism.log_probabilities(HISTOGRAM))
    assert math.isclose(q.sum(), 1.0, rel_tol=1e-12)
    counts = np.bincount(labels % q.size, minlength=q.size)
    seen = q > 0
    assert counts[~seen].sum() == 0
    assert chisquare(counts[seen], q[seen] * DRAWS).pvalue > 1e-9
    other = np.exp(mechanism.log_probabilities(HISTOGRAM + np.array([5, -5, 0, 0])))
    assert chisquare(counts[seen], other[seen] * DRAWS).pvalue < 1e-9


@pytest.mark.parametrize("mechanism", MECHANISMS[:5], ids=str)
def test_other_scales_are_those_of_the_mechanism_with_that_noise(mechanism) -> None:
    """Each is right to 1e-12. Catches votes that grow with the noise, and a check scaled too."""
    factors = np.array([0.05, 0.5, 1.0, 1.3, 20.0])
    found = mechanism.log_probabilities_at(HISTOGRAM, factors)
    for factor, row in zip(factors, found, strict=True):
        other = replace(mechanism, noise=mechanism.noise.times(float(factor)))
        np.testing.assert_allclose(row, other.log_probabilities(HISTOGRAM), rtol=1e-12, atol=3e-12)


def test_confident_gnmax_refuses_with_the_exact_probability() -> None:
    """P(refusal) = Phi((T - max H)/sigma_1); answers are independent of it (Algorithm 1)."""
    mechanism = ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(150.0))
    logs = mechanism.log_probabilities(HISTOGRAM)
    with mp.workdps(30):
        refusal = mp.ncdf((200 - mp.mpf(100)) / 150)
        answers = exact_probabilities(HISTOGRAM.tolist(), Gaussian(40.0), 20)
        expected = [q * (1 - refusal) for q in answers] + [refusal]
        for found, q in zip(logs, expected, strict=True):
            assert abs(mp.expm1(mp.mpf(float(found)) - mp.log(q))) < 1e-12
    assert REFUSAL == -1
    assert math.isclose(logs[REFUSAL], float(mp.log(refusal)), rel_tol=1e-12)


def test_a_shared_noise_would_be_noticed() -> None:
    """Confident-GNMax that reuses the screening noise for the votes has another law."""
    mechanism = ConfidentGNMax(Gaussian(40.0), 120.0, Gaussian(40.0))
    rng = np.random.default_rng(2)
    noise = rng.normal(0.0, 40.0, (DRAWS, 4))
    answered = 100 + noise[:, 0] >= 120.0
    labels = np.where(answered, (HISTOGRAM + noise).argmax(1), REFUSAL)
    q = np.exp(mechanism.log_probabilities(HISTOGRAM))
    assert chisquare(np.bincount(labels % 5, minlength=5), q * DRAWS).pvalue < 1e-9


def test_interactive_gnmax_confirms_or_refuses_by_confidence() -> None:
    sure, unsure = MECHANISMS[-2:]
    assert sure.confirmed == 1
    assert unsure.confirmed == REFUSAL
    assert np.exp(sure.log_probabilities(HISTOGRAM))[REFUSAL] == 0.0
    assert np.exp(unsure.log_probabilities(HISTOGRAM))[REFUSAL] > 0.0


@pytest.mark.parametrize("prediction", [(0.5, 0.6), (-0.1, 1.1), ()])
def test_predictions_that_are_no_distribution_are_refused(prediction) -> None:
    with pytest.raises(ValueError, match="sum to 1"):
        InteractiveGNMax(Gaussian(1.0), 1.0, Gaussian(1.0), prediction, 10.0, 0.5)


def test_a_prediction_of_other_classes_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 4 classes"):
        MECHANISMS[-1].log_probabilities(np.array([1, 2, 3]))


def test_invalid_histograms_are_refused() -> None:
    with pytest.raises(ValueError, match="-1 votes for class 1"):
        NoisyArgmax(Gaussian(1.0)).sample([3, -1], 5)


def test_the_default_generator_is_secure_and_fresh() -> None:
    """ChaCha20, never the same key twice: two streams agree in a bit no more than by chance."""
    first, second = (secure_generator() for _ in range(2))
    assert type(first.bit_generator).__name__ == "ChaCha"
    assert first.integers(2**62) != second.integers(2**62)
    mechanism = NoisyArgmax(Gaussian(40.0))
    assert not np.array_equal(mechanism.sample(HISTOGRAM, 500), mechanism.sample(HISTOGRAM, 500))


def test_seeds_repeat_for_tests() -> None:
    mechanism = NoisyArgmax(Gaussian(40.0))
    first, second = (mechanism.sample(HISTOGRAM, 50, np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(first, second)


def test_the_embedded_ensemble_is_what_its_script_trains() -> None:
    """250 votes a row; retrained with scikit-learn, the same table to the vote."""
    table = digit_histograms()
    assert table.shape == (360, 10)
    assert (table.sum(1) == 250).all()
    pytest.importorskip("sklearn")
    from dpassay.reference.train_ensemble import train_digit_histograms

    assert np.array_equal(table, train_digit_histograms())
