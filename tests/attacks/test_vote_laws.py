"""Label laws of votes that are drawn anew, against a sum over all histograms."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from scipy.stats import multinomial

from dpassay.attacks.auditing import laws_with_one_vote_fixed, laws_with_shifts
from dpassay.reference import Exponential, Gaussian, Gumbel, Laplace, NoisyArgmax, probabilities

VOTES = np.array([0.5, 0.3, 0.2, 0.0])


def summed(noise, votes, voters):
    """Row d: the average of Q(h) over h = the fixed vote and a multinomial of the others."""
    found, mechanism = np.zeros((votes.size, votes.size)), NoisyArgmax(noise)
    for counts in product(range(voters), repeat=votes.size):
        if sum(counts) == voters - 1:
            ways = factorial(voters - 1) / prod(map(factorial, counts))
            chance = ways * prod(votes ** np.array(counts))
            for fixed in range(votes.size):
                histogram = np.array(counts, float)
                histogram[fixed] += 1
                found[fixed] += chance * np.exp(mechanism.log_probabilities(histogram))
    return found


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("voters", [1, 2, 6])
@pytest.mark.parametrize(
    "noise",
    [Gaussian(0.3), Gaussian(5.0), Laplace(0.7), Laplace(3.0), Gumbel(1.5), Exponential(0.4)],
    ids=str,
)
def test_the_law_is_the_average_over_all_histograms(noise, voters) -> None:
    """Catches a vote too many, a class whose cdf is left in, and the wrong coefficient."""
    found = laws_with_one_vote_fixed(noise, VOTES, voters)
    assert found == pytest.approx(summed(noise, VOTES, voters), abs=1e-12)


@pytest.mark.slow("250 voters and labels drawn; the law of fewer is enumerated")
def test_rows_of_a_deployment_sum_to_one_and_follow_the_fixed_vote() -> None:
    """250 teachers, ten classes, sigma 40: what a pilot of millions would estimate."""
    votes = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.03, 0.02])
    found = laws_with_one_vote_fixed(Gaussian(40.0), votes, 250)
    assert found.sum(-1) == pytest.approx(np.ones(10), abs=1e-11)
    assert (found.diagonal() > (votes @ found)).all()  # the vote helps its class
    rng = np.random.default_rng(3)
    labels = (rng.multinomial(250, votes, 200_000) + rng.normal(0, 40, (200_000, 10))).argmax(1)
    shares, law = np.bincount(labels, minlength=10) / 200_000, votes @ found
    far = np.abs(shares - law) / np.sqrt(law * (1 - law) / 200_000)
    assert far.max() < 5.5  # ten normal deviates exceed it less than once in a million


SHIFTS = np.array([[0, 0, 0], [1, -1, 0], [-1, 0, 1], [2, -2, 0], [-1, -1, -1]])


def enumerated(noise, votes, draws, shifts):
    """The average of Q(h + shift) over every outcome h of a multinomial of three classes."""
    histograms = np.array(
        [(i, j, draws - i - j) for i in range(draws + 1) for j in range(draws + 1 - i)]
    )
    weights = multinomial.pmf(histograms, draws, votes)
    return np.stack([weights @ probabilities(histograms + s, noise) for s in shifts])


@pytest.mark.parametrize("draws", [0, 1, 5])
@pytest.mark.parametrize(
    "noise", [Gaussian(0.3), Gaussian(5.0), Laplace(0.7), Gumbel(1.5), Exponential(0.4)], ids=str
)
def test_shifts_are_added_to_the_votes(noise, draws) -> None:
    """Catches a shift of the wrong sign, or in the cdfs alone; a range that ends at no votes."""
    votes = np.array([0.5, 0.3, 0.2])
    found = laws_with_shifts(noise, votes, draws, SHIFTS)
    assert found == pytest.approx(enumerated(noise, votes, draws, SHIFTS), abs=1e-12)


@pytest.mark.parametrize(
    ("sigma", "votes", "draws"),
    [(2.0, [0.98, 0.01, 0.01], 50), (10.0, [0.98, 0.01, 0.01], 150), (8.0, [0.9, 0.09, 0.01], 150)],
)
def test_labels_that_hardly_ever_come_keep_their_digits(sigma, votes, draws) -> None:
    """Down to 3e-30; on a circle of radius 1 they are off by 2e-8 to 0.1."""
    found = laws_with_shifts(Gaussian(sigma), np.array(votes), draws, SHIFTS[:3])
    expected = enumerated(Gaussian(sigma), votes, draws, SHIFTS[:3])
    assert expected.min() < 1e-23
    assert found == pytest.approx(expected, rel=1e-9, abs=0)


def test_votes_that_are_not_random_are_q_of_h() -> None:
    found = laws_with_shifts(Gaussian(0.2), np.array([0.0, 1.0, 0.0]), 9, SHIFTS)
    expected = probabilities(np.array([0, 9, 0]) + SHIFTS, Gaussian(0.2))
    assert found == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.slow("over half a second")
def test_rows_of_many_classes_sum_to_one() -> None:
    """A step that serves ten classes errs by 5e-9 at a hundred: the integrand is steeper."""
    found = laws_with_one_vote_fixed(Gaussian(40.0), np.full(100, 0.01), 1)
    assert found.sum(-1) == pytest.approx(np.ones(100), abs=1e-11)


@pytest.mark.parametrize(
    ("votes", "voters", "says"),
    [
        ([0.5, 0.6], 10, r"votes \[0.5, 0.6\]"),
        ([1.0], 10, r"votes \[1.0\]"),
        ([0.5, 0.5], 0, "voters 0"),
    ],
)
def test_what_is_no_law_is_named(votes, voters, says) -> None:
    with pytest.raises(ValueError, match=says):
        laws_with_one_vote_fixed(Gaussian(1.0), np.array(votes), voters)


def test_shifts_of_another_shape_are_named() -> None:
    votes = np.array([0.5, 0.5])
    with pytest.raises(ValueError, match=r"shifts .*\(1, 3\): .*\(s, 2\)"):
        laws_with_shifts(Gaussian(1.0), votes, 3, SHIFTS[:1])
    with pytest.raises(ValueError, match="draws -1"):
        laws_with_shifts(Gaussian(1.0), votes, -1, SHIFTS[:, :2])
