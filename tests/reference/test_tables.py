"""Laws of a table's release: what stays of a user, and which partitions are selected.

Moments are compared with an enumeration of all draws, and selection with mpmath at 50 digits. Null
of the simulations: the enumerated law; each rate within 5.5 standard errors, seeds fixed.
"""

import math
from collections import Counter
from itertools import combinations, product

import mpmath
import numpy as np
import pytest

from dpassay.reference.numbers import parse_number_noise
from dpassay.reference.tables import (
    Aggregate,
    Bounding,
    NoisyTable,
    NormBound,
    Rows,
    Threshold,
    TruncatedGeometric,
)
from dpassay.reference.tables.bounding import settled

USER = Rows.of([7] * 7, [0, 0, 0, 1, 1, 2, 4], [1.0, 2.0, 2.0, -1.0, 3.0, 0.5, 4.0])
TWO = Rows.of([3, 3, 3, 9, 9, 9, 5], [0, 1, 2, 0, 1, 2, 1], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0])
RATES = np.array([[0.3, -0.2, 0.5, 9.0, 0.1], [1.0] * 5, [-0.7, 0.0, 0.0, 0.0, 0.0]])
BOUNDS = [
    Bounding(2, 1),
    Bounding(1, 2),
    Bounding(3, 2),
    Bounding(max_rows=1),
    Bounding(max_rows=3),
]


def draws(bounding: Bounding, user: Rows) -> list[frozenset[int]]:
    """All equally likely sets of rows that stay of one user, by the words of the claim."""
    rows = range(len(user))
    if bounding.max_rows:
        return [frozenset(c) for c in combinations(rows, min(bounding.max_rows, len(user)))]
    by_cell = [[r for r in rows if user.cells[r] == cell] for cell in sorted(set(user.cells))]
    within = [list(combinations(c, min(len(c), bounding.per_partition))) for c in by_cell]
    cells = list(combinations(range(len(by_cell)), min(len(by_cell), bounding.partitions)))
    return [
        frozenset(r for c in chosen for r in rowsets[c])
        for rowsets in product(*within)
        for chosen in cells
    ]


def contributed(user: Rows, kept: frozenset[int], rate, once: bool) -> float:
    if once:
        return float(sum(rate[cell] for cell in {int(user.cells[r]) for r in kept}))
    return float(sum(rate[user.cells[r]] * user.values[r] for r in kept))


