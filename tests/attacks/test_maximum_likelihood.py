"""The maximum-likelihood attack: right, certified, and no worse than any other optimiser."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from dpassay.attacks import Answers, interior_point, misplaced, reconstruct
from dpassay.attacks.answers import Likelihood
from dpassay.attacks.maximum_likelihood import _may_lead
from dpassay.reference import (
    ConfidentGNMax,
    Exponential,
    Gaussian,
    Gumbel,
    Laplace,
    NoisyArgmax,
    probabilities,
)
from dpassay.verifiers.strategies import histograms

GNMAX = NoisyArgmax(Gaussian(40.0))
FAMILIES = [Gaussian, Laplace, Gumbel, Exponential]


@pytest.mark.slow("over half a second")
@given(seed=st.integers(0, 2**32 - 1), order=st.permutations(range(5)))
def test_renumbered_classes_get_renumbered_votes(seed, order) -> None:
    counts = np.random.default_rng(seed).multinomial(500, [0.4, 0.3, 0.2, 0.09, 0.01])
    found = reconstruct(Answers(counts, GNMAX), 100).histogram
    moved = reconstruct(Answers(counts[list(order)], GNMAX), 100).histogram
    np.testing.assert_allclose(moved, found[list(order)], atol=1e-3)


@pytest.mark.slow("over half a second")
@given(seed=st.integers(0, 2**32 - 1), factor=st.floats(0.2, 20.0))
def test_votes_scale_with_noise_and_teachers(seed, factor) -> None:
    counts = np.random.default_rng(seed).multinomial(500, [0.4, 0.3, 0.2, 0.09, 0.01])
    found = reconstruct(Answers(counts, GNMAX), 100).histogram
    louder = NoisyArgmax(GNMAX.noise.times(factor))
    teachers = 100 * factor
    assume(teachers >= 1)
    likelihood_votes = reconstruct(Answers(counts, louder), None).histogram
    relative = reconstruct(Answers(counts, GNMAX), None).histogram
    np.testing.assert_allclose(likelihood_votes, relative * factor, rtol=1e-4)
    assert found.sum() == pytest.approx(100)


def plain_fit(counts, noise, teachers):
    """A generic solver on the same problem."""

    def loss(votes):
        logs = np.log(np.maximum(probabilities(votes, noise), 1e-300))
        return -float(np.where(counts > 0, counts * logs, 0.0).sum())

    start = np.full(counts.size, teachers / counts.size)
    return minimize(  # type: ignore[call-overload]
        loss,
        start,
        method="SLSQP",
        bounds=[(0, teachers)] * counts.size,
        constraints={"type": "eq", "fun": lambda votes: votes.sum() - teachers},
        options={"ftol": 1e-12, "maxiter": 300},
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "queries", [3, pytest.param(40, marks=pytest.mark.slow("fewer and more are")), 3000]
)
@pytest.mark.quick_cases(1)
def test_no_generic_solver_finds_likelier_votes(family, queries) -> None:
    """The plain fit's likelihood is never above ours, and never above our certificate."""
    mechanism = NoisyArgmax(family(25.0))
    rng = np.random.default_rng(queries)
    for _ in range(4):
        votes = rng.multinomial(100, rng.dirichlet(np.full(5, 0.4)))
        counts = rng.multinomial(queries, probabilities(votes.astype(float), mechanism.noise))
        found = reconstruct(Answers(counts, mechanism), 100)
        assert found.converged
        assert found.gap <= 1e-10 * queries
        other = plain_fit(counts, mechanism.noise, 100)
        assert -other.fun <= found.log_likelihood + 1e-7 * queries


