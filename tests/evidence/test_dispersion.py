"""Counts of a set of labels in calls: too even or too uneven, under any probability."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import xlog1py, xlogy
from scipy.stats import binom

from dpassay.verifiers.evidence.dispersion import BlockDispersion, Dispersion

SIZES = (9, 8, 12)


@cache  # the evidence knows the counts and not their law: one enumeration for all of them
def every_count(claimed):
    """All counts of three calls, and the evidence that they give."""
    found = []
    for counts in product(*(range(size + 1) for size in SIZES)):
        evidence = Dispersion(claimed)
        for count, size in zip(counts, SIZES, strict=True):
            evidence.observe(count, size)
        found.append((counts, evidence.log_e_value))
    return found


@pytest.mark.parametrize("claimed", [0.5, 0.9])
@pytest.mark.parametrize("true", [0.02, 0.3, 0.5, 0.77, 0.9, 0.999])
def test_dispersion_is_fair_under_any_probability(claimed, true) -> None:
    """Enumerated: all counts of three calls, of independent labels of any one probability.

    Under the claimed one the ratios before the division have expectation 1, so that a law of the
    counts that does not sum to 1 is caught.
    """
    total = plain = 0.0
    law = [binom.pmf(np.arange(size + 1), size, true) for size in SIZES]
    for counts, log_e in every_count(claimed):
        chance = math.prod(row[n] for row, n in zip(law, counts, strict=True))
        total += chance * math.exp(log_e)
        inside, labels = sum(counts), sum(SIZES)
        misfit = supremum(inside, labels) - likelihood(inside, labels, true)
        plain += chance * math.exp(log_e + misfit)
    assert total <= 1.0 + 1e-9
    assert math.isclose(plain, 1.0, rel_tol=1e-9)


def test_an_open_call_has_but_the_part_of_each_wager_that_no_count_rules_out() -> None:
    """0.02 of the binomial law; with nothing seen, blocks of all sizes together have 1."""
    for inside, labels in ((0, 3), (2, 5)):
        found = Dispersion(0.4).log_e_value_with((inside, labels))
        left = math.log(0.02) + likelihood(inside, labels, 0.4)
        assert math.isclose(found, left - supremum(inside, labels), rel_tol=1e-12)
    assert math.isclose(BlockDispersion(0.4).log_e_value, 0.0, abs_tol=1e-12)


def likelihood(inside, labels, share):
    """Log-likelihood of an order of so many labels inside of a set of this probability."""
    return xlogy(inside, share) + xlog1py(labels - inside, -share)


def supremum(inside, labels):
    return likelihood(inside, labels, inside / labels)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_dispersion_sees_counts_that_are_too_even_and_passes_the_right_ones(spread) -> None:
    """Power: a call of 16 whose count is fixed tells about a nat; below 23 by fair ones, always.

    Null: fair ones reach 23 with probability e^-23 at most.
    """
    evidence, rng = Dispersion(0.5), np.random.default_rng(0)
    for _ in range(64):
        evidence.observe(int(rng.binomial(16, 0.5)) if spread else 8, 16)
    assert (evidence.log_e_value > 23.0) is (spread == 0.0)
