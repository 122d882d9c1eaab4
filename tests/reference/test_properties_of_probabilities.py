"""Properties of Q(H), one test each; the docstring says why it must hold and what it catches."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, softmax

from dpassay.reference import (
    Exponential,
    Gaussian,
    Gumbel,
    Laplace,
    jacobian,
    log_jacobian,
    log_probabilities,
    probabilities,
)
from dpassay.reference.shared_nodes import REACHES
from dpassay.verifiers.strategies import histograms

FAMILIES = (Gaussian, Laplace, Gumbel, Exponential)
noises = st.builds(
    lambda family, scale: family(scale),
    st.sampled_from(FAMILIES),
    st.floats(0.2, 300.0).map(lambda scale: round(scale, 3)),
)


def relative(found, expected):
    """Largest relative difference of probabilities given by their logs, tails included."""
    return np.max(np.abs(np.expm1(np.asarray(found) - np.asarray(expected))))


@given(histograms(), noises)
def test_sum_to_one(histogram, noise) -> None:
    """Some class always wins. Catches an integral that misses a part of the line."""
    assert abs(probabilities(histogram, noise).sum() - 1.0) < 1e-12


@given(histograms(), noises, st.integers(1, 10**5))
def test_scale_invariance(histogram, noise, factor) -> None:
    """Q(aH, a sigma) = Q(H, sigma): argmax does not depend on the unit of votes."""
    scaled = log_probabilities(factor * histogram, noise.times(factor))
    assert relative(scaled, log_probabilities(histogram, noise)) < 1e-11


@given(histograms(), noises, st.randoms(use_true_random=False))
def test_permutation_equivariance(histogram, noise, random) -> None:
    """All classes get noise of one law, so renumbering votes renumbers probabilities.

    A float64 tells logs apart to a share of 2e-16 of their size: of -33,000 to 7e-12 at best.
    """
    order = list(range(histogram.size))
    random.shuffle(order)
    permuted = log_probabilities(histogram[order], noise)
    np.testing.assert_allclose(
        permuted,
        log_probabilities(histogram, noise)[order],
        rtol=4 * np.finfo(float).eps,
        atol=1e-12,
    )


@given(histograms(), noises)
def test_order_of_probabilities_follows_order_of_votes(histogram, noise) -> None:
    """Exchanging the noise of two classes maps wins of the smaller into wins of the larger."""
    logs = log_probabilities(histogram, noise)
    order = np.argsort(histogram, kind="stable")
    steps = np.diff(logs[order])
    assert (steps >= -1e-12).all()
    apart = np.diff(histogram[order]) > 0
    visible = (np.exp(logs[order][:-1]) < 0.999999) & (np.diff(histogram[order]) > noise.scale / 99)
    assert (steps[apart & visible] > 0).all()


@given(histograms(), noises, st.data())
def test_own_vote_raises_and_anothers_lowers(histogram, noise, data) -> None:
    """More votes for a class can only turn losses into wins, and wins of others into losses."""
    label = data.draw(st.integers(0, histogram.size - 1))
    more = histogram.copy()
    more[label] += 1 + int(noise.scale / 10)
    before, after = log_probabilities(histogram, noise), log_probabilities(more, noise)
    # log p near 0, and the effect of a rival with no chance, are below the resolution of a float
    assert after[label] > before[label] or before[label] > -1e-13
    others = np.arange(histogram.size) != label
    rounding = 1e-13 * (1.0 + np.abs(before[others]))
    assert (after[others] < before[others] + rounding).all()
    assert (after[others] < before[others]).all() or before[label] < math.log(1e-3)


@given(histograms(), noises)
def test_jacobian_is_symmetric_with_zero_row_sums(histogram, noise) -> None:
    """Q is the gradient of the convex E max(H + S) (Williams-Daly-Zachary), and shift-invariant."""
    matrix = jacobian(histogram, noise)
    size = np.abs(matrix).max()
    assert np.abs(matrix - matrix.T).max() <= 1e-11 * size
    assert np.abs(matrix.sum(-1)).max() <= 1e-12 * size
    off_diagonal = matrix - np.diag(np.diag(matrix))
    assert (off_diagonal <= 0).all()


@given(histograms(teachers=st.integers(1, 100)), st.sampled_from(FAMILIES))
def test_jacobian_is_the_derivative(histogram, family) -> None:
    """Against central differences of the log-probabilities, in tails too."""
    noise = family(20.0)
    votes = histogram.astype(float) + np.linspace(0.0, 0.3, histogram.size)  # no ties: smooth there
    step = 1e-3
    for label in range(histogram.size):
        moved = np.zeros(histogram.size)
        moved[label] = step
        rise = log_probabilities(votes + moved, noise) - log_probabilities(votes - moved, noise)
        assert np.allclose(log_jacobian(votes, noise)[:, label], rise / (2 * step), atol=2e-9)


@given(st.integers(-2000, 2000), st.floats(0.5, 400.0))
def test_two_classes_have_closed_forms(gap, scale) -> None:
    """The law of the difference of two draws is known in every family."""
    votes = np.array([gap, 0.0])
    x = gap / scale
    u = abs(x)
    tails = {
        Gaussian: math.log(0.5) + math.log(math.erfc(u / 2)) if u < 40 else None,
        Laplace: -u + math.log(0.5 + u / 4),
        Gumbel: -u - math.log1p(math.exp(-u)),
        Exponential: -u - math.log(2.0),
    }
    for family, loser in tails.items():
        if loser is not None:
            found = log_probabilities(votes, family(scale))
            assert relative(found.min(), loser) < 1e-11 * max(1.0, u)
            assert relative(found.max(), math.log1p(-math.exp(loser))) < 1e-12


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("classes", [2, 3, 10, 101, 1000])
def test_equal_votes_give_equal_chances(family, classes) -> None:
    """By symmetry; the largest c is where steps and node counts are strained most."""
    found = log_probabilities(np.full(classes, 7), family(3.0))
    assert relative(found, -math.log(classes)) < 2e-12


@given(histograms(), st.sampled_from(FAMILIES))
def test_no_noise_gives_the_plurality(histogram, family) -> None:
    """As the scale goes to 0, ties are shared evenly and all else is lost."""
    leads = histogram == histogram.max()
    found = probabilities(histogram, family(1e-3))
    assert np.allclose(found, leads / leads.sum(), atol=1e-12)


@given(histograms(), st.sampled_from(FAMILIES))
def test_endless_noise_gives_the_uniform(histogram, family) -> None:
    """As the scale goes to infinity, votes cease to matter, to first order in votes/scale."""
    scale = 1e9
    found = probabilities(histogram, family(scale))
    assert np.allclose(found, 1.0 / histogram.size, atol=2.0 * histogram.sum() / scale)


@given(histograms(), st.floats(0.5, 300.0))
def test_gumbel_noise_is_the_softmax(histogram, scale) -> None:
    """The Gumbel-max trick, against scipy's own softmax."""
    found = log_probabilities(histogram, Gumbel(scale))
    expected = softmax(histogram / scale)
    likely = expected > 1e-290
    assert relative(found[likely], np.log(expected[likely])) < 1e-12