@given(seed=st.integers(0, 2**32 - 1), data=st.data())
def test_the_certificate_holds_for_any_votes(seed, data) -> None:
    """Votes of Hypothesis's choice; a gap without the total, or of the wrong sign, fails."""
    counts = np.random.default_rng(seed).multinomial(300, [0.5, 0.3, 0.15, 0.05])
    found = reconstruct(Answers(counts, GNMAX), 80)
    other = data.draw(histograms(4, 80)).astype(float)
    value = Likelihood([Answers(counts[None], GNMAX)]).value(other[None])[0]
    assert value <= found.log_likelihood + found.gap + 1e-9


def test_many_histograms_at_once_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    counts = rng.multinomial(1000, rng.dirichlet(np.ones(6), size=(3, 4)))
    together = reconstruct(Answers(counts, GNMAX), 100)
    assert together.histogram.shape == (3, 4, 6)
    assert together.converged.all()
    one = reconstruct(Answers(counts[1, 2], GNMAX), 100).histogram
    np.testing.assert_allclose(together.histogram[1, 2], one, atol=1e-6)


def test_classes_never_seen_get_no_votes_or_none_that_can_be_told() -> None:
    counts = np.array([900, 100, 0, 0])
    known = reconstruct(Answers(counts, GNMAX), 120)
    np.testing.assert_allclose(known.histogram[2:], 0.0, atol=1e-4)
    unknown = reconstruct(Answers(counts, GNMAX)).histogram
    assert unknown[0] == 0
    assert unknown[2:].tolist() == [-np.inf, -np.inf]
    law = probabilities(np.array([unknown[0], unknown[1]]), GNMAX.noise)
    np.testing.assert_allclose(law, [0.9, 0.1], atol=1e-6)


def test_batches_at_several_scales_are_pooled() -> None:
    """Two batches of like worth: about 0.71 of either's error, and 1 if one were ignored."""
    votes = np.array([60, 30, 20, 10])
    mechanisms = [NoisyArgmax(Gaussian(sigma)) for sigma in (40.0, 44.0)]
    rng = np.random.default_rng(4)
    counts = [
        rng.multinomial(2000, probabilities(votes.astype(float), m.noise), size=300)
        for m in mechanisms
    ]
    batches = [Answers(c, m) for c, m in zip(counts, mechanisms, strict=True)]
    pooled = misplaced(reconstruct(batches, 120).histogram, votes).mean()
    alone = [misplaced(reconstruct(batch, 120).histogram, votes).mean() for batch in batches]
    assert pooled < 0.82 * min(alone)


SCREENED = ConfidentGNMax(Gaussian(40.0), 60.0, Gaussian(30.0))


def test_refusals_are_read_too() -> None:
    """With refusals the total need not be known: their rate says where the leader stands."""
    votes = np.array([70.0, 50.0, 30.0])
    law = np.exp(SCREENED.log_probabilities(votes))
    found = reconstruct(Answers(law, SCREENED))
    assert found.converged
    np.testing.assert_allclose(found.histogram, votes, atol=1e-2)
    np.testing.assert_allclose(reconstruct(Answers(law, SCREENED), 150).histogram, votes, atol=1e-2)


@given(seed=st.integers(0, 2**32 - 1), refusals=st.sampled_from([0, 5, 400]))
def test_refusals_best_fit_is_no_worse_than_any_votes(seed, refusals) -> None:
    rng = np.random.default_rng(seed)
    counts = np.append(rng.multinomial(60, rng.dirichlet(np.ones(3))), refusals).astype(float)
    found = reconstruct(Answers(counts, SCREENED), 90)
    others = rng.multinomial(90, rng.dirichlet(np.ones(3), size=200)).astype(float)
    values = Likelihood([Answers(np.tile(counts, (200, 1)), SCREENED)]).value(others)
    assert values.max() <= found.log_likelihood + found.gap + 1e-9


def test_without_refusals_and_teachers_votes_are_known_up_to_a_shift() -> None:
    """A leader ever further above the threshold is ever likelier: there is no absolute fit."""
    counts = np.array([[50, 30, 20, 0, 0], [50, 30, 20, 0, 9]])
    found = reconstruct(Answers(counts, SCREENED))
    assert found.converged.all()
    assert found.histogram[0, 0] == 0
    assert found.histogram[0, 3] == -np.inf
    assert found.histogram[1].min() >= 0


