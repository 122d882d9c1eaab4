"""Noise that two histograms share: fair under any two laws, and where there is any, seen."""

import math
from itertools import product

import numpy as np
import pytest

from dpassay.reference import Gaussian, NoisyArgmax, log_probabilities
from dpassay.verifiers.evidence.kept_noise import Places, SharedNoise
from dpassay.verifiers.evidence.outcomes import count_outcomes, log_supremum_ratio

LAWS = [(0.5, 0.5), (0.9, 0.1), (0.25, 0.75)]


@pytest.mark.parametrize("first", LAWS)
@pytest.mark.parametrize("second", LAWS)
def test_shared_noise_is_fair_under_any_two_laws(first, second) -> None:
    """Enumerated: three pairs of independent labels; whichever of two came later is wagered on.

    Before the division by the supremum it is a ratio of laws: its expectation under the claim is 1.
    """
    claimed = np.log(np.array([(0.6, 0.4), (0.3, 0.7)]))
    counts = np.array([[50.0, 10.0], [1.0, 39.0]])
    total = plain = 0.0
    for labels in product(range(2), repeat=6):
        x, y = np.array(labels[:3]), np.array(labels[3:])
        log_e = shared(claimed, counts, x, y).log_e_value
        chance = math.prod(first[a] * second[b] for a, b in zip(x, y, strict=True))
        total += chance * math.exp(log_e)
        wagered = [
            log_supremum_ratio(count_outcomes(n, 2), q)
            for n, q in zip((x[2:], y[:2]), claimed, strict=True)
        ]
        plain += math.exp(claimed[0][x].sum() + claimed[1][y].sum() + log_e + sum(wagered))
    assert total <= 1.0 + 1e-9
    assert math.isclose(plain, 1.0, rel_tol=1e-9)


def shared(claimed, counts, x, y):
    """The first two pairs wagered on the second label, the last on the first."""
    evidence = SharedNoise(claimed, lambda a, b: counts if (a, b) == (0, 1) else counts.T)
    evidence.observe(0, x[:2], 1, y[:2])
    evidence.observe(1, y[2:], 0, x[2:])
    return evidence


def test_shared_noise_grows_with_labels_that_share_it() -> None:
    """Of neighbours: alike but where the vote decides; independent ones of another scale do not."""
    votes = [125, 125, 0, 0], [124, 126, 0, 0]
    claimed = np.stack([log_probabilities(v, Gaussian(40.0)) for v in votes])
    draws = [NoisyArgmax(Gaussian(40.0)).sample(v, 20_000, np.random.default_rng(0)) for v in votes]
    joint = np.bincount(4 * draws[0] + draws[1], minlength=16).reshape(4, 4).astype(float)
    for scale, same in ((40.0, True), (40.0, False), (36.0, False), (80.0, False)):
        mechanism, grown = NoisyArgmax(Gaussian(scale)), []
        for seed in range(20):
            x, y = (
                mechanism.sample(v, 384, np.random.default_rng([seed, 0 if same else side]))
                for side, v in enumerate(votes)
            )
            evidence = SharedNoise(claimed, lambda a, b: joint if (a, b) == (0, 1) else joint.T)
            evidence.observe(0, x, 1, y)
            grown.append(evidence.log_e_value)
        assert (min(grown) > 100.0) if same else (max(grown) < 10.0)


def test_places_are_counted_for_each_key() -> None:
    """A key's labels take the next places; there is nothing to compare where none were kept."""
    places = Places(8)
    assert places.add(250, 3, np.array([1, 2])) == slice(0, 2)
    assert places.add(750, 4, np.array([5, 6, 7])) == slice(0, 3)
    assert places.add(250, -1, np.array([0, 0])) == slice(2, 4)
    streams, outcomes = places.at(250, slice(0, 3))
    assert streams.tolist() == [3, 3, -1]
    assert outcomes.tolist()[:2] == [1, 2]
    assert places.at(10, slice(0, 2))[0].tolist() == [-1, -1]
    assert places.add(250, 3, np.arange(9)) == slice(4, 8)  # no room for all of them