@pytest.mark.parametrize("bounding", BOUNDS)
@pytest.mark.parametrize("once", [False, True])
def test_moments_are_those_of_all_draws(bounding: Bounding, once: bool) -> None:
    """Catches rows drawn over partitions in place of within them, and ESPs off by a degree."""
    found = bounding.log_moment(USER, RATES, once=once)
    all_draws = draws(bounding, USER)
    for rate, log in zip(RATES, found, strict=True):
        exact = np.mean([math.exp(contributed(USER, kept, rate, once)) for kept in all_draws])
        assert log == pytest.approx(math.log(exact), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("bounding", BOUNDS)
def test_users_are_drawn_for_themselves(bounding: Bounding) -> None:
    """Catches one draw for all users whose rows are alike."""
    one = sum(
        bounding.log_moment(TWO.kept(TWO.users == user), RATES, once=False) for user in (3, 9, 5)
    )
    np.testing.assert_allclose(bounding.log_moment(TWO, RATES, once=False), one, rtol=1e-12)


@pytest.mark.parametrize("bounding", BOUNDS)
@pytest.mark.parametrize("once", [False, True])
def test_any_rows_are_bounded_by_the_largest_sum(bounding: Bounding, once: bool) -> None:
    largest = Bounding(
        bounding.max_partitions, bounding.max_per_partition, bounding.max_rows, "any"
    ).log_moment(USER, RATES, once=once)
    subsets = [
        frozenset(kept)
        for count in range(bounding.rows + 1)
        for kept in combinations(range(len(USER)), min(count, len(USER)))
        if bounding.holds(USER.kept(np.array(kept, dtype=np.int64)))
    ]
    for rate, found in zip(RATES, largest, strict=True):
        assert found == pytest.approx(max(contributed(USER, s, rate, once) for s in subsets))


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("bounding", BOUNDS)
def test_what_is_drawn_follows_the_enumerated_law(bounding: Bounding) -> None:
    """Catches partitions drawn in proportion to their rows."""
    rng, runs = np.random.default_rng(5), 4_000
    marked = Rows(USER.users, USER.cells, np.arange(len(USER), dtype=float))
    seen = Counter(
        frozenset(bounding.keep(marked, rng).values.astype(int).tolist()) for _ in range(runs)
    )
    law = Counter(draws(bounding, USER))
    assert set(seen) <= set(law)
    for kept, times in law.items():
        p = times / law.total()
        assert abs(seen[kept] / runs - p) <= 5.5 * math.sqrt(p * (1 - p) / runs)


VECTORS = Rows.of(
    [7] * 6,
    [0, 0, 0, 1, 2, 2],
    [[3.0, -4.0]] * 3 + [[1.0, 1.0]] + [[0.0, 2.0], [6.0, 0.0]],
)


def cut(sums: dict[int, list[float]], bound: NormBound) -> dict[int, list[float]]:
    """The sums of a user by partition, by plain loops: the words of the claim."""
    if bound.norm == "linf":
        return {c: [max(-bound.most, min(bound.most, x)) for x in v] for c, v in sums.items()}
    groups = [[*sums]] if bound.of == "user" else [[cell] for cell in sums]
    found = {}
    for cells in groups:
        numbers = [x for cell in cells for x in sums[cell]]
        order = {"l1": 1, "l2": 2}[bound.norm]
        size = sum(abs(x) ** order for x in numbers) ** (1 / order)
        found |= {c: [x * min(1.0, bound.most / size) for x in sums[c]] for c in cells}
    return found


def added_up(user: Rows, kept: frozenset[int]) -> dict[int, list[float]]:
    sums: dict[int, list[float]] = {}
    for r in kept:
        old = sums.get(int(user.cells[r]), [0.0, 0.0])
        sums[int(user.cells[r])] = [a + b for a, b in zip(old, user.values[r], strict=True)]
    return sums


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("of", ["partition", "user"])
@pytest.mark.parametrize("bounding", [Bounding(2, 2), Bounding(1, 2), Bounding(kept="all")])
def test_norms_are_bounded_of_what_stays_of_a_user(norm, of, bounding: Bounding) -> None:
    """Enumerated over all draws; catches a norm of each row, or of one number of a vector."""
    if of == "user" and bounding.kept != "all":
        return  # what a norm over all partitions cuts would depend on the draw
    bound = NormBound(norm, 4.0, of)
    law = settled(bounding, VECTORS)
    assert law is not None
    every = [frozenset(range(6))] if bounding.kept == "all" else draws(bounding, VECTORS)
    for place in (0, 1):
        one = Aggregate(
            "vector-sum", parse_number_noise("laplace:1"), bound=bound, coordinate=place
        )
        found = law[0].log_moment(one.contributions(law[1]), RATES[:, :3], once=False)
        for rate, log in zip(RATES, found, strict=True):
            sums = [cut(added_up(VECTORS, kept), bound) for kept in every]
            exact = np.mean([math.exp(sum(rate[c] * v[place] for c, v in s.items())) for s in sums])
            assert log == pytest.approx(math.log(exact), rel=1e-12, abs=1e-12)


def test_sums_that_depend_on_the_rows_drawn_have_no_law_here() -> None:
    """Catches a law that takes the first rows for a draw of unequal ones."""
    assert settled(Bounding(2, 1), VECTORS) is None
    assert settled(Bounding(max_rows=3), VECTORS) is None


def test_first_and_last_rows_stay() -> None:
    rows = Rows.of([1, 1, 1, 1, 1, 2], [2, 0, 2, 2, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    rng = np.random.default_rng(0)
    stays = {
        kept: Bounding(2, 2, kept=kept).keep(rows, rng).values.tolist()
        for kept in ("first", "last")
    }
    assert stays == {"first": [1.0, 2.0, 3.0, 6.0], "last": [3.0, 4.0, 5.0, 6.0]}


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.1, 1e-3), (8.0, 1e-9), (0.5, 0.3)])
def test_truncated_geometric_selection_is_the_most_that_the_bound_allows(
    epsilon: float, delta: float
) -> None:
    """mpmath, 50 digits: the largest q_n between which and q_(n-1) no outcome breaks the bound."""
    table = TruncatedGeometric(epsilon, delta)
    counts = np.arange(0, 200)
    kept, dropped = table.log_kept(counts), table.log_dropped(counts)
    with mpmath.workdps(50):
        e, d, q = mpmath.mpf(epsilon), mpmath.mpf(delta), mpmath.mpf(0)
        for n in counts:
            assert (q == 0 and kept[n] == -np.inf) or kept[n] == pytest.approx(
                float(mpmath.log(q)), rel=1e-9, abs=1e-12
            )
            if q < 1:
                assert dropped[n] == pytest.approx(float(mpmath.log1p(-q)), rel=1e-6, abs=1e-12)
            else:
                assert dropped[n] == -np.inf
            q = min(mpmath.e**e * q + d, 1 - mpmath.e**-e * (1 - q - d), mpmath.mpf(1))


