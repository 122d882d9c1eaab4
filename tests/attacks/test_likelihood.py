"""The likelihood of answers: its derivatives, its concavity, and what counts as answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.attacks import Answers, fisher_information
from dpassay.attacks.answers import Likelihood
from dpassay.reference import (
    ConfidentGNMax,
    Exponential,
    Gaussian,
    Gumbel,
    InteractiveGNMax,
    Laplace,
    NoisyArgmax,
)
from dpassay.verifiers.strategies import histograms

SCREENED = ConfidentGNMax(Gaussian(7.0), 20.0, Gaussian(9.0))
MECHANISMS = [NoisyArgmax(family(7.0)) for family in (Gaussian, Laplace, Gumbel, Exponential)]
MECHANISMS.append(SCREENED)


def likelihood(mechanism, seed=0, rows=3, classes=4):
    rng = np.random.default_rng(seed)
    outcomes = classes + isinstance(mechanism, ConfidentGNMax)
    return Likelihood([Answers(rng.integers(0, 30, (rows, outcomes)).astype(float), mechanism)])


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_the_gradient_is_the_slope_of_the_value(mechanism) -> None:
    """Central differences; a sign, a factor of the scale or a forgotten refusal is caught."""
    found = likelihood(mechanism)
    votes = np.array([[9.0, 14.0, 3.0, 1.0], [2.0, 3.0, 21.0, 5.0], [11.0, 0.5, 2.0, 8.0]])
    gradient = found.derivatives(votes, votes.argmax(-1))[1]
    for label in range(4):
        step = np.zeros(4)
        step[label] = 1e-4
        slope = (found.value(votes + step) - found.value(votes - step)) / 2e-4
        np.testing.assert_allclose(gradient[:, label], slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_fisher_information_is_the_mean_square_of_the_gradient(mechanism) -> None:
    """By its definition, one outcome at a time; 'expected' taken at other weights is caught."""
    votes = np.array([9, 14, 3, 1])
    law = np.exp(mechanism.log_probabilities(votes.astype(float)))
    outer = np.zeros((4, 4))
    for outcome, chance in enumerate(law):
        one = np.zeros(law.size)
        one[outcome] = 1.0
        single = Likelihood([Answers(one[None], mechanism)])
        score = single.derivatives(votes[None].astype(float), np.array([1]))[1][0]
        outer += chance * np.outer(score, score)
    np.testing.assert_allclose(fisher_information(votes, mechanism), outer, rtol=1e-8, atol=1e-14)


@given(histogram=histograms(4, 30), other=histograms(4, 30), share=st.floats(0.05, 0.95))
@pytest.mark.parametrize("mechanism", MECHANISMS[:4], ids=str)
def test_the_likelihood_is_concave(mechanism, histogram, other, share):
    """On segments between histograms (Prékopa); false for noise that is not log-concave."""
    found = likelihood(mechanism, rows=1)
    between = share * histogram + (1 - share) * other
    values = [float(found.value(np.asarray(v, dtype=float)[None])[0]) for v in (histogram, other)]
    chord = share * values[0] + (1 - share) * values[1]
    assert float(found.value(between[None])[0]) >= chord - 1e-9 * abs(chord)


def test_refusals_are_convex_in_part_so_the_leader_must_be_fixed() -> None:
    """Why there is one fit a leader: with the maximum over classes, concavity fails."""
    answered = Likelihood([Answers(np.array([[1.0, 1.0, 0.0]]), SCREENED)])
    ends = np.array([[90.0, 0.0], [0.0, 90.0]])
    middle = float(answered.value(np.array([[45.0, 45.0]]))[0])
    refusal_free = Likelihood([Answers(np.array([[1.0, 1.0]]), NoisyArgmax(Gaussian(7.0)))])
    labels_only = float(refusal_free.value(np.array([[45.0, 45.0]]))[0])
    assert middle < labels_only
    far = Likelihood(
        [
            Answers(
                np.array([[30.0, 30.0, 0.0]]), ConfidentGNMax(Gaussian(900.0), 80.0, Gaussian(5.0))
            )
        ]
    )
    assert float(far.value(np.array([[45.0, 45.0]]))[0]) < float(
        np.mean([far.value(e[None])[0] for e in ends])
    )


def test_a_tally_counts_labels_and_refusals() -> None:
    labels = [2, 0, -1, 2, 2, -1, 1]
    assert Answers.tally(labels, 4, SCREENED).counts.tolist() == [1, 1, 3, 0, 2]
    plain = Answers.tally([2, 0, 2], 3, MECHANISMS[0])
    assert plain.counts.tolist() == [1, 0, 2]
    assert plain.refusals == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Answers([1.0, -2.0], MECHANISMS[0]), "-2: expected numbers from 0"),
        (lambda: Answers([1.0, np.nan], MECHANISMS[0]), "nan: expected numbers from 0"),
        (lambda: Answers([3.0], MECHANISMS[0]), "at least two classes"),
        (lambda: Answers([3.0, 1.0], SCREENED), "two classes and the refusals"),
        (lambda: Answers.tally([0, 3], 3, MECHANISMS[0]), "label 3 at place 1: .* from 0 to 2$"),
        (lambda: Answers.tally([0, -1], 3, MECHANISMS[0]), "label -1 at place 1"),
        (lambda: Answers.tally([0, -2], 3, SCREENED), "or -1 for a refusal"),
        (lambda: Answers.tally([0.5], 3, SCREENED), "expected whole labels"),
        (lambda: Likelihood([]), "at least one batch"),
        (
            lambda: Answers(
                [1.0, 2.0],
                InteractiveGNMax(Gaussian(1.0), 1.0, Gaussian(1.0), (0.5, 0.5), 1.0, 0.9),
            ),
            "expected NoisyArgmax or ConfidentGNMax",
        ),
    ],
)
def test_what_are_no_answers_is_said_in_one_line(make, message) -> None:
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
