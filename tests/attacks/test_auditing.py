"""Lower bounds of divergences from labels: never above the truth, and near it with many labels.

No test draws a verdict from chance: counts are the expected ones, or rates are bounded with room
for 1e-6.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from audited import EVEN, ORDERS, PUBLISHED, exact, expected_counts, laws_of, parted
from scipy.optimize import linprog
from scipy.special import betaln
from scipy.stats import binom

from dpassay.attacks.auditing import (
    Counts,
    anytime_interval,
    bootstrap_k_cut,
    bootstrap_two_cut,
    clopper_pearson,
    composed,
    epsilon_if_the_bounds_were_exact,
    epsilon_lower,
    k_cut,
    printed_two_cut,
    region,
    share_of,
    trade_off,
    two_cut,
    variational,
)
from dpassay.attacks.auditing.two_cut import best_events, threshold_events
from dpassay.reference.accounting.divergences import hockey_stick, renyi_divergence

ONE = np.array([1, 0])
COIN = Counts(np.array([5, 5]), np.array([4, 6]))
MANY = Counts(np.array([30_000, 30_000]), np.array([30_000, 30_000]))


CUTS = {"two-cut", "anytime two-cut", "printed two-cut"}
BOUNDS: dict[str, Callable[..., np.ndarray]] = {
    "two-cut": lambda pilot, rest, orders: two_cut(pilot, rest, orders, 0.05),
    "anytime two-cut": lambda p, rest, orders: two_cut(p, rest, orders, 0.05, anytime=True),
    "printed two-cut": lambda pilot, rest, orders: printed_two_cut(pilot, rest, orders, 0.05),
    "k-cut": lambda _, rest, orders: k_cut(rest, orders, 0.05, "goodman"),
    "variational": lambda pilot, rest, orders: variational(pilot, rest, orders, 0.05),
    "region": lambda _, rest, orders: region(rest, orders, 0.05),
    "anytime region": lambda _, rest, orders: region(rest, orders, 0.05, anytime=True),
}


REACHED = (  # of the exact divergence, at 10^9 labels of the published pair, and of even votes
    dict.fromkeys(BOUNDS, 0.96) | dict.fromkeys(BOUNDS.keys() - CUTS, 0.99),
    {"two-cut": 0.5, "anytime two-cut": 0.4, "variational": 0.96, "region": 0.96}
    | {"anytime region": 0.9},  # of laws so near, boxes from independent corners say little
)


def test_the_published_pair_has_the_divergences_published() -> None:
    """Measured by a prototype of its own; catches laws or directions that are mixed up."""
    found = exact(laws_of(*PUBLISHED))
    assert found[0] == pytest.approx([0.239564, 0.334804, 0.389157, 0.413467, 0.417978], abs=1e-6)
    assert found[1] == pytest.approx([0.312353, 0.512272, 0.640260, 0.697572, 0.708187], abs=1e-6)
    laws = laws_of(*PUBLISHED)
    events = threshold_events(expected_counts(laws, 10**9))
    merged = [np.stack([events @ law, ~events @ law], -1) for law in laws]
    cuts = renyi_divergence(np.log(merged[0]), np.log(merged[1]), ORDERS)
    best = [0.233124, 0.332471, 0.388998, 0.413466, 0.417978]
    assert cuts.max(0) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("pair", [PUBLISHED, EVEN])
@pytest.mark.quick_cases(1)
def test_bounds_of_the_expected_counts_are_below_the_truth_and_rise_to_it(name, pair) -> None:
    """Catches directions that are swapped, and one end of an interval taken for the other."""
    laws = laws_of(*pair)
    shares = [BOUNDS[name](*parted(laws, n), ORDERS) / exact(laws) for n in (10**5, 10**7, 10**9)]
    for few, many in pairwise(shares):
        assert (few <= many + 1e-9).all()
        assert (many <= 1.0).all()
    if name in REACHED[pair is EVEN]:
        assert (shares[-1] > REACHED[pair is EVEN][name]).all()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", BOUNDS)
def test_an_auditor_of_identical_worlds_certifies_nothing(name) -> None:
    """Null: both worlds have one law. At 0.05, 200 fail more than 27 times once in a million.

    Power: an auditor that chooses its event on the labels it judges fails in most of them.
    """
    law = laws_of(*EVEN)[0]
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(200):
        counts = Counts(*rng.multinomial(2000, law, size=2))
        wrong += BOUNDS[name](*counts.split(0.1, rng), np.array([2.0])).max() > 0.0
    assert wrong <= binom.isf(1e-6, 200, 0.05)


def test_an_event_chosen_on_its_own_labels_certifies_what_is_not_there() -> None:
    """Why there are pilots: shows that the test above can fail."""
    law = np.full(26, 1 / 26)
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(100):
        counts = Counts(*rng.multinomial(2000, law, size=2))
        wrong += two_cut(counts, counts, np.array([2.0]), 0.05).max() > 0.0
    assert wrong > 50


@pytest.mark.slow("over half a second")
def test_sison_and_glaz_bound_a_pair_too() -> None:
    """A second family of boxes, of few labels, where statsmodels' moments already turn negative."""
    laws = laws_of(*PUBLISHED)
    counts = expected_counts(laws, 5_000)
    found = k_cut(counts, ORDERS, 0.05, "sison-glaz") / exact(laws)
    assert ((found > 0.2) & (found < 1.0)).all()


