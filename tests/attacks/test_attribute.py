"""Attribute inference: the paper's threshold, calibrated ones, a learned score, strata."""

import csv
import gzip
from importlib import import_module

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.tree import DecisionTreeClassifier

from dpassay.attacks.inference import attribute, measures

balanced = import_module("benchmarks.inference.balanced")
learning = import_module("benchmarks.inference.learned")


def test_low_consensus_is_below_three_quarters_of_the_votes():
    # 75 % itself is high; votes are shares of their own sum, not of the first row's
    votes = np.array([[75, 25], [74, 26], [26, 74], [150, 50], [3, 0], [1, 1]])
    assert attribute.low_consensus(votes).tolist() == [False, True, True, False, False, True]
    np.testing.assert_allclose(attribute.disagreement(votes), [0.25, 0.26, 0.26, 0.25, 0.0, 0.5])
    assert attribute.low_consensus(votes, below=0.6).sum() == 1


def test_calibrated_threshold_is_the_best_of_the_curve():
    rng = np.random.default_rng(0)
    hidden = np.arange(300) < 40
    scores = np.round(rng.normal(hidden * 1.0, 1.0), 1)
    threshold = attribute.calibrated(scores, hidden)
    false, true, _ = roc_curve(hidden, scores)
    reached = balanced.balanced_advantage(scores >= threshold, hidden).value
    assert reached == pytest.approx((true - false).max())


def learns_by_heart(seed):
    return DecisionTreeClassifier(random_state=seed)


def test_nobody_is_judged_by_what_saw_them():
    # features say nothing: a model by heart would score 1 on those that it was fitted on
    rng = np.random.default_rng(1)
    hidden = np.arange(600) < 200
    noise = rng.random((600, 4))
    scores = learning.learned(noise, hidden, seed=2, model=learns_by_heart)
    assert roc_auc_score(hidden, scores) < 0.63  # five standard errors above chance
    # a threshold of 600 distinct scores on themselves gains 0.04 to 0.2; on others nothing
    gains = [
        measures.recall(flagged, hidden).value - measures.false_positive_rate(flagged, hidden).value
        for draw in range(20)
        for flagged in [attribute.calibrated_across(rng.random(600), hidden, seed=draw)]
    ]
    assert abs(np.mean(gains)) < 0.05


def test_thresholds_of_a_learned_score_come_from_models_that_saw_none_of_the_judged():
    # catches thresholds found on scores of models that were fitted on the people who are judged
    seen = []

    class Remembers:
        def fit(self, rows, truth):
            seen.append(set(rows[:, 0]))
            return self

        def predict_proba(self, rows):
            seen[-1] |= set(rows[:, 0])
            return np.column_stack([-rows[:, 0], rows[:, 0]])

    rows = np.arange(100.0)[:, None]
    hidden = np.arange(100) % 3 == 0
    learning.learned_across(rows, hidden, model=lambda seed: Remembers())
    everybody = set(rows[:, 0])
    missed = [frozenset(everybody - one) for one in seen if one != everybody]
    assert sorted(missed.count(fold) for fold in set(missed)) == [5] * 5
    assert frozenset.union(*set(missed)) == everybody


@pytest.mark.slow("over half a second")
def test_learned_score_finds_what_no_threshold_of_consensus_does():
    # who is hidden votes for class 2 in place of 1; consensus is the same
    rng = np.random.default_rng(3)
    hidden = np.arange(400) < 60
    laws = np.where(hidden[:, None], [0.6, 0.1, 0.3], [0.6, 0.3, 0.1])
    votes = rng.multinomial(100, laws)
    assert abs(roc_auc_score(hidden, attribute.disagreement(votes)) - 0.5) < 0.2
    assert roc_auc_score(hidden, learning.learned(learning.described(votes), hidden)) > 0.97


def test_description_has_the_whole_histogram():
    votes = np.array([[2, 6, 0], [10, 0, 0]])
    found = learning.described(votes)
    np.testing.assert_allclose(found[:, :3], [[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(found[:, 3:6], [[0.75, 0.25, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(found[:, 6], [0.5, 1.0])
    np.testing.assert_allclose(found[:, 7], entropy(votes.T))


def test_strata_have_their_own_areas():
    scores = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    hidden = np.array([False, True, False, True, False, False, True])
    strata = np.array(["a", "a", "b", "b", "b", "c", "d"])
    a, b, c, d = learning.by_stratum(scores, hidden, strata)
    assert (a.name, a.people, a.hidden, a.auc.value) == ("a", 2, 1, 1.0)
    assert (b.people, b.hidden, b.auc.value) == (3, 1, 0.5)
    assert (c.auc, c.hidden, d.auc, d.hidden) == (None, 0, None, 1)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda: attribute.disagreement([[1, 2], [0, 0]]), r"histogram 1, \[0.0, 0.0\]: expected"),
        (lambda: attribute.low_consensus([[1, -2]]), "histogram 0"),
        (lambda: attribute.disagreement([1, 2]), r"histograms of shape \(2,\)"),
        (lambda: learning.learned([[0.0]] * 4, np.array([1, 0, 0, 0], bool)), "5 folds"),
        (lambda: learning.learned([[0.0]] * 4, np.array([1, 0, 0, 0])), "hidden of type int64"),
    ],
)
def test_what_is_no_histogram_or_truth_is_refused(act, said):
    with pytest.raises(ValueError, match=said):
        act()


@pytest.fixture(scope="module")
def people(published_data):
    """Votes, who has a doctorate, and true income, by the order of the test file's rows."""
    with (published_data / "wang2022_adult_histograms.csv").open() as file:
        rows = list(csv.DictReader(file))
    votes = np.array([[int(r["votes_low_income"]), int(r["votes_high_income"])] for r in rows])
    holder = np.array([row["group"] == "phd" for row in rows])
    with gzip.open(published_data / "adult_income_test.csv.gz", "rt") as file:
        records = [
            (r["education"] == "Doctorate", r["income"] == "1") for r in csv.DictReader(file)
        ]
    income = [high for phd, high in records if phd] + [high for phd, high in records if not phd]
    return votes, holder, np.array(income)


def test_published_attack(people):
    votes, holder, _ = people
    found = balanced.judged_fully(
        attribute.disagreement(votes), attribute.low_consensus(votes), holder
    )
    rates = [found.recall, found.false_positive_rate]
    assert [f"{100 * rate.value:.1f}" for rate in rates] == ["36.6", "20.2"]
    assert f"{found.auc.value:.3f}" == "0.632"
    assert f"{100 * found.balanced.mean:.1f} {100 * found.balanced.sd:.1f}" == "64.7 4.3"
    assert found.advantage.value == 0.0
    assert found.prevalence == 112 / 8059


def test_consensus_says_no_more_than_income(people):
    """Rows align with the test file: holders of a doctorate first, then the others, in its order.

    Turned by any other number of rows, votes and incomes are unrelated.
    """
    votes, holder, income = people
    assert holder.sum() == 112
    assert holder[:112].all()
    others = slice(112, None)
    turned = np.array([votes[others, 1], np.roll(votes[others, 1], 1)])
    assert np.corrcoef(turned[0], income[others])[0, 1] > 0.5
    assert abs(np.corrcoef(turned[1], income[others])[0, 1]) < 0.06
    scores = attribute.disagreement(votes)
    assert measures.auc(income.astype(float), holder).low > measures.auc(scores, holder).low
    within = measures.auc(scores, holder, strata=income)
    assert within.low < 0.5 < within.high
