"""Membership inference where the best attack is known exactly, and the bound that claims imply."""

from importlib import import_module

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpassay.attacks.inference import attack_cost as bounds
from dpassay.attacks.inference import measures, membership
from dpassay.attacks.inference.membership import Shadows, shadow_ensembles
from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.analyses import CountedCost
from dpassay.reference.ensembles.records import Task, digits
from dpassay.reference.parallel.workers import open_executor

fits = import_module("benchmarks.inference.fits").FITS

TEACHERS = 20
CHANCES = np.repeat([0.02, 0.1, 0.5, 0.9], 25)
"""Of a right vote, for each record; the teacher that has a record is always right about it."""


def shadows_of(right, members):
    votes = np.stack([right, TEACHERS - right], -1)
    return Shadows(votes, members, np.zeros(members.shape[1], np.int64))


@pytest.fixture(scope="module")
def known():
    """200 ensembles whose votes are binomial, and one teacher of which knows its records."""
    rng = np.random.default_rng(0)
    members = rng.random((200, CHANCES.size)) < 0.5
    right = rng.binomial(TEACHERS - members, CHANCES) + members
    return shadows_of(right, members)


def best_curve():
    """The exact curve of the best attack: outcomes by falling likelihood ratio (Neyman-Pearson)."""
    votes = np.arange(TEACHERS + 1)
    inside = np.asarray(binom.pmf(votes - 1, TEACHERS - 1, CHANCES[:, None])) / CHANCES.size
    outside = np.asarray(binom.pmf(votes, TEACHERS, CHANCES[:, None])) / CHANCES.size
    order = np.argsort(-(inside / outside).ravel(), kind="stable")
    rates = [np.append(0.0, np.cumsum(law.ravel()[order])) for law in (outside, inside)]
    return rates[0], rates[1]


def test_attack_on_votes_does_as_well_as_can_be(known):
    # catches laws of records mixed up, worlds swapped, and a ratio of n against n votes
    false, true = best_curve()
    area = np.trapezoid(true, false)
    scores, members = membership.by_votes(known).ravel(), known.members.ravel()
    found = measures.auc(scores, members, alpha=1e-6)
    assert found.low < area < found.high
    for fpr in (0.01, 0.05):
        best = np.interp(fpr, false, true)
        reached = measures.tpr_at_fpr(scores, members, fpr, alpha=1e-6)
        assert reached.low < best < reached.high
        assert reached.value > 0.8 * best
    normal = measures.auc(fits["gaussian"](known).ravel(), members).value
    count = measures.auc(fits["count"](known).ravel(), members).value
    assert count < area - 0.1 < area - 0.03 < normal < area + 0.01


def test_what_training_raises_is_found(known):
    assert membership.memorised(known).min() > 0.9
    half = np.random.default_rng(1).random((200, CHANCES.size)) < 0.5
    forgot = shadows_of(known.right, half)  # memberships that have nothing to do with the votes
    assert membership.memorised(forgot).max() < 0.1


def test_no_ensemble_is_its_own_shadow(known):
    # whether a record is in the target must not change its score: votes and labels alone may
    turned = known.members.copy()
    turned[7] = ~turned[7]
    other = shadows_of(known.right, turned)
    for fit in ("binomial", "gaussian"):
        before, after = (fits[fit](of) for of in (known, other))
        np.testing.assert_allclose(after[7], before[7], rtol=1e-12)
        assert not np.allclose(after[8], before[8])
    laws = np.log(known.histograms / TEACHERS + 0.01)
    labels = np.random.default_rng(5).multinomial(30, [0.5, 0.5], known.members.shape)
    before, after = (membership.Released(of, laws).scores(labels) for of in (known, other))
    np.testing.assert_allclose(after[7], before[7], rtol=1e-9, atol=1e-12)
    assert not np.allclose(after[8], before[8])


def fixed_votes(records, ensembles=60):
    """All teachers but the record's own vote the same in every world: 9 of 19 rightly."""
    members = np.random.default_rng(3).random((ensembles, records)) < 0.5
    return shadows_of(9 + members, members)


