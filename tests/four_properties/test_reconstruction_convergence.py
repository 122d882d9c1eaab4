"""Third property of the design card: the reconstruction converges to the votes.

The attack is fed with mpmath's probabilities, and with labels drawn by them; how near it comes is
held to the Fisher information in mpmath. Caught, each by a test below: a solver that stops early,
votes that are off by a shift, information of another scale; Algorithm 2 with other steps, another
threshold or another start than the paper and the released code have.
"""

import math
from functools import cache

import jax
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpassay.attacks import Answers, misplaced, reconstruct
from dpassay.attacks.gradient_descent import PAPER, RELEASED, gradient_descent
from dpassay.reference import Gaussian, NoisyArgmax, jacobian, probabilities
from dpassay.verifiers.strategies import examples, histograms

from . import high_precision
from .drawing import FAMILIES, deployments, exact

FEW = st.integers(2, 6)


def exact_law(votes, noise):
    """Q(H) in mpmath, as floats."""
    return np.array([float(q) for q in high_precision.probabilities(votes, noise, 16)])


@pytest.mark.parametrize("family", FAMILIES)
def test_exact_probabilities_give_the_histogram_back(family) -> None:
    """With the total the votes, without it the votes up to a shift.

    To a thousandth of what a million labels leave open: the distance by their information is
    (c - 1) / M for M labels, and 1e-9 at most here.
    """

    @exact(quick=4, whole=60)
    @given(deployments(family, FEW))
    def found(deployment) -> None:
        votes, noise = deployment
        law = exact_law(votes, noise)
        assume(law.min() > 1e-9)
        information, truth = told(tuple(votes), noise), np.array(votes)
        answers = Answers(law, NoisyArgmax(noise))
        read = reconstruct(answers, sum(votes)).histogram
        assert read.sum() == pytest.approx(sum(votes))
        assert (read - truth) @ information @ (read - truth) < 1e-9
        away = reconstruct(answers).histogram - truth
        away -= away.mean()
        assert away @ information @ away < 1e-9

    found()


SIZES = (1_000, 10_000, 100_000, 1_000_000)
SEEN = 30
"""Expected labels of the rarest class from which the information describes the error."""


@cache
def attacked(family):
    """Deployments with their laws, the same on every run: eight of common classes, six others.

    No two have the same law. Where some class hardly ever comes there is too little to check.
    """
    drawn = examples(deployments(family, FEW, st.integers(20, 2_000)), 300, 2)
    once = dict.fromkeys((tuple(votes), noise) for votes, noise in drawn if len(set(votes)) > 1)
    least = {case: float(probabilities(np.array(case[0]), case[1]).min()) for case in once}
    seen = {f"{rarest:.2g}": case for case, rarest in least.items()}
    once = dict.fromkeys(seen.values())
    common = [case for case in once if least[case] > SEEN / SIZES[0]][:8]
    others = [case for case in once if 1e-9 < least[case] < SEEN / SIZES[1]][:6]
    return [(*case, exact_law(*case)) for case in common + others]


@cache
def told(votes, noise):
    """Fisher information (c, c) of one label, by mpmath."""
    return np.array(high_precision.information(votes, noise, 12).tolist(), dtype=float)


def in_the_open(case, labels) -> bool:
    """Whether each class is seen often, and no vote is within five deviations of its bound."""
    votes, noise, law = case
    if law.min() * labels < SEEN:
        return False
    deviations = np.sqrt(np.diag(np.linalg.pinv(told(votes, noise))) / labels)
    return bool((votes > 5 * deviations).all())


def readings(place, votes, noise, law, labels, runs):
    """What the attack reads from so many labels, in each of the runs, (runs, c), and the counts."""
    counts = np.random.default_rng([place, labels]).multinomial(labels, law / law.sum(), size=runs)
    return reconstruct(Answers(counts, NoisyArgmax(noise)), sum(votes)), counts


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.slow("over half a second")
def test_the_error_is_what_the_information_says(family) -> None:
    """So it falls as the root of the number of labels, as the information of M labels is M times.

    Null: the squared distance by the information of the labels has mean c - 1, and the law of a
    chi-square of as many degrees; what is not seen so often as to be normal moves the mean by less
    than 5 %. The standard error is at most 5 % at each size, and the bound 5.5 of them beyond that:
    a correct attack fails once in 10^6. Power: an error a quarter too large at any size (1.56 of
    the square) is found with probability .98 and more, whatever the 5 %. Seeds are fixed.
    """
    for labels in SIZES:
        cases = [case for case in attacked(family) if in_the_open(case, labels)]
        degrees = sum(len(votes) - 1 for votes, _, _ in cases)
        runs = math.ceil(2.0 / (0.05**2 * degrees))
        distances = 0.0
        for place, (votes, noise, law) in enumerate(cases):
            read, _ = readings(place, votes, noise, law, labels, runs)
            away = read.histogram - np.array(votes)
            information = labels * told(votes, noise)
            distances += np.einsum("ri,ij,rj->r", away, information, away).mean()
        assert abs(distances / degrees - 1.0) < 5.5 * 0.05 + 0.05, labels


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("labels", SIZES[::-1])
@pytest.mark.slow("over half a second")
def test_elsewhere_it_is_bounded(family, labels) -> None:
    """Whatever the votes: what is read explains the labels no worse than the truth does.

    So its law is near the true one: with q the frequencies, KL(q, read) <= KL(q, true), whose mean
    is at most (c - 1) / M; by Pinsker's inequality the mean square of the total variation between
    the two laws is at most 2 (c - 1) / M, and by five standard errors more in 40 runs.
    """
    for place, (votes, noise, law) in enumerate(attacked(family)):
        if in_the_open((votes, noise, law), labels):
            continue
        read, counts = readings(place, votes, noise, law, labels, 40)
        assert (read.histogram >= 0).all()
        truth = (counts * np.log(law)).sum(-1)
        assert (read.log_likelihood + read.gap >= truth - 1e-9 * labels).all()
        squared = (np.abs(probabilities(read.histogram, noise) - law).sum(-1) / 2) ** 2
        slack = 5 * squared.std() / math.sqrt(squared.size)
        assert squared.mean() <= 2 * (len(votes) - 1) / labels + slack