def test_the_bootstrap_certifies_what_is_not_there() -> None:
    """As its docstring says: of identical worlds the percentile is always above 0."""
    law = laws_of(*EVEN)[0]
    rng = np.random.default_rng(8)
    counts = Counts(*rng.multinomial(10_000, law, size=2))
    pilot, rest = counts.split(0.1, rng)
    assert (bootstrap_k_cut(counts, ORDERS, 0.05, rng=rng, ends="percentile") > 0.0).all()
    assert (bootstrap_k_cut(counts, ORDERS[:1], 0.05, rng=rng, ends="basic") == 0.0).all()
    assert bootstrap_two_cut(pilot, rest, ORDERS, 0.05, rng=rng, ends="percentile").shape == (2, 5)


@pytest.mark.parametrize(
    "order",
    [
        1.01,
        *(pytest.param(o, marks=pytest.mark.slow("less extreme")) for o in (1.02, 64.0)),
        1000.0,
    ],
)
@pytest.mark.quick_cases(1)
def test_extreme_orders_stay_below_the_truth(order) -> None:
    """Near 1 Newton's start overflows, and far above sums of powers do: catches either."""
    laws, orders = laws_of(*PUBLISHED), np.array([order])
    for name, bound in BOUNDS.items():
        found = bound(*parted(laws, 10**6), orders)
        assert (found <= exact(laws, orders)).all(), name
        if name in {"two-cut", "region"}:
            assert (found > 0.5 * exact(laws, orders)).all(), name
    worlds = [16, 0, 5, 22, 20, 6, 31], [231805, 325481, 8757, 120051, 46710, 68261, 198935]
    for few, many in (worlds, worlds[::-1]):
        counts = Counts(np.array(few), np.array(many))
        p, q = (np.log(c / c.sum()) for c in (counts.here + 1e-9, counts.there + 1e-9))
        assert region(counts, orders, 0.05)[0, 0] <= renyi_divergence(p, q, orders)[0]


def test_ends_of_rare_events_are_at_the_edge_of_the_interval() -> None:
    """One in 10^9: brentq's usual tolerance ends far inside, and the bound is too high."""
    for trials, alpha in ((10**9, 0.025), (10**12, 1e-6), (1000, 1e-12)):
        low, _ = anytime_interval(1, trials, alpha)
        mixture = betaln(1.5, trials - 0.5) - betaln(0.5, 0.5)
        at_low = mixture - np.log(low) - (trials - 1) * np.log1p(-low)
        assert at_low == pytest.approx(-np.log(alpha), abs=1e-9)


def test_the_bootstrap_takes_labels_that_one_world_never_gave() -> None:
    """Some resampled divergences are infinite then, and others are not; catches NaN."""
    counts, rng = Counts(np.array([90, 9, 1]), np.array([80, 19, 1])), np.random.default_rng(1)
    for ends in ("percentile", "basic"):
        assert np.isfinite(bootstrap_k_cut(counts, ORDERS, 0.05, rng=rng, ends=ends)).all()


def test_pilots_choose_the_best_event_of_all() -> None:
    """All 2^C events: none has a larger 2-cut than the best of C - 1."""
    laws = laws_of(*PUBLISHED)
    every = ((np.arange(1, 31)[:, None] >> np.arange(5)) & 1).astype(bool)
    merged = [np.log(np.stack([every @ law, ~every @ law], -1)) for law in laws]
    pilot = expected_counts(laws, 10**10)
    chosen, events = best_events(pilot, ORDERS), threshold_events(pilot)
    for side, (one, other) in enumerate((merged, merged[::-1])):
        best = renyi_divergence(one, other, ORDERS).max(0)
        picked = events[chosen[side]]
        cut = [np.log(np.stack([picked @ law, ~picked @ law], -1)) for law in laws]
        found = renyi_divergence(cut[side], cut[1 - side], ORDERS).diagonal()
        assert found == pytest.approx(best, rel=1e-6)


def test_epsilon_is_below_the_exact_one_and_rises_to_it() -> None:
    laws = laws_of(*PUBLISHED)
    for delta in (0.0, 1e-3, 0.05):
        grid = np.linspace(0.0, 3.0, 30_001)
        sides = [hockey_stick(np.log(p), np.log(q), grid) for p, q in (laws, laws[::-1])]
        truth = float(grid[np.argmax(np.maximum(*sides) <= delta)])
        found = [
            epsilon_lower(*parted(laws, n), delta=delta, alpha=0.05) for n in (10**4, 10**6, 10**9)
        ]
        assert sorted(found) == found
        assert 0.99 * truth <= found[-1] <= truth + 1e-4


