"""The sizes of what a pass of numbers excludes, each by a second method."""

import math

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import PRIVATE
from scipy.stats import binom

from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.checks.independence import Independence
from dpassay.verifiers.kinds.numbers.checks.noise_law import seen_effect, wanted
from dpassay.verifiers.kinds.numbers.checks.privacy_claim import NumbersPrivacyClaim
from dpassay.verifiers.kinds.numbers.evidence.copies import SHARES, share_seen
from dpassay.verifiers.kinds.numbers.evidence.copula import (
    CORRELATIONS,
    pair_gains,
    seen_correlation,
)
from dpassay.verifiers.kinds.numbers.planned import PlannedNumbers
from dpassay.verifiers.kinds.numbers.planning.pairs import charged_pair
from dpassay.verifiers.kinds.numbers.registry import SHARES as BY_CHECK
from dpassay.verifiers.run.checks import Setting
from dpassay.verifiers.run.error_budget import log_threshold

HISTOGRAM = 'name = "noisy-histogram"\nnoise = "{}"\nadjacency = "add-remove"\ncells = {}'


def of(check: str, noise: str, cells: int = 4, rest: str = "") -> tuple[Excluded, ...]:
    return PlannedNumbers(claimed(HISTOGRAM.format(noise, cells), rest), 0).excluded[check]


def test_a_correlation_shows_by_the_moments_of_the_wagers_themselves() -> None:
    """Moments by quadrature of what the check adds; catches a variance that forgets the pairs."""
    pairs, nats = 1_000, 22.0
    seen = seen_correlation(pairs, nats)
    assert seen is not None
    x, w = np.polynomial.hermite_e.hermegauss(12)
    one, other = np.meshgrid(x, x)
    weights = np.outer(w, w).ravel() / (2.0 * math.pi)

    def reached(rho: float) -> bool:
        second = rho * one + math.sqrt(1.0 - rho**2) * other
        each = zip(one.ravel(), second.ravel(), strict=True)
        gains = np.array([pair_gains(np.array([a]), np.array([b])) for a, b in each])
        mean = weights @ gains
        spread = weights @ gains**2 - mean**2
        least = pairs * mean - 2.3263 * np.sqrt(pairs * spread)
        return bool((least[CORRELATIONS > 0.0] >= nats).any())

    assert reached(seen)
    assert not reached(seen - 0.01)


def test_copies_show_by_the_binomial_law() -> None:
    """Catches shares that are told at the mean, which half of all runs would miss."""
    draws, nats, chance = 2_000, 25.0, math.log(0.05)
    share = share_seen(np.full(8, chance), draws, nats)
    assert share is not None
    often = share + (1.0 - share) * 0.05
    hits = np.arange(draws + 1)
    gained = hits[:, None] * np.log1p(SHARES * (20.0 - 1.0)) + (draws - hits[:, None]) * np.log1p(
        -SHARES
    )
    surely = (binom.pmf(hits, draws, often)[:, None] * (gained >= nats)).sum(0).max()
    assert 0.985 < surely < 0.9999


def test_a_copy_that_tells_nothing_shows_no_share() -> None:
    assert share_seen(np.zeros(8), 2_000, 20.0) is None


def test_a_single_number_shows_less_than_many() -> None:
    """Catches one correlation that is told of all claims: 2,000 draws do not show 0.1."""
    (alone,) = of("independence", "laplace:2", 1)
    later, beside = of("independence", "laplace:2", 32)
    assert alone.size["correlation"] > 0.25
    assert later.size["correlation"] <= 0.11
    assert (later.code, beside.code) == ("noise-made-of-earlier", "noise-shared-within-release")
    assert later.queries == 10 * alone.queries


def test_inputs_that_are_refused_fall_out_of_independence() -> None:
    """Catches entries of planned inputs."""
    claim = claimed(HISTOGRAM.format("laplace:2", 4))
    check = Independence.make(Setting(claim, 0, claim.inputs(0)))
    kept = check.roles[1:]
    check.answered(kept)
    assert all(one.where == tuple(map(str, kept)) for one in check.excluded)


