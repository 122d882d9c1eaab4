"""Quantiles by `scipy.special` are those of `scipy.stats`."""

import pytest
from scipy.stats import binom, chi2, nbinom

from dpassay.verifiers.evidence.power import (
    binomial_quantile,
    chi_squared_quantile,
    waiting_quantile,
)


@pytest.mark.parametrize("chance", [0.005, 0.01, 0.4, 0.99])
@pytest.mark.parametrize("share", [0.0, 1e-60, 1e-9, 0.03, 0.5, 0.97, 1.0])
def test_counts_are_those_of_the_exact_tails(chance: float, share: float) -> None:
    """Catches a count that is one too many where the tail is exactly reached, and no draws."""
    for times in (0, 1, 2, 10, 999, 100_000):
        assert binomial_quantile(chance, times, share) == binom.ppf(chance, times, share)
        if share > 0.0 and times:
            wanted = nbinom.ppf(chance, times, share)
            assert waiting_quantile(chance, times, share) == pytest.approx(
                wanted, abs=1e-9 * wanted
            )


def test_chi_squared_is_twice_a_gamma_law() -> None:
    for degrees in (1, 9, 400):
        found = chi_squared_quantile(0.99, degrees)
        assert found == pytest.approx(chi2.ppf(0.99, degrees), rel=1e-12)
