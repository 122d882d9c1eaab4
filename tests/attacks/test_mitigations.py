"""What helps against leakage: rounding is charged, refusals tell, caches keep what they say."""

from importlib import import_module

import numpy as np
import pytest

from dpassay.attacks.inference.mitigations import (
    MitigatedDeployment,
    mitigated,
    over_seeds,
    utility,
)
from dpassay.reference import ConfidentGNMax, Gaussian, NoisyArgmax
from dpassay.reference.accounting.analyses import release_costs
from dpassay.reference.accounting.conversions import ORDERS
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.reference.parallel.executors import Here

deployments = import_module("benchmarks.mitigations.deployments")
Keeping, Rounding = deployments.Keeping, deployments.Rounding
right, spent = deployments.right, deployments.spent

PLAIN = NoisyArgmax(Gaussian(8.0))
CONFIDENT = ConfidentGNMax(Gaussian(8.0), 40.0, Gaussian(8.0))
FIRST = np.random.default_rng(0).integers(0, 51, 200)
VOTES = np.stack([FIRST, 50 - FIRST], -1)
HIDDEN = np.abs(FIRST - 25) < 10


def neighbours_cost(setting):
    """The largest exact Rényi cost of any neighbours, order by order."""
    laws = setting.log_laws(50)
    both = (laws[1:], laws[:-1]), (laws[:-1], laws[1:])
    return np.max([renyi_divergence(*pair, ORDERS).max(0) for pair in both], axis=0)


@pytest.mark.parametrize("mechanism", [PLAIN, CONFIDENT])
@pytest.mark.parametrize("step", [1, 3, 10])
def test_what_is_charged_covers_all_neighbours_and_without_the_step_it_would_not(mechanism, step):
    setting = Rounding("rounded", mechanism, 1, step)
    exact = neighbours_cost(setting)
    assert (exact <= sum(release_costs(setting.charged, ORDERS)) * (1 + 1e-9)).all()
    if step > 1:
        assert (exact > sum(release_costs(mechanism, ORDERS))).any()


def test_votes_are_rounded_to_the_nearest_multiple():
    laws = Rounding("rounded", PLAIN, 1, 10).log_laws(50)
    np.testing.assert_array_equal(laws[36], laws[43])
    np.testing.assert_array_equal(laws[40], PLAIN.log_probabilities(np.array([40.0, 10.0])))
    assert (laws[44] != laws[46]).any()


def test_utility_and_cost_are_of_one_answer_each():
    """Against sums by hand: catches refusals that count as wrong answers."""
    setting = MitigatedDeployment("refusing", CONFIDENT, 7)
    law = np.exp(CONFIDENT.log_probabilities(VOTES.astype(float)))
    truths = (FIRST > 30).astype(np.int64)
    found = utility(setting, VOTES)
    true = law[np.arange(200), truths].sum()
    assert found.answered == pytest.approx(1 - law[:, 2].mean())
    assert right(setting, VOTES, truths) == pytest.approx(true / (200 - law[:, 2].sum()))
    assert right(setting, VOTES, None) is None
    assert utility(
        MitigatedDeployment("sure", NoisyArgmax(Gaussian(0.01)), 1), VOTES
    ).plurality == (pytest.approx(1.0))
    once, often = (spent(MitigatedDeployment("", PLAIN, n), VOTES, 1e-5) for n in (1, 100))
    assert once.release == often.release
    assert once.person < often.person
    assert often.person_most < often.person


def leaks(setting, seeds=range(4)):
    (found,) = mitigated([setting], VOTES, HIDDEN, Here(), seeds=seeds, delta=1e-5)
    return found


def test_refusals_tell_votes_that_labels_hide():
    plain, refusing = (
        leaks(MitigatedDeployment("", PLAIN, 300)),
        leaks(MitigatedDeployment("", CONFIDENT, 300)),
    )
    assert refusing.misplaced.high < plain.misplaced.low


def test_identical_near_duplicates_are_repeats_or_none():
    """By input, each is fresh; by histogram, all are one answer, and no more than it is told."""
    same = np.repeat(FIRST[:, None], 60, axis=1)
    repeats, once = (
        leaks(MitigatedDeployment("", PLAIN, 60)),
        leaks(MitigatedDeployment("", PLAIN, 1)),
    )
    by_input = leaks(Keeping("", PLAIN, 60, "input", same))
    by_histogram = leaks(Keeping("", PLAIN, 60, "histogram", same))
    assert by_input.misplaced.value == pytest.approx(repeats.misplaced.value, rel=0.1)
    assert by_histogram.auc.value == once.auc.value == 0.5
    assert by_histogram.misplaced.value == pytest.approx(once.misplaced.value, rel=0.2)


def test_answers_kept_by_histogram_have_no_epsilon():
    """Two inputs, one answer each: the same while their histograms are, or else as may be.

    One moved vote makes them differ with a chance far above delta e^epsilon, where they never did.
    """
    law = np.exp(PLAIN.log_probabilities(np.array([[25.0, 25.0], [26.0, 24.0]])))
    differ = law[0, 0] * law[1, 1] + law[0, 1] * law[1, 0]
    assert differ > 0.4  # at any epsilon delta is no less
    votes = np.array([[25, 25], [26, 24]])
    near = np.repeat(votes[:, :1], 2, axis=1)
    by_histogram = spent(Keeping("", PLAIN, 2, "histogram", near), votes, 1e-5)
    assert np.isinf(list(vars(by_histogram).values())).all()
    assert spent(Keeping("", PLAIN, 2, "input", near), votes, 1e-5).person < 10


def test_intervals_are_students():
    found = over_seeds(np.array([1.0, 2.0, 3.0]))
    assert (found.low, found.high) == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-4)


def test_what_makes_no_sense_is_told_in_a_line():
    with pytest.raises(ValueError, match=r"none: 0 queries.*least 1"):
        MitigatedDeployment("none", PLAIN, 0)
    with pytest.raises(ValueError, match=r"kept: .* 5 near-duplicates"):
        Keeping("kept", PLAIN, 5, "input", FIRST[:, None])
    with pytest.raises(ValueError, match=r"1 seeds: .*least two"):
        leaks(MitigatedDeployment("", PLAIN, 5), seeds=[0])
    with pytest.raises(ValueError, match=r"\(1, 3\): .*\(m, 2\)"):
        mitigated([], [[1, 2, 3]], [True], Here())
    with pytest.raises(ValueError, match=r"3 to 4 .*one total"):
        mitigated([], [[1, 2], [2, 2]], [True, False], Here())
