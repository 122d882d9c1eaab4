"""A thousand classes: fits of groups seen equally often are the fits of all classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.attacks import Answers, maximum_likelihood, reconstruct
from dpassay.attacks.answers import Likelihood
from dpassay.attacks.interior_point import Polytope
from dpassay.reference import (
    ConfidentGNMax,
    Exponential,
    Gaussian,
    Gumbel,
    Laplace,
    NoisyArgmax,
    log_derivatives,
    log_probabilities,
    probabilities,
)

FAMILIES = [Gaussian, Laplace, Gumbel, Exponential]
SCREENED = ConfidentGNMax(Gaussian(20.0), 60.0, Gaussian(15.0))


def seen(classes, teachers, noise, queries, seed=0, concentration=0.3):
    """Counts of the labels of a drawn histogram."""
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(teachers, rng.dirichlet(np.full(classes, concentration)))
    law = probabilities(votes.astype(float), noise)
    return rng.multinomial(queries, law / law.sum()).astype(float)


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_equal_votes_taken_together_have_the_slopes_of_all(family, data) -> None:
    """Against the Jacobian of every class: slopes of one class instead of all, or a class that
    counts itself among its rivals, is caught."""
    many = np.array(data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=4)))
    votes = np.array(data.draw(st.lists(st.floats(0, 300), min_size=len(many), max_size=len(many))))
    noise, place = family(20.0), np.repeat(np.arange(len(many)), many)
    log_q, slopes = log_derivatives(votes, noise, many.astype(float))
    every, each = log_derivatives(votes[place], noise)
    np.testing.assert_allclose(log_q[place], every, rtol=1e-12, atol=1e-12)
    together = np.stack([each[:, place == g].sum(-1) for g in range(len(many))], -1)
    np.testing.assert_allclose(slopes[place], together, rtol=1e-9, atol=1e-12)
    alone = log_probabilities(votes, noise, many.astype(float))
    np.testing.assert_allclose(alone, log_q, rtol=1e-12)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_groups_are_fitted_as_all_classes_are(family, monkeypatch) -> None:
    """The dense fit knows no groups: neither beats the other by more than its certificate."""
    noise = family(25.0)
    counts = seen(100, 400, noise, 3000)
    together = reconstruct(Answers(counts, NoisyArgmax(noise)), 400)
    monkeypatch.setattr(maximum_likelihood, "_GROUP_FROM", 1000)
    apart = reconstruct(Answers(counts, NoisyArgmax(noise)), 400)
    assert together.converged
    assert apart.converged
    slack = together.gap + apart.gap + 1e-9
    assert abs(together.log_likelihood - apart.log_likelihood) <= slack
    assert together.histogram.sum() == pytest.approx(400)
    likelihood = Likelihood([Answers(counts[None], NoisyArgmax(noise))])
    value = likelihood.value(together.histogram[None])[0]
    assert value == pytest.approx(float(together.log_likelihood), abs=1e-8 * 3000)


@pytest.mark.parametrize("teachers", [400, None])
def test_groups_are_fitted_as_all_classes_are_where_queries_are_refused(
    teachers, monkeypatch
) -> None:
    """The leader's votes meet the threshold alone: grouped with others, it counts them too."""
    rng = np.random.default_rng(0)
    votes = rng.multinomial(400, rng.dirichlet(np.full(80, 0.2))).astype(float)
    law = np.exp(SCREENED.log_probabilities(votes))
    answers = Answers(rng.multinomial(3000, law / law.sum()).astype(float), SCREENED)
    together = reconstruct(answers, teachers)
    monkeypatch.setattr(maximum_likelihood, "_GROUP_FROM", 1000)
    apart = reconstruct(answers, teachers)
    assert together.converged
    assert together.log_likelihood == pytest.approx(float(apart.log_likelihood), abs=1e-6)


@pytest.mark.slow("over half a second")
def test_batches_group_only_what_all_of_them_saw_equally_often(monkeypatch) -> None:
    noises = [Gaussian(25.0), Gaussian(40.0)]
    batches = [Answers(seen(70, 300, noise, 800), NoisyArgmax(noise)) for noise in noises]
    together = reconstruct(batches, 300)
    monkeypatch.setattr(maximum_likelihood, "_GROUP_FROM", 1000)
    apart = reconstruct(batches, 300)
    assert together.log_likelihood == pytest.approx(float(apart.log_likelihood), abs=1e-6)


@given(seed=st.integers(0, 2**32 - 1), leads=st.booleans())
def test_the_room_of_groups_is_the_room_of_all_classes(seed, leads) -> None:
    """The certificate: a bound that takes a group for one class is too large or too small."""
    rng = np.random.default_rng(seed)
    many = np.array([1.0, *rng.integers(1, 4, size=3)])
    place = np.repeat(np.arange(4), many.astype(int))
    leader = 0 if leads else None
    groups = Polytope(4, 90.0, leader, True, many)
    every = Polytope(place.size, 90.0, leader, True)
    votes = groups.inner_point(rng.dirichlet(np.ones(4))[None])
    assert votes @ many == pytest.approx(90.0)
    each = rng.normal(size=(1, 4))
    room = every.room(each[:, place], votes[:, place])
    np.testing.assert_allclose(groups.room(each * many, votes), room, rtol=1e-9, atol=1e-9)


def test_labels_that_tell_no_class_apart_are_a_tie() -> None:
    found = reconstruct(Answers(np.full(100, 7.0), NoisyArgmax(Gaussian(9.0))), 300)
    np.testing.assert_allclose(found.histogram, 3.0, rtol=1e-6)
    assert found.converged


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("teachers", "sigma", "queries", "concentration"),
    [(250, 40.0, 10**4, 0.02), (5000, 40.0, 10**4, 0.02), (5000, 5.0, 10**5, 5.0)],
)
def test_a_thousand_classes_are_fitted_in_few_steps(
    teachers, sigma, queries, concentration, monkeypatch
) -> None:
    """Steps, and groups of a step, stand for the seconds: all classes apart took 20 to 300."""
    sizes = []
    derivatives = Likelihood.derivatives
    monkeypatch.setattr(
        Likelihood,
        "derivatives",
        lambda self, votes, leader: sizes.append(votes.size) or derivatives(self, votes, leader),  # type: ignore[func-returns-value]
    )
    noise = Gaussian(sigma)
    counts = seen(1000, teachers, noise, queries, concentration=concentration)
    found = reconstruct(Answers(counts, NoisyArgmax(noise)), teachers)
    assert found.converged
    assert len(sizes) <= 60
    assert max(sizes) < 200
