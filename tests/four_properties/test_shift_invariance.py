"""Second property of the design card: shift invariance (Wang et al. 2022, Theorem 2).

As many votes more for every class leave the probabilities, the labels and the attacker's answer as
they are. The reference is held to integrals in which nothing is subtracted from the votes, as it
subtracts the largest count before all else, and would agree with itself whatever it computed.
Caught, each by a test below: votes taken as shares of the teachers, a window about 0 and not about
the votes, noise in proportion to the votes, an attack that pulls votes towards 0.
"""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from mpmath import mp

from dpassay.attacks import Answers, reconstruct
from dpassay.reference import Gaussian, NoisyArgmax, log_probabilities, probabilities

from . import high_precision
from .drawing import FAMILIES, deployments, exact

SHIFTS = st.integers(1, 50) | st.integers(51, 10_000)
FEW = st.integers(2, 6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_reference_at_shifted_votes_is_the_integral_at_the_votes(family) -> None:
    """To 1e-12, against mpmath at the votes that were not shifted, and at those that were."""

    @exact(quick=4, whole=40)
    @given(deployments(family, FEW), SHIFTS)
    @example(([2460, 100, 0], family(40.0)), 7)  # the last class just beyond those looked at
    def same(deployment, shift) -> None:
        votes, noise = deployment
        shifted = [v + shift for v in votes]
        plain = high_precision.probabilities(votes, noise)
        moved = high_precision.probabilities(shifted, noise)
        found = log_probabilities(shifted, noise)
        with mp.workdps(30):
            for log, here, there in zip(found.tolist(), plain, moved, strict=True):
                if here:
                    assert abs(here / there - 1) < mp.mpf("1e-18")  # the theorem itself
                    assert abs(mp.expm1(mp.mpf(log) - mp.log(here))) < 1e-12

    same()


@pytest.mark.slow("mpmath on many classes")
@pytest.mark.parametrize("family", FAMILIES)
def test_of_many_classes_too(family) -> None:
    @exact(quick=2, whole=15)
    @given(deployments(family, st.integers(7, 20)), SHIFTS)
    def same(deployment, shift) -> None:
        votes, noise = deployment
        found = log_probabilities([v + shift for v in votes], noise)
        with mp.workdps(30):
            for log, q in zip(
                found.tolist(), high_precision.probabilities(votes, noise), strict=True
            ):
                assert not q or abs(mp.expm1(mp.mpf(log) - mp.log(q))) < 1e-12

    same()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_noise_gives_the_same_labels(family) -> None:
    """Label by label, but where rounding to floats decides between two counts.

    With noise of scale s, rounding moves the difference of two noisy counts of up to 20,000 votes
    by less than 1e-11 + 1e-14 s: of 500 labels none is as near to another but with probability
    1e-6, at scales from a hundredth of a vote on.
    """

    @exact(quick=15, whole=60)
    @given(deployments(family), SHIFTS, st.integers(0, 2**32 - 1))
    def same(deployment, shift, seed) -> None:
        votes, noise = deployment
        mechanism = NoisyArgmax(noise)
        here, there = (
            mechanism.sample(np.array(votes) + more, 500, np.random.default_rng(seed))
            for more in (0, shift)
        )
        assert (here == there).all()

    same()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_attacker_reads_the_shift_from_the_total_alone(family) -> None:
    """From the same labels: with a shift more of teachers, a shift more of votes for each class.

    Votes at 0 are apart: more teachers may lift them by more than the shift, as the bound is gone.
    """

    @exact(quick=6, whole=60)
    @given(deployments(family, FEW, st.integers(20, 500)), SHIFTS, st.integers(0, 2**32 - 1))
    def same(deployment, shift, seed) -> None:
        votes, noise = deployment
        law = probabilities(np.array(votes), noise)
        assume(law.min() * 10_000 > 10)
        counts = np.random.default_rng(seed).multinomial(10_000, law)
        answers = Answers(counts, NoisyArgmax(noise))
        found = reconstruct(answers, sum(votes))
        moved = reconstruct(answers, sum(votes) + shift * len(votes))
        assume(found.histogram.min() > 1e-3 * sum(votes))
        # both solve one problem, moved: to far less than what 10,000 labels tell of a class
        away = moved.histogram - found.histogram - shift
        assert np.abs(away).max() < 1e-3 * noise.scale

    same()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "method",
    [
        "posterior",
        pytest.param("gradient-descent", marks=pytest.mark.slow("compiles the descent twice")),
    ],
)
def test_the_other_attacks_too(method) -> None:
    """Whole votes to two of 400 by the posterior's chains; Algorithm 2 to 0.01, of one start."""
    counts, shift = np.array([4_000, 3_000, 2_000, 1_000]), 100
    answers = Answers(counts, NoisyArgmax(Gaussian(40.0)))
    found, moved = (
        reconstruct(answers, teachers, method).histogram for teachers in (400, 400 + 4 * shift)
    )
    allowed = {"posterior": 2.0, "gradient-descent": 0.01}[method]
    assert np.abs(moved - found - shift).max() <= allowed
