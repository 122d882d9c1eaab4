"""Linkage: rows that stand alone, against counts by hand, and how often strangers match one."""

import time
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from dpassay.attacks.inference.linkage import linkage

NAMES = ("age", "place", "work")


def people(count, seed):
    rng = np.random.default_rng(seed)
    return [
        [str(rng.integers(6)), "ab"[rng.integers(2)], str(rng.integers(5))] for _ in range(count)
    ]


def test_rows_alone_and_the_smallest_group_are_counted() -> None:
    """Against a counter of tuples; catches cells joined as text, "1" "12" as "11" "2"."""
    table = [*people(90, 1), ["1", "12", "x"], ["11", "2", "x"]]
    sizes = Counter(map(tuple, table))
    found = linkage(NAMES, table)
    assert found.alone == sum(size == 1 for size in sizes.values())
    assert found.least == min(sizes.values())
    by_pair = {
        (NAMES[a], NAMES[b]): sum(n == 1 for n in Counter((r[a], r[b]) for r in table).values())
        for a, b in combinations(range(3), 2)
    }
    assert found.pair_alone == max(by_pair.values()) == by_pair[found.pair[0], found.pair[1]]


def test_a_table_of_pairs_has_nobody_alone() -> None:
    table = people(50, 2) * 2
    found = linkage(NAMES, table)
    assert (found.alone, found.least >= 2, found.pair_alone) == (0, True, 0)


def test_strangers_match_as_often_as_is_computed() -> None:
    """Sixty equally likely people, 1,000 rows: one of the other half matches a single row of 500.

    The chance is 500/60 (1 - 1/60)^499; its interval of 95 % holds in this drawing. Catches a match
    with one row or more, and one with the half that the person is from.
    """
    found = linkage(NAMES, people(1_000, 3)).strangers
    chance = 500 / 60 * (1 - 1 / 60) ** 499
    assert found is not None
    assert found.low <= chance <= found.high
    assert found.value < 0.05


def test_few_rows_or_columns_say_less() -> None:
    found = linkage(("age",), [["1"], ["2"], ["2"]])
    assert (found.alone, found.least, found.pair, found.strangers) == (1, 1, (), None)
    with pytest.raises(ValueError, match="0 columns, 1 rows"):
        linkage((), [[]])


@pytest.mark.slow("over half a second")
def test_a_table_of_many_columns_takes_seconds() -> None:
    """As one-hot encodings have: 7,140 pairs, which by whole rows took ten times as long."""
    table = np.random.default_rng(4).integers(0, 50, (1_000, 120)).astype(str).tolist()
    began = time.process_time()
    linkage([f"c{k}" for k in range(120)], table)
    assert time.process_time() - began < 2.5