def as_printed(votes, sigma):
    """Q by the paper's sum (section 3): 6 sigma about each count, in steps of one vote."""
    nodes = np.arange(-6 * sigma, 6 * sigma, 1.0)
    law = np.empty(votes.size)
    for k in range(votes.size):
        places = votes[k] + nodes
        others = [Gaussian.log_cdf((places - v) / sigma) for i, v in enumerate(votes) if i != k]
        law[k] = np.trapezoid(np.exp(sum(others) + Gaussian.log_density(nodes / sigma)) / sigma)
    return law


def descend(frequencies, sigma, start, threshold, *, released=False):
    """Algorithm 2 in plain Python, with the numbers of section 4.1: steps of 10 votes, then of 1.

    released: the code of its authors compares laws of length 1, ends at the first negative count
    or after 100 steps, and keeps its last step. Returns the votes, and ||Q - q|| there.
    """

    def objective(votes):
        law, slopes = as_printed(votes, sigma), jacobian(votes, Gaussian(sigma))
        size, target = 1.0, frequencies
        if released:
            size, target = float(np.linalg.norm(law)), frequencies / np.linalg.norm(frequencies)
        apart = law / size - target
        along = apart - (apart @ law / size) * law / size if released else apart
        value = np.linalg.norm(apart)
        return value, slopes.T @ along / size / value

    votes, taken = start, 0
    value, slope = objective(votes)
    for length in (10.0, 1.0):
        while value >= threshold:
            moved = votes - length * slope / np.linalg.norm(slope)
            there, steeper = objective(moved)
            if there <= value or (released and length == 1.0):
                raised = there > value
                votes, value, slope, taken = moved, there, steeper, taken + 1
                if released and (raised or (votes < 0).any() or taken == 100):
                    return votes, value
            else:
                break
    return votes, value


TOLD = [150, 40, 30, 20, 10]
RARE = [0.999, 0.001, 0.0, 0.0, 0.0]
READ_AT_40 = (TOLD, [100, 75, 50, 20, 5], [240, 4, 3, 2, 1], [60, 55, 50, 45, 40])


@pytest.mark.parametrize("variant", [PAPER, RELEASED], ids=["as printed", "as released"])
def test_algorithm_2_ends_where_its_own_rule_says(variant) -> None:
    """Against the same in plain Python with the paper's numbers, on expected frequencies.

    As printed: from 0, until ||Q - q|| is below .01, then shifted to the number of teachers.
    As released: from equal votes, until nothing gets better.
    """
    released = variant is RELEASED
    laws = probabilities(np.array(READ_AT_40, dtype=float), Gaussian(40.0))
    laws = np.vstack([laws, RARE])  # the released code ends at a negative count
    with jax.enable_x64(True):
        read, _ = gradient_descent(laws * 1e4, 40.0, 250, variant)
    for law, votes in zip(laws, read, strict=True):
        start = np.full(5, 50.0) if released else np.zeros(5)
        expected, _ = descend(law, 40.0, start, 0.0 if released else 0.01, released=released)
        if not released:
            expected = expected + (250 - expected.sum()) / 5
            assert np.linalg.norm(as_printed(votes, 40.0) - law) < 0.01
        np.testing.assert_allclose(votes, expected, atol=0.02)


@pytest.mark.slow("over half a second")
def test_the_threshold_leaves_an_error_that_more_labels_do_not_mend() -> None:
    """Of 150, 40, 30, 20 and 10 votes a sixteenth is misplaced, of 10^4 labels and of 10^6 alike.

    The likeliest votes of a million labels misplace a hundredth of that.
    """
    law = probabilities(np.array(TOLD), Gaussian(40.0))
    counts = np.array([law * 1e4, law * 1e6, *[law] * 3])  # as many as above: compiled once
    with jax.enable_x64(True):
        read, converged = gradient_descent(counts, 40.0, 250)
    assert converged.all()
    assert misplaced(read[:2], TOLD) == pytest.approx([0.063, 0.063], abs=0.001)
    labels = np.random.default_rng(0).multinomial(10**6, law)
    best = reconstruct(Answers(labels, NoisyArgmax(Gaussian(40.0))), 250).histogram
    assert misplaced(best, TOLD) < 0.004


@pytest.mark.slow("further histograms of the same descent")
@pytest.mark.parametrize("variant", [PAPER, RELEASED], ids=["as printed", "as released"])
def test_on_drawn_histograms_too(variant) -> None:
    """Twenty of 250 teachers; a rounding may decide about the last step alone, of one vote."""
    drawn = examples(histograms(5, 250), 20, 3)
    laws = probabilities(np.array(drawn, dtype=float), Gaussian(40.0))
    released = variant is RELEASED
    with jax.enable_x64(True):
        read, _ = gradient_descent(laws * 1e4, 40.0, 250, variant)
    for law, votes in zip(laws, read, strict=True):
        start = np.full(5, 50.0) if released else np.zeros(5)
        expected, _ = descend(law, 40.0, start, 0.0 if released else 0.01, released=released)
        expected = expected + (250 - expected.sum()) / 5 * (not released)
        assert np.linalg.norm(votes - expected) < 1.05
