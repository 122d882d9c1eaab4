"""The posterior attack over its prior: intervals that cover, and the error that it states."""

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.attacks import Answers, misplaced, reconstruct
from dpassay.reference import Gaussian, NoisyArgmax, probabilities


def coverage(draw_votes, teachers, classes, rows=60, sigma=25.0, queries=3000):
    """Share of classes that the 95 % intervals hold, and the intervals' mean width."""
    rng = np.random.default_rng(1)
    votes = draw_votes(rng, rows)
    noise = Gaussian(sigma)
    counts = rng.multinomial(queries, probabilities(votes.astype(float), noise))
    found = reconstruct(Answers(counts, NoisyArgmax(noise)), teachers, "posterior").interval
    held = (found[..., 0] <= votes) & (votes <= found[..., 1])
    return int(held.sum()), held.size, float((found[..., 1] - found[..., 0]).mean())


COVERAGE = pytest.mark.slow("coverage over many posterior attacks")


@COVERAGE
@pytest.mark.parametrize("concentration", [0.05, 0.5, 5.0])
def test_intervals_cover_over_the_prior(concentration) -> None:
    """Null: 94 % at least; fails if so few held that chance is below 1e-6. Power: 88 % fails."""

    def draw(rng, rows):
        return rng.multinomial(80, rng.dirichlet(np.full(5, concentration), size=rows))

    held, classes, width = coverage(draw, 80, 5)
    assert binom.cdf(held, classes, 0.94) > 1e-6
    assert width < 40


@COVERAGE
def test_intervals_cover_under_a_wrong_prior() -> None:
    """Histograms that the prior does not draw: one class always leads, one is never chosen."""

    def draw(rng, rows):
        return rng.multinomial(80, rng.dirichlet([20.0, 4.0, 4.0, 1.0, 1e-6], size=rows))

    held, classes, _ = coverage(draw, 80, 5)
    assert binom.cdf(held, classes, 0.94) > 1e-6


@pytest.mark.slow("many posterior attacks")
def test_the_posterior_reads_better_than_the_likeliest_votes_over_the_prior() -> None:
    """One class leads, the rest are about even: a prior that must be learned from the batch."""
    rng = np.random.default_rng(2)
    votes = rng.multinomial(100, rng.dirichlet([600.0] + [30.0] * 9, size=30))
    mechanism = NoisyArgmax(Gaussian(30.0))
    answers = Answers(
        rng.multinomial(1000, probabilities(votes.astype(float), mechanism.noise)), mechanism
    )
    errors = {
        m: misplaced(reconstruct(answers, 100, m).histogram, votes) for m in ("mle", "posterior")
    }
    gain = errors["mle"] - errors["posterior"]
    assert gain.mean() > 4.9 * gain.std() / np.sqrt(gain.size)


@pytest.mark.slow("many posterior attacks")
def test_the_stated_error_is_the_error() -> None:
    """The posterior's own mean of misplaced votes against the truth, over the prior."""
    rng = np.random.default_rng(3)
    votes = rng.multinomial(100, rng.dirichlet(np.full(6, 0.3), size=60))
    mechanism = NoisyArgmax(Gaussian(30.0))
    answers = Answers(
        rng.multinomial(500, probabilities(votes.astype(float), mechanism.noise)), mechanism
    )
    found = reconstruct(answers, 100, "posterior")
    actual = misplaced(found.histogram, votes)
    stated = found.misplaced[..., 0]
    assert abs((actual - stated).mean()) < 5 * (actual - stated).std() / np.sqrt(60)
    held = (found.misplaced[..., 1] <= actual) & (actual <= found.misplaced[..., 2])
    assert binom.cdf(held.sum(), 60, 0.94) > 1e-6


@pytest.mark.slow("many posteriors")
def test_the_posterior_is_whole_and_sums_to_the_teachers() -> None:
    found = reconstruct(Answers([40, 30, 2, 0], NoisyArgmax(Gaussian(9.0))), 37, "posterior")
    assert found.converged
    assert found.histogram.sum() == 37
    assert (found.histogram == np.floor(found.histogram)).all()
    again = reconstruct(Answers([40, 30, 2, 0], NoisyArgmax(Gaussian(9.0))), 37, "posterior")
    assert again.histogram.tolist() == found.histogram.tolist()