def test_selection_is_split_as_googles_libraries_do() -> None:
    """All partitions of a user together stay below delta, exactly; delta / 3 each is less."""
    of = TruncatedGeometric.split(3.0, 1e-5, 3)
    assert of.epsilon == 1.0
    assert -math.expm1(3 * math.log1p(-of.delta)) == pytest.approx(1e-5, rel=1e-12)
    assert of.delta > 1e-5 / 3


@pytest.mark.parametrize(
    "noise",
    [
        *("laplace:2", "gaussian:3", "discrete-laplace:1.5", "discrete-gaussian:2"),
        *("laplace:2;round", "laplace:2;cut"),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_thresholds_by_simulation_and_in_mpmath(noise: str, strict: bool) -> None:
    """`>` is one step further than `>=` where noise is whole or rounded, and no other law else."""
    law = parse_number_noise(noise)
    of = Threshold(law, 7.0, strict)
    counts = np.array([0.0, 1.0, 5.0, 7.0, 9.0])
    rng = np.random.default_rng(1)
    with mpmath.workdps(30):
        tail = {
            "laplace:2": lambda t: mpmath.exp(-t / 2) / 2 if t > 0 else 1 - mpmath.exp(t / 2) / 2,
            "gaussian:3": lambda t: mpmath.erfc(t / (3 * mpmath.sqrt(2))) / 2,
        }.get(noise)
        for n, log in zip(counts[1:], of.log_kept(counts)[1:], strict=True):
            noisy = law.sample(n, 200_000, rng)
            rate = np.mean(noisy > 7.0 if strict else noisy >= 7.0)
            p = math.exp(log)
            assert abs(rate - p) < 5.5 * math.sqrt(p * (1 - p) / 200_000) + 1e-12
            if tail:
                assert p == pytest.approx(float(tail(mpmath.mpf(7.0 - n))), rel=1e-12)
    assert of.log_kept(counts)[0] == -np.inf
    np.testing.assert_allclose(np.exp(of.log_kept(counts)) + np.exp(of.log_dropped(counts)), 1.0)


def test_a_table_is_released_about_its_exact_numbers() -> None:
    """Within the bounds; what is not released is NaN, in every number of the partition."""
    noise = parse_number_noise("laplace:0.001")
    sums = Aggregate("sum", noise, 0.0, 2.0)
    aggregates = (Aggregate("count", noise), Aggregate("privacy-id-count", noise), sums)
    rows = Rows.of([1, 1, 2, 2], [0, 0, 0, 1], [5.0, 1.0, -3.0, 1.0])
    private = NoisyTable(Bounding(2, 2), aggregates, None, Threshold(noise, 2.0, True), "count")
    found = private.sample(rows, 3, 4, np.random.default_rng(2))
    assert found.shape == (4, 3, 3)
    np.testing.assert_allclose(found[:, :, 0], [[3.0, 2.0, 3.0]] * 4, atol=0.05)
    assert np.isnan(found[:, :, 1:]).all()
    public = NoisyTable(Bounding(1, 1), aggregates, 3)
    found = public.sample(rows, 4, 50, np.random.default_rng(2))
    assert np.isnan(found[:, :, 3]).all()
    assert not np.isnan(found[:, :, :3]).any()
    np.testing.assert_allclose(found[:, 0, :2].sum(1), 2.0, atol=0.1)
    assert {*np.rint(found[:, 0, 1]).tolist()} == {0.0, 1.0}, "a draw for each release"


def test_bounds_are_given_whole() -> None:
    for bounds in ({}, {"max_partitions": 1}, {"max_rows": 1, "max_partitions": 1}):
        with pytest.raises(ValueError, match=r"max_partitions.* max_per_partition.* max_rows"):
            Bounding(**bounds)
    with pytest.raises(ValueError, match="from 1"):
        Bounding(0, 1)
    with pytest.raises(ValueError, match="one length"):
        Rows.of([1], [0, 1], [0.0])
