"""Gaussian noise on nodes that histograms share: each probability is relatively right."""

import numpy as np
import pytest

from dpassay.reference import Gaussian, exact_probabilities, log_derivatives, log_probabilities


@pytest.mark.parametrize(
    ("votes", "sigma"),
    [
        ([0, 0], 40.0),
        ([34, 0, 1], 1.0),
        ([1360, 1360, 3, 0], 40.0),
        ([170, 169, 168, 0], 5.0),
        ([3, 2, 0], 0.1),
        ([250] + [0] * 9, 37.3),
        ([12_000, 9_000, 0], 750.0),
    ],
)
def test_each_probability_is_relatively_right(votes, sigma) -> None:
    """1e-12 of each: at a tie, at the edges of the grids, at small and large noise.

    Catches a grid that ends too early, or whose step is too wide for the row.
    """
    exact = [float(q) for q in exact_probabilities(votes, Gaussian(sigma), 25)]
    found = np.exp(log_probabilities(np.array(votes, dtype=float), Gaussian(sigma)))
    np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_a_row_has_the_same_bits_in_any_company() -> None:
    """Catches nodes that depend on the rows that come with it: logs are judged in parts."""
    rng = np.random.default_rng(0)
    batch = rng.multinomial(900, rng.dirichlet(np.full(6, 0.2), size=50)).astype(float)
    noise = Gaussian(20.0)
    assert (batch.max(-1) - batch.min(-1) > 36 * 20.0).any()
    together, slopes = log_derivatives(batch, noise)
    for row, log_q, slope in zip(batch, together, slopes, strict=True):
        alone = log_derivatives(row, noise)
        np.testing.assert_array_equal(log_q, alone[0])
        np.testing.assert_allclose(slope, alone[1], rtol=1e-12, atol=1e-15)