def test_nothing_seen_is_nothing_known() -> None:
    found = reconstruct(Answers([0, 0, 0], GNMAX))
    assert found.histogram.tolist() == [0, 0, 0]
    assert found.log_likelihood == 0
    one = reconstruct(Answers([500, 1, 0, 3], GNMAX))
    assert np.isfinite(one.log_likelihood)


def test_who_may_lead() -> None:
    """By exchange: only classes that no other class was seen at least as often as everywhere."""
    one = np.array([[[5.0, 9.0, 9.0, 2.0]]])
    assert _may_lead(one).tolist() == [[False, True, False, False]]
    two = np.array([[[5.0, 9.0, 1.0]], [[8.0, 3.0, 2.0]]])
    assert _may_lead(two).tolist() == [[True, True, False]]
    assert _may_lead(np.zeros((1, 1, 3))).tolist() == [[True, False, False]]


@pytest.mark.parametrize("counts", [[0, 0, 0], [1, 0, 0], [10**7, 0, 0], [10**7, 1, 10**7]])
@pytest.mark.parametrize("teachers", [1, 250, 10**6])
def test_extreme_answers_converge(counts, teachers) -> None:
    found = reconstruct(Answers(np.array(counts), GNMAX), teachers)
    assert found.converged
    assert found.histogram.sum() == pytest.approx(teachers)
    assert (found.histogram >= 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reconstruct(Answers([1, 2], GNMAX), 0), "teachers 0: expected at least 1"),
        (lambda: reconstruct(Answers([1, 2], GNMAX), 2.5), "teachers 2.5: expected a whole"),
        (lambda: reconstruct(Answers([1, 2], GNMAX), 9, "map"), "'map': expected one of mle"),
        (lambda: reconstruct(Answers([1, 2], GNMAX), None, "posterior"), "needs the number"),
        (lambda: reconstruct(Answers([1, 2], GNMAX)).interval, "need the number of teachers"),
        (
            lambda: reconstruct([Answers([1, 2], GNMAX), Answers([1, 2, 3], GNMAX)], 9),
            "expected one shape",
        ),
        (
            lambda: reconstruct(Answers([1, 2], NoisyArgmax(Laplace(3.0))), 9, "gradient-descent"),
            "gaussian noise",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(call, message) -> None:
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.slow("thirty histograms; a generic solver is compared on others")
def test_published_histograms_are_fitted_no_worse_than_by_a_plain_solver(published_data) -> None:
    """All 30 of Wang et al. 2022, 10^4 queries at sigma 60."""
    table = np.loadtxt(
        published_data / "wang2022_histograms.csv", delimiter=",", skiprows=1, usecols=range(3, 13)
    )
    noise = Gaussian(60.0)
    counts = np.random.default_rng(0).multinomial(10_000, probabilities(table, noise))
    found = reconstruct(Answers(counts, NoisyArgmax(noise)), 250)
    assert found.converged.all()
    for row, value in zip(counts, found.log_likelihood, strict=True):
        assert -plain_fit(row, noise, 250).fun <= value + 1e-6


def test_a_fit_ends_where_rounding_keeps_it_from_its_tolerance(monkeypatch) -> None:
    """Votes of 250,000 scales: the gap stays at 0.005 nats, and every fit took all its steps."""
    steps = []
    inner = interior_point._InteriorPoint._direction
    monkeypatch.setattr(
        interior_point._InteriorPoint,
        "_direction",
        lambda self, state: steps.append(state.row.size) or inner(self, state),  # type: ignore[func-returns-value]
    )
    counts = np.array([2500.0, 2500.0, 5000.0, 0.0])
    found = reconstruct(Answers(counts, GNMAX), 10**7)
    assert len(steps) < 60
    assert found.gap <= 1e-6 * counts.sum()