def test_a_stricter_error_rate_takes_more_draws_of_the_law() -> None:
    """Catches an entry that vanishes, and draws that do not follow the error rate."""
    nats = {rate: log_threshold(BY_CHECK["noise-law"], rate) for rate in (1e-3, 1e-6, 1e-9, 1e-12)}
    assert wanted(0.1) == wanted(0.1, nats[1e-3]) == wanted(0.1, nats[1e-6]) == 2_400
    assert 2_800 < wanted(0.1, nats[1e-9]) < wanted(0.1, nats[1e-12]) < 4_200
    assert seen_effect(wanted(0.1, nats[1e-9]), nats[1e-9]) == pytest.approx(0.1, rel=1e-3)
    (one, *_) = of(
        "noise-law", "laplace:2", rest="[gate]\nfalse_alarm = 1e-9\nsmallest_effect = 0.1"
    )
    assert one.queries == wanted(0.1, nats[1e-9])


def test_the_farthest_cut_that_shows_is_told() -> None:
    """Catches a wager without its weight, by which a farther cut would be told.

    The check refutes at 15 nats, and the wager on a cut has some thousandth of its evidence. Of
    2,400 draws of Laplace noise 44 lie beyond 4 scales, 16 beyond 5 of them; of 60,000 draws 20 lie
    beyond 8, and 7 beyond 9.
    """
    _, cut = of("noise-law", "laplace:2")
    assert (cut.code, cut.size["reach"]) == ("noise-tails-cut", 16.0)
    _, cut = of("noise-law", "laplace:2", rest="[gate]\nsmallest_effect = 0.1")
    assert cut.size["reach"] == 8.0


def test_clamped_noise_is_often_none() -> None:
    """Catches a chance by the first input alone: at 0, half of all numbers are bare by chance."""
    assert of("joint", "laplace:2")
    assert of("joint", "laplace:2;min=0") == ()


def test_a_claim_below_what_is_excluded_is_refuted() -> None:
    """Catches a cost that is not certain, and one that is told as a round number."""
    noise = HISTOGRAM.format("laplace:2", 4)
    (one,) = of("privacy-claim", "laplace:2", rest=PRIVATE.format(2.0, 3))
    assert (one.probability, one.false_alarm, one.queries) == (1.0, 0.0, 0)
    for times, verdict in ((1.0 - 1e-6, Verdict.FAIL), (1.0 + 1e-6, Verdict.PASS)):
        claim = claimed(noise, PRIVATE.format(times * one.size["epsilon"], 3))
        found = NumbersPrivacyClaim(claim, claim.inputs(0), 0).conclude()
        assert found.verdict is verdict
        assert bool(found.finding.excludes) is (verdict is Verdict.PASS)


def test_as_many_answers_as_are_excluded_cost_too_much() -> None:
    """Catches a number that is one too small, or that is found in floating point."""
    claim = claimed(HISTOGRAM.format("laplace:2", 4), PRIVATE.format(2.0, 3))
    (one,) = PlannedNumbers(claim, 0).excluded["budget-enforcement"]
    found = charged_pair(claim.mechanism)
    assert found is not None
    assert claim.privacy is not None
    answers, pair = one.size["answers"], found[1]
    costs = [pair.epsilon_lower(n, claim.privacy.delta) for n in (answers - 1, answers)]
    assert costs[0] <= 2.0 < costs[1]


@pytest.mark.parametrize("noise", ["laplace:2", "discrete-laplace:2"])
def test_charges_name_the_inputs_that_are_charged(noise: str) -> None:
    (one,) = of("accountant-soundness", noise)
    assert one.code == "charge-too-low"
    assert (one.probability, one.false_alarm) == (1.0, 0.0)
    assert len(one.where) > 1
