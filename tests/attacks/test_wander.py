"""The cheap steps between proposals: what they carry along is what it would be computed anew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.attacks import Answers
from dpassay.attacks.answers import Likelihood
from dpassay.attacks.prior import CONCENTRATIONS, PriorOfVotes, log_prior
from dpassay.attacks.wander import Surrogate, Wander
from dpassay.reference import ConfidentGNMax, Gaussian, NoisyArgmax, log_probabilities

SCREENED = ConfidentGNMax(Gaussian(9.0), 20.0, Gaussian(8.0))


@given(seed=st.integers(0, 2**32 - 1), total=st.sampled_from([9, 30_000]))
def test_the_prior_of_votes_is_the_prior_but_for_a_constant(seed, total) -> None:
    """With and without its table; the same number of classes contends before and after."""
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(total, rng.dirichlet(np.ones(4)), size=(2, 5, 2))
    contends = rng.permuted(np.arange(4) < rng.integers(0, 5), axis=-1)
    contends = rng.permuted(np.broadcast_to(contends, votes.shape), axis=-1)
    a = rng.choice(CONCENTRATIONS, 5)
    prior = PriorOfVotes(votes[0], contends[0], a)
    found = prior.value(votes[1], contends[1]) - prior.value(votes[0], contends[0])
    exact = log_prior(votes[1], contends[1], a[:, None]) - log_prior(
        votes[0], contends[0], a[:, None]
    )
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-6 if total > 9 else 1e-10)
    outside = votes[0] + np.array([-total - 1, total + 1, 0, 0])
    assert (prior.value(outside, contends[0]) == -np.inf).all()


@pytest.mark.parametrize("mechanism", [NoisyArgmax(Gaussian(9.0)), SCREENED], ids=str)
def test_what_a_walk_carries_along_is_where_it_ends(mechanism) -> None:
    """A step declined in the votes and taken in the value, or the other way, is caught."""
    rng = np.random.default_rng(0)
    outcomes = 5 + isinstance(mechanism, ConfidentGNMax)
    answers = Answers(rng.integers(1, 60, (2, outcomes)).astype(float), mechanism)
    centre = rng.multinomial(60, np.full(5, 0.2), size=2).astype(float)
    surrogate = Surrogate(Likelihood([answers, answers]), centre, centre.argmax(-1))
    votes = rng.multinomial(60, np.full(5, 0.2), size=(7, 2))
    contends, a = rng.random(votes.shape) < 0.4, rng.choice(CONCENTRATIONS, 7)
    way = Wander(surrogate, votes, contends, a)
    np.testing.assert_allclose(way.start, surrogate.value(votes))
    order, spread = np.argsort(-centre, -1), np.broadcast_to(np.eye(5), (2, 5, 5))
    way.run(35, order, spread, rng)
    assert (way.votes.sum(-1) == 60).all()
    assert (way.votes != votes).any(-1).mean() > 0.5  # as many chains, at least, have moved
    assert (way.contends.sum(-1) == contends.sum(-1)).all()
    np.testing.assert_allclose(way.value, surrogate.value(way.votes), rtol=1e-9)
    np.testing.assert_allclose(way.log_prior, way.prior.value(way.votes, way.contends))


def test_the_surrogate_is_the_likelihood_nearby() -> None:
    """To second order in each class's own votes: half a bend, or one of the wrong sign, is not."""
    noise = Gaussian(20.0)
    centre = np.array([[30.0, 22.0, 9.0]])
    likelihood = Likelihood([Answers(np.array([[50.0, 30.0, 4.0]]), NoisyArgmax(noise))])
    surrogate = Surrogate(likelihood, centre, np.array([0]))
    (part,) = surrogate.parts
    for label in (1, 2):
        moved = centre.copy()
        moved[0, label] += 5.0
        exact = log_probabilities(moved, noise)[0, label] - part.log_q[0, label]
        linear = 5.0 * part.slopes[0, label, label]
        assert linear + 25.0 * part.bends[0, label] == pytest.approx(exact, rel=1e-6)
        assert abs(exact - linear) > 1e-3