@pytest.mark.parametrize("queries", [1, 50, 400])
def test_attack_on_labels_does_as_well_as_can_be(queries):
    # the best attack counts right labels, which are binomial in either world
    shadows = fixed_votes(60)
    mechanism = NoisyArgmax(Gaussian(5.0))
    with open_executor() as executor:
        released = membership.released_laws(shadows, mechanism, executor)
    labels = released.drawn(queries, seed=4)
    chances = np.exp(mechanism.log_probabilities(np.array([[9.0, 11.0], [10.0, 10.0]])))[:, 0]
    counts = np.arange(queries + 1)
    outside, inside = (binom.sf(counts, queries, chance) for chance in chances)
    members = shadows.members.ravel()
    scores = released.scores(labels).ravel()
    area = inside @ binom.pmf(counts, queries, chances[0]) + 0.5 * binom.pmf(
        counts, queries, chances[1]
    ) @ binom.pmf(counts, queries, chances[0])
    found = measures.auc(scores, members, alpha=1e-6)
    assert found.low < area < found.high
    cost = CountedCost(mechanism)
    claimed = bounds.bound(outside, cost.epsilon(queries, 0, 1e-5), 1e-5)
    least = bounds.bound_of_claims(outside, lambda delta: cost.epsilon(queries, 0, delta))
    assert (inside <= least + 1e-12).all()
    assert (least <= claimed * 1.01).all()


def test_no_bound_binds_votes():
    # the same worlds, seen: the attack is certain, and no epsilon was paid
    shadows = fixed_votes(60)
    scores = fits["gaussian"](shadows).ravel()
    assert measures.auc(scores, shadows.members.ravel()).value == 1.0


def test_bounds_of_all_claims_are_the_trade_off():
    """The least bound over all (epsilon, delta) of a Gaussian mechanism is its exact trade-off.

    Dong, Roth and Su 2022, propositions 2.12 and 3.2; deltas by Balle and Wang 2018, theorem 8.
    """
    mu, rates = 1.3, np.array([1e-4, 0.001, 0.01, 0.2, 0.7])
    grid = np.linspace(0.0, 9.0, 4001)
    deltas = norm.cdf(mu / 2 - grid / mu) - np.exp(grid) * norm.cdf(-mu / 2 - grid / mu)
    each = [bounds.bound(rates, *claim) for claim in zip(grid, deltas, strict=True)]
    np.testing.assert_allclose(np.min(each, 0), norm.cdf(norm.ppf(rates) + mu), rtol=1e-5)


def test_randomised_response_reaches_the_bound():
    # epsilon 1: it says in with e/(1+e) of members, 1/(1+e) of others
    rate = 1 / (1 + np.e)
    np.testing.assert_allclose(bounds.bound([rate, rate / 2], 1.0, 0.0), [1 - rate, 0.5 - rate / 2])
    np.testing.assert_allclose(bounds.bound([0.0, 0.3, 1.0], 0.0, 0.1), [0.1, 0.4, 1.0])
    assert bounds.bound([0.01], 1e6, 1e-5) == 1.0


@pytest.fixture(scope="module")
def trained():
    task = digits()
    few = Task("few", task.records[:90], task.labels[:90], task.queries, task.truths, 10)
    with open_executor() as executor:
        return shadow_ensembles(few, "nearest", 4, 32, seed=1, cache=None, executor=executor)


def test_shadows_know_their_records(trained):
    # a nearest-neighbour teacher is right about each record that it has: catches members that are
    # told of another ensemble, and records in the queries' order
    assert trained.members.sum(1).tolist() == [44] * 32  # 45, of which one does not split by four
    assert trained.teachers == 4
    assert (trained.right[trained.members] >= 1).all()
    assert (trained.right[~trained.members] == 0).any()
    some = trained.of(slice(3, 5))
    assert some.histograms.shape == (32, 2, 10)
    np.testing.assert_array_equal(some.right, trained.right[:, 3:5])


def test_bad_input_is_told_in_one_line(trained):
    h, m, y = trained.histograms, trained.members, trained.labels
    for shadows, said in (
        (lambda: Shadows(h[0], m, y), "expected .e, r, c., .e, r. and .r,."),
        (lambda: Shadows(h, np.ones_like(m), y), "32 ensembles: expected more than 4"),
        (lambda: Shadows(h, m, y + 9), "expected 0 to 9"),
        (lambda: Shadows(h + np.eye(32, dtype=int)[:, :1, None], m, y), "as many teach"),
        (lambda: bounds.bound([1.5], 1.0, 0.0), "false-positive rates"),
        (lambda: bounds.bound([0.5], -1.0, 0.0), "epsilon -1"),
    ):
        with pytest.raises(ValueError, match=said):
            shadows()