@given(histograms(classes=st.integers(2, 5)), st.floats(0.5, 100.0))
def test_exponential_noise_is_permute_and_flip(histogram, scale) -> None:
    """McKenna, Sheldon 2020: classes in random order, accepted with exp(-(max - H)/scale)."""
    accept = np.exp((histogram - histogram.max()) / scale)
    expected = np.zeros(histogram.size)
    orders = list(permutations(range(histogram.size)))
    for order in orders:
        left = 1.0
        for label in order:
            expected[label] += left * accept[label] / len(orders)
            left *= 1.0 - accept[label]
    normal = expected > 1e-290
    found = probabilities(histogram, Exponential(scale))
    assert np.allclose(found[normal], expected[normal], rtol=1e-12, atol=0)


def test_a_batch_is_its_rows() -> None:
    """One call for many histograms gives what many calls give, far classes among them."""
    rows = np.array([[250, 0, 0], [100, 90, 60], [10**9, 0, 10**9 - 3], [5, 5, 5]])
    for family in FAMILIES:
        batch = log_probabilities(rows.reshape(2, 2, 3), family(2.0))
        for row, found in zip(rows, batch.reshape(4, 3), strict=True):
            alone = log_probabilities(row, family(2.0))
            assert np.allclose(found, alone, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("votes", "words"),
    [
        ([3.0], "at least two classes"),
        (7.0, "at least two classes"),
        ([1.0, math.nan], "holds nan"),
        ([1.0, -math.inf], "holds -inf"),
    ],
)
def test_invalid_histograms_are_named(votes, words) -> None:
    with pytest.raises(ValueError, match=words):
        log_probabilities(votes, Gaussian(1.0))


def test_wang_2022_theorem_1_by_independent_integration() -> None:
    """Theorem 1 as printed, with scipy's adaptive quadrature and ndtr products."""
    from scipy.integrate import quad

    histogram, sigma = np.array([12, 7, 6, 30, 4, 161, 0, 10, 19, 1]), 40.0
    found = probabilities(histogram, Gaussian(sigma))
    for label in range(10):

        def integrand(x, label=label):
            u = (x - histogram) / sigma
            density = math.exp(-0.5 * u[label] ** 2) / (sigma * math.sqrt(2 * math.pi))
            return density * np.prod(np.delete(ndtr(u), label))

        expected = quad(integrand, -400, 600, epsabs=0, epsrel=1e-11, limit=200)[0]
        assert math.isclose(found[label], expected, rel_tol=1e-10)


@pytest.mark.parametrize("scale", [2.0, 7.0, 40.0])
def test_a_law_has_the_same_bits_in_any_company(scale) -> None:
    """A monitor that was killed meets the same histograms in other batches, and must end alike.

    Catches nodes that depend on what else is asked, and sums whose order does; the rows are of all
    reaches of the shared nodes.
    """
    rng = np.random.default_rng(1)
    votes = rng.multinomial(250, rng.dirichlet(np.full(10, 0.3), 60)).astype(np.float64)
    votes = np.maximum(votes, votes.max(-1, keepdims=True) - REACHES[-1] * scale)
    together = log_probabilities(votes, Gaussian(scale))
    assert (log_probabilities(votes[::-1], Gaussian(scale))[::-1] == together).all()
    assert (log_probabilities(votes[7:18], Gaussian(scale)) == together[7:18]).all()
    alone = [log_probabilities(row, Gaussian(scale)) for row in votes]
    assert (np.array(alone) == together).all()
