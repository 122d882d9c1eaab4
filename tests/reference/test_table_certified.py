"""What a user of a table certainly costs: below the truth, near it, and right by hand."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.tables import (
    Aggregate,
    Bounding,
    NoisyTable,
    NormBound,
    Selection,
    Threshold,
    TruncatedGeometric,
)
from dpassay.reference.tables.bounding import Norm
from dpassay.reference.tables.certified import is_pure, released_alone, table_cost
from dpassay.reference.tables.neighbours import farthest_pairs

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
BOTH = Bounding(3, 2)


def aggregate(kind: Any, noise: str, **more: Any) -> Aggregate:
    return Aggregate(kind, parse_number_noise(noise), **more)


THREE = (
    aggregate("count", "laplace:18"),
    aggregate("privacy-id-count", "laplace:9"),
    aggregate("sum", "laplace:180", lower=-4.0, upper=10.0),
)


def vector(norm: Norm, noise: str = "laplace:18", size: int = 4) -> tuple[Aggregate, ...]:
    bound = NormBound(norm, 6.0, "partition")
    return tuple(aggregate("vector-sum", noise, bound=bound, coordinate=k) for k in range(size))


def of_user(norm: Norm) -> NoisyTable:
    bound = NormBound(norm, 3.0, "user")
    return NoisyTable(Bounding(kept="all"), (aggregate("count", "laplace:10", bound=bound),), 16)


@pytest.mark.parametrize(
    ("table", "adjacency", "wanted"),
    [
        # L0 Linf / b for counts, L0 / b for users, L0 Linf max |value| / b for sums
        (NoisyTable(BOTH, THREE, 9), ADD, 6 / 18 + 3 / 9 + 60 / 180),
        # with two public partitions a user is in no third
        (NoisyTable(BOTH, THREE, 2), ADD, 4 / 18 + 2 / 9 + 40 / 180),
        # another user in three other partitions moves as much again
        (NoisyTable(BOTH, THREE, 9), REPLACE, 2 * (6 / 18 + 3 / 9 + 60 / 180)),
        # of three partitions none is free for another, but sums go from one end to the other
        (NoisyTable(Bounding(3, 2), THREE[2:], 3), REPLACE, 6 * 14 / 180),
        # nor of one: another user comes who is in no public partition
        (NoisyTable(Bounding(1, 100), (aggregate("count", "laplace:50"),), 1), REPLACE, 100 / 50),
        # four rows lie in four partitions, as far as users are counted
        (NoisyTable(Bounding(max_rows=4), THREE, 9), ADD, 4 / 18 + 4 / 9 + 40 / 180),
        # a mean is a sum of values less its centre, beside its count
        (
            NoisyTable(
                BOTH,
                (THREE[0], aggregate("mean", "laplace:60", lower=0.0, upper=10.0, centre=4.0)),
                9,
            ),
            ADD,
            6 / 18 + 36 / 60,
        ),
        (NoisyTable(BOTH, vector("l1"), 9), ADD, 3 * 6 / 18),
        (NoisyTable(BOTH, vector("l2"), 9), ADD, 3 * 6 * 2 / 18),
        (NoisyTable(BOTH, vector("linf"), 9), ADD, 3 * 6 * 4 / 18),
        (of_user("l1"), ADD, 3 / 10),
        (of_user("l2"), ADD, 3 * 4 / 10),
        (of_user("linf"), ADD, 3 * 16 / 10),
    ],
)
def test_pure_costs_are_those_by_hand(
    table: NoisyTable, adjacency: Adjacency, wanted: float
) -> None:
    """Catches bounds left out, and norms taken along one number where Laplace noise costs more."""
    found = table_cost(table, adjacency, 1, 0.0).epsilon
    assert found == pytest.approx(wanted, rel=1e-9)
    assert found <= wanted
    assert table_cost(table, adjacency, 5, 0.0).epsilon == pytest.approx(5 * wanted, rel=1e-9)


def test_gaussian_noise_counts_the_l2_norm_of_all() -> None:
    """Of vectors cut to an L2 norm of 6 in three partitions, and counts, as one Gaussian number."""
    table = NoisyTable(BOTH, (*vector("l2", "gaussian:18"), aggregate("count", "gaussian:9")), 9)
    distance = math.sqrt(3 * (6 / 18) ** 2 + 3 * (2 / 9) ** 2)
    exact = pld.from_gaussian_mechanism(1 / distance, use_connect_dots=False)
    wanted = exact.get_epsilon_for_delta(1e-5)
    assert table_cost(table, ADD, 1, 1e-5).epsilon == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize(
    ("sums", "releases"),
    [
        ("laplace:180", 200),
        *itertools.product(("gaussian:60", "discrete-laplace:90", "discrete-gaussian:60"), (1, 8)),
        *itertools.product(("laplace:180",), (1, 8)),
        *itertools.product(("gaussian:60", "discrete-laplace:90", "discrete-gaussian:60"), (200,)),
    ],
)
@pytest.mark.slow("over half a second")
def test_unlike_noise_is_composed(sums: str, releases: int) -> None:
    """Beside privacy loss distributions of dp-accounting: below what is certain, and near it."""
    table = NoisyTable(
        BOTH,
        (
            aggregate("count", "laplace:18"),
            aggregate("privacy-id-count", "gaussian:9"),
            aggregate("sum", sums, lower=0.0, upper=10.0),
        ),
        9,
    )
    made = {
        "laplace": lambda how: pld.from_laplace_mechanism(180.0, 20.0, **how),
        "gaussian": lambda how: pld.from_gaussian_mechanism(60.0, sensitivity=20.0, **how),
        "discrete-laplace": lambda how: pld.from_discrete_laplace_mechanism(1 / 90, 20, **how),
        "discrete-gaussian": lambda how: pld.from_discrete_gaussian_mechanism(60.0, 20, **how),
    }
    ends = []
    for pessimistic in (False, True):
        how = {"pessimistic_estimate": pessimistic, "value_discretization_interval": 1e-3}
        one = (
            pld.from_laplace_mechanism(18.0, 2.0, **how)
            .compose(pld.from_gaussian_mechanism(9.0, **how))
            .compose(made[sums.split(":", maxsplit=1)[0]](how))
        )
        ends.append(one.self_compose(3 * releases).get_epsilon_for_delta(1e-5))
    found = table_cost(table, ADD, releases, 1e-5)
    assert found.epsilon <= ends[1]
    if found.releases == releases:
        assert found.epsilon >= 0.97 * ends[0]


def exact_epsilon(
    table: NoisyTable, selection: Selection, counts: tuple[int, ...], delta: float
) -> float:
    """Epsilon of a user in each of some partitions of these counts, by enumeration.

    Of whole numbers with noise of scale 2 on the number of users: all outcomes of every partition,
    which is dropped, or released with a number.
    """
    reach = np.arange(-90, 91)
    noise = table.aggregates[0].noise
    laws = []
    for count in counts:
        both = []
        for users in (count, count - 1):
            kept = math.exp(float(selection.log_kept([float(users)])[0]))
            dropped = math.exp(float(selection.log_dropped([float(users)])[0]))
            numbers = np.exp(noise.log_mass((count + reach).astype(float), float(users)))
            both.append(np.concatenate([[dropped], kept * numbers]))
        laws.append(both)
    here, there = (
        np.array([math.prod(p) for p in itertools.product(*(law[side] for law in laws))])
        for side in (0, 1)
    )

    def excess(p: Any, q: Any, epsilon: float) -> float:
        return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())

    found = 0.0
    for p, q in ((here, there), (there, here)):
        low, high = 0.0, 30.0
        while high - low > 1e-9:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if excess(p, q, middle) > delta else (low, middle)
        found = max(found, low)
    return found


@pytest.mark.parametrize(
    "selection",
    [
        TruncatedGeometric(0.8, 1e-4),
        Threshold(parse_number_noise("discrete-laplace:2"), 14.0),
        Threshold(parse_number_noise("laplace:2"), 14.0),
        Threshold(parse_number_noise("gaussian:3"), 12.5),
    ],
)
@pytest.mark.parametrize("wide", [1, 2])
@pytest.mark.quick_cases(1)
def test_selection_and_numbers_cost_together(selection: Selection, wide: int) -> None:
    """Beside all outcomes of all counts, enumerated: never above the costliest, and near it."""
    delta = 1e-3
    users = (aggregate("privacy-id-count", "discrete-laplace:2"),)
    table = NoisyTable(Bounding(wide, 1), users, None, selection)
    wanted = max(
        exact_epsilon(table, selection, (count,) * wide, delta)
        for count in range(2, 40 if wide == 1 else 24)
    )
    found = table_cost(table, ADD, 1, delta).epsilon
    alone = table_cost(NoisyTable(Bounding(wide, 1), users, 9), ADD, 1, delta).epsilon
    assert found <= wanted * (1 + 1e-9)
    assert found >= 0.97 * wanted
    assert found > 1.2 * alone


def test_counts_that_are_cut_cost_what_they_do_far_from_0() -> None:
    """Of two rows in a partition, enumerated; about 0, where a cut hides more, they cost less."""
    table = NoisyTable(Bounding(1, 2), (aggregate("count", "laplace:2;cut"),), 9)
    y, noise = np.arange(-200.0, 400.0), table.aggregates[0].noise

    def delta_at(epsilon: float, start: float) -> float:
        p, q = (np.exp(noise.log_mass(y, start + by)) for by in (0.0, 2.0))
        ways = [np.maximum(a - math.exp(epsilon) * b, 0.0).sum() for a, b in ((p, q), (q, p))]
        return float(max(ways))

    found = table_cost(table, ADD, 1, 0.1).epsilon
    assert delta_at(found * (1.0 - 1e-9), 150.0) > 0.1
    assert delta_at(found * 1.01, 150.0) < 0.1
    assert table_cost(table, ADD, 3, 0.0).epsilon == pytest.approx(3.0)


@pytest.mark.parametrize("threshold", [1.0, 4.0, 14.0])
@pytest.mark.slow("over half a second")
def test_counts_that_are_cut_beside_a_selection_cost_no_more_than_they_do(threshold: float) -> None:
    """Of them none is told beside a selection; catches a proof that needs one."""
    selection = Threshold(parse_number_noise("discrete-laplace:2"), threshold)
    users = (aggregate("privacy-id-count", "gaussian:4;cut"),)
    table, delta = NoisyTable(Bounding(1, 1), users, None, selection), 0.05
    wanted = max(exact_epsilon(table, selection, (count,), delta) for count in range(2, 60))
    assert 0.4 * wanted <= table_cost(table, ADD, 1, delta).epsilon <= wanted * (1 + 1e-9)
    both = table_cost(table, ADD, 40, delta)
    assert both.releases == 40
    assert both.epsilon > 1.0


@pytest.mark.slow("over half a second")
def test_another_user_elsewhere_costs_more_than_one_who_leaves() -> None:
    """Who leaves costs half by selection and half by a number, of either partition: 2.

    Where another comes, a partition that is dropped shows no number, and one that is released tells
    by its number what its release tells against: half, of either partition.
    """
    users = (aggregate("privacy-id-count", "laplace:2"),)
    table = NoisyTable(Bounding(2, 1), users, None, TruncatedGeometric(0.5, 1e-6))
    for adjacency, most in ((ADD, 2.0), (REPLACE, 3.0)):
        assert 0.99 * most < table_cost(table, adjacency, 1, 1e-5).epsilon <= most


def test_a_partition_of_one_user_is_released_as_often_as_simulated() -> None:
    """Of two releases of three partitions with two rows each, counted by rows."""
    table = NoisyTable(
        BOTH,
        (aggregate("count", "laplace:2"),),
        None,
        Threshold(parse_number_noise("laplace:2"), 5.0),
        "count",
    )
    rng = np.random.default_rng(20_261_126)
    noisy = 2.0 + rng.laplace(0.0, 2.0, (200_000, 6))
    share = float((noisy >= 5.0).any(1).mean())
    found = released_alone(table, 2)
    # six standard errors: wrong 2 times in a billion
    assert abs(share - found) < 6 * math.sqrt(found * (1 - found) / 200_000)


def test_pure_privacy_needs_laplace_noise_and_public_partitions() -> None:
    assert is_pure(NoisyTable(BOTH, THREE, 9))
    assert not is_pure(NoisyTable(BOTH, (aggregate("count", "gaussian:2"),), 9))
    assert not is_pure(NoisyTable(BOTH, THREE, None, TruncatedGeometric(1.0, 1e-5)))
    hidden = parse_number_noise("gaussian:2")
    assert not is_pure(NoisyTable(BOTH, (aggregate("mean", "laplace:2", hidden=hidden),), 9))


@pytest.mark.parametrize("delta", [-0.1, 1.0])
def test_a_delta_that_is_none_is_refused(delta: float) -> None:
    with pytest.raises(ValueError, match=f"delta {delta:g}: .*0 to 1"):
        table_cost(NoisyTable(BOTH, THREE, 9), ADD, 1, delta)


@pytest.mark.parametrize("delta", [1e-6, 1e-10, 1e-15])
def test_a_small_delta_of_a_selection_is_not_rounded(delta: float) -> None:
    """Catches 1 - delta in floats, which would accuse an engine that spends what it claims."""
    selection = TruncatedGeometric.split(1.0, delta, 3)
    table = NoisyTable(Bounding(3, 2), (aggregate("count", "laplace:2"),), None, selection)
    assert released_alone(table, 1) == pytest.approx(delta, rel=1e-12)


def test_rows_of_one_user_lie_where_they_are_likeliest_released() -> None:
    """Of four rows, in four partitions where noise is wide, and in one where it is narrow."""
    for scale, partitions, rows in ((18.0, 4, 1), (0.5, 1, 4)):
        threshold = Threshold(parse_number_noise(f"laplace:{scale}"), 60.0)
        table = NoisyTable(
            Bounding(max_rows=4), (aggregate("count", "laplace:2"),), None, threshold, "count"
        )
        wanted = partitions * 0.5 * math.exp((rows - 60) / scale)
        assert released_alone(table, 1) == pytest.approx(wanted, rel=0.1)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("noise", ["discrete-gaussian:2", "skellam:2", "binomial:2", "laplace:2"])
def test_a_selection_whose_noise_leaves_out_rows_costs_much(noise: str) -> None:
    """A user of a hundred rows, where the threshold's noise is that of two or so: 1 is spent else.

    Catches counts that are looked at only where both neighbours may go either way: there are none.
    """
    threshold = Threshold(parse_number_noise(noise), 140.0)
    counts = (aggregate("count", "laplace:100"),)
    table = NoisyTable(Bounding(1, 100), counts, None, threshold, "count")
    assert table_cost(table, ADD, 1, 1e-6).epsilon > 5


@pytest.mark.parametrize("noise", ["laplace:0.001", "gaussian:0.001"])
def test_noise_a_thousand_times_too_small_costs_much(noise: str) -> None:
    """Catches tails that leave the balls, after which nothing would be left to tell."""
    table = NoisyTable(BOTH, (aggregate("count", noise), THREE[1]), 9)
    assert table_cost(table, ADD, 1, 1e-6).epsilon > 100


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("selection", "releases", "delta"),
    [
        (TruncatedGeometric.split(1e4, 1e-6, 3), 1, 1e-6),
        (TruncatedGeometric(1.0, 0.9999), 1, 0.99999),
        (TruncatedGeometric(0.5, 1e-6), 10**6, 5e-324),
    ],
)
def test_extreme_claims_have_a_cost(selection: Selection, releases: int, delta: float) -> None:
    """Catches e^epsilon, and delta over the number of releases, that leave the floats."""
    table = NoisyTable(BOTH, THREE, None, selection)
    assert math.isfinite(table_cost(table, ADD, releases, delta).epsilon)


def test_few_others_may_not_lie_on_a_grid() -> None:
    """Counts that are rounded to sevens say nothing certain of partitions with few others."""
    for noise, certain in (("laplace:9;grid=7", False), ("laplace:9;grid=2^-4", True)):
        table = NoisyTable(BOTH, (aggregate("count", noise),), 9)
        found = farthest_pairs(table, ADD)
        assert [one.on_grid for pair in found for one in pair.moved] == [certain]