def test_the_trade_off_curve_is_above_that_of_any_test_and_near_the_best() -> None:
    """Exact curve by linear programming over randomised tests (Neyman and Pearson)."""
    laws = laws_of(*PUBLISHED)
    curve = trade_off(*parted(laws, 10**8), alpha=0.05)
    for first in (0.0, 0.05, 0.3, 0.6, 1.0):
        # phi: chance to say "there"; first error P phi, second Q (1 - phi)
        best = linprog(-laws[1], A_ub=laws[0][None], b_ub=[first], bounds=[(0, 1)] * 5)
        second = 1.0 + best.fun
        assert second - 1e-9 <= curve.at(first) <= second + 1e-3
    assert curve.epsilon(0.0) == pytest.approx(
        epsilon_lower(*parted(laws, 10**8), delta=0.0, alpha=0.05), rel=0.01
    )
    few = trade_off(*parted([laws[0], laws[0]], 1000), alpha=0.05)
    assert few.vertices.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert few.epsilon(0.0) == 0.0


@pytest.mark.slow("over half a second")
def test_bounds_of_many_queries_add_up_where_each_has_its_share() -> None:
    """Identical worlds in 200 queries: sums at 0.05 each certify chance, at 0.05 / 200 nothing."""
    law, rng = np.array([0.5, 0.3, 0.2]), np.random.default_rng(4)
    greedy, honest = [], []
    for _ in range(200):
        pilot, rest = Counts(*rng.multinomial(5000, law, size=2)).split(0.1, rng)
        greedy.append(two_cut(pilot, rest, ORDERS, 0.3))  # so that some are wrong for sure
        honest.append(two_cut(pilot, rest, ORDERS, share_of(1e-6, 200)))
    assert (composed(np.array(greedy)) > 0.0).any()
    assert (composed(np.array(honest)) == 0.0).all()


def test_a_lower_bound_does_not_convert() -> None:
    """The published pair: nine tenths of its cost convert to an epsilon above the true one."""
    laws = laws_of(*PUBLISHED)
    orders = np.arange(2.0, 65.0)
    costs = 0.9 * exact(laws, orders).max(0)
    grid = np.linspace(0.0, 3.0, 30_001)
    sides = [hockey_stick(np.log(p), np.log(q), grid) for p, q in (laws, laws[::-1])]
    truth = float(grid[np.argmax(np.maximum(*sides) <= 1e-6)])
    assert epsilon_if_the_bounds_were_exact(costs, orders, 1e-6) > truth


def test_intervals_of_a_proportion() -> None:
    low, high = clopper_pearson(0, 10, 0.025)
    assert (low, round(high, 4)) == (0.0, 0.3085)  # the published table's interval at 95 %
    low, high = clopper_pearson(10, 10, 0.025)
    assert (round(low, 4), high) == (0.6915, 1.0)
    fixed, at_any_time = clopper_pearson(300, 1000, 0.025), anytime_interval(300, 1000, 0.05)
    assert at_any_time[0] < fixed[0] < 0.3 < fixed[1] < at_any_time[1]


def test_pilots_and_the_rest_have_all_labels() -> None:
    counts = Counts(np.array([5, 0, 10**9]), np.array([1000, 10, 3]))
    pilot, rest = counts.split(0.1, np.random.default_rng(0))
    assert (pilot.here + rest.here == counts.here).all()
    assert (pilot.there + rest.there == counts.there).all()
    assert pilot.there.sum() == 101


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Counts(np.array([1, 2]), np.array([1, 2, 3])), r"shapes \(2,\) and \(3,\)"),
        (lambda: Counts(np.array([0, 0]), np.array([1, 2])), r"counts \[0, 0\]"),
        (lambda: Counts(np.array([3, -1]), np.array([1, 2])), r"counts \[3, -1\]"),
        (
            lambda: Counts(np.array([1.5, 2]), np.array([1, 2])),
            r"counts \[1.5, 2.0\]: expected whole",
        ),
        (lambda: COIN.split(1.0, np.random.default_rng(0)), "share 1: expected"),
        (lambda: trade_off(COIN, COIN, 0.05).at(2.0), "first error 2: expected"),
        (lambda: region(COIN, np.array([1.0]), 0.05), "order 1: expected"),
        (lambda: epsilon_lower(COIN, COIN, 1.0, 0.05), "delta 1: expected"),
        (lambda: share_of(0.05, 0), "0 queries"),
        (lambda: variational(COIN, COIN, ORDERS, 0.0), "alpha 0: expected"),
        (lambda: region(COIN, ORDERS, 1.5), "alpha 1.5: expected"),
        (lambda: Counts(ONE, ONE).split(0.1, np.random.default_rng(0)), "a world has one label"),
        (lambda: k_cut(MANY, ORDERS, 0.05, "sison-glaz"), "60000 labels: expected at most"),
    ],
)
def test_what_is_none_is_named(wrong, says) -> None:
    with pytest.raises(ValueError, match=says):
        wrong()
