"""In which order partitions come: of names, released numbers or chance, and not of exact counts."""

import math
from typing import Any

import numpy as np
import pytest
from table_zoo.correct import InAnotherOrder
from table_zoo.engine import Engine
from table_zoo.shelf import GEOMETRIC, PUBLIC, RELEASED, claimed
from table_zoo.singled_out import LargestFirst, SmallestFirst

from dpassay.verifiers.kinds.numbers.evidence.bins import Placing
from dpassay.verifiers.kinds.numbers.planning.asked import Batch, Draws
from dpassay.verifiers.kinds.tables.checks.empty_partitions import EmptyPartitions
from dpassay.verifiers.kinds.tables.evidence.order import ListingOrder
from dpassay.verifiers.kinds.tables.planning.asked import ORDERED
from dpassay.verifiers.kinds.tables.planning.plan import make_table_plan


class ByChance(Engine):
    def release(self, rows: Any) -> Any:
        table = super().release(rows)
        return [table[place] for place in self.rng.permutation(len(table))]


class ByName(Engine):
    def release(self, rows: Any) -> Any:
        return sorted(super().release(rows), key=lambda row: str(row["partition"]))


def judged(text: str, made: Any, releases: int = 10) -> EmptyPartitions:
    """The check, once it has seen so many releases of each input whose counts are turned."""
    claim = claimed(text)
    plan = make_table_plan(claim, 1)
    check = EmptyPartitions(claim, plan, 1)
    placing = Placing(claim.mechanism.added, np.random.default_rng(1))
    engine = made(claim, np.random.default_rng(5))
    for asked in plan.inputs:
        if asked.role in ORDERED:
            reply = engine(claim.release.argument(asked.values), releases)
            found = claim.release.shaped(reply, asked.values, releases)
            check.observe(Draws((Batch(asked, found, (releases,)),), placing, plan.coordinates))
    return check


class LargestAverageFirst(Engine):
    """Partitions stand in the order of their exact averages."""

    def aggregated(self, pairs: Any) -> Any:
        found = super().aggregated(pairs)
        self.means = {p: n["sum"] / max(1.0, n["rows"]) for p, n in found.items()}
        return found

    def release(self, rows: Any) -> Any:
        return sorted(super().release(rows), key=lambda row: -self.means.get(row["partition"], 0))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("made", [SmallestFirst, LargestFirst])
@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC, RELEASED])
def test_the_order_of_exact_counts_is_found(made: Any, text: str) -> None:
    """In the releases of one pass; catches inputs whose order is the same."""
    check = judged(text, made)
    assert check.log_e_value >= check.log_threshold
    assert check.fail_finding().code == "table-order-tells-counts"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC])
def test_the_order_of_exact_averages_is_found(text: str) -> None:
    """Catches inputs whose rows have the same values, and so the same averages."""
    check = judged(text, LargestAverageFirst)
    assert check.log_e_value >= check.log_threshold


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("made", [InAnotherOrder, Engine, ByChance, ByName])
@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC, RELEASED])
def test_another_order_is_not(made: Any, text: str) -> None:
    """Of the first rows, of released counts, by chance and by name."""
    check = judged(text, made)
    assert check.order.rounds == 10
    assert check.log_e_value < 2.0


def test_inputs_differ_in_counts_alone() -> None:
    """Catches another number of rows or users, and partitions that come first elsewhere."""
    for text in (PUBLIC, GEOMETRIC):
        plan = make_table_plan(claimed(text), 1)
        rows = [asked.values for asked in plan.inputs if asked.role in ORDERED]
        firsts = [list(dict.fromkeys(one.cells.tolist())) for one in rows]
        lasts = [list(dict.fromkeys(one.cells[::-1].tolist())) for one in rows]
        assert len(rows) == 5
        for one, first, last in zip(rows[1:], firsts[1:], lasts[1:], strict=True):
            assert one.users.tolist() == rows[0].users.tolist()
            assert (first, last) == (firsts[0], lasts[0])
            assert sorted(np.bincount(one.cells)) == sorted(np.bincount(rows[0].cells))


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_the_evidence_is_fair_for_an_order_of_what_is_released(scale: float) -> None:
    """Enumerated over whole noise of three numbers: the order is that of the released ones.

    Catches a chance of 1 in 6 for each assignment, whatever the numbers say.
    """
    counts = {"a": np.array([0, 1, 2]), "b": np.array([2, 0, 1]), "c": np.array([1, 2, 0])}
    drawn = np.arange(-1, 2)
    log_p = -np.abs(drawn) / scale
    log_p -= math.log(np.exp(log_p).sum())
    laws = dict(zip(drawn.tolist(), log_p.tolist(), strict=True))

    def law(released: Any, exact: Any) -> float:
        off = (np.array(released) - exact).tolist()
        return float(sum(laws.get(each, -60.0) for each in off))

    rng, total, runs = np.random.default_rng(2), 0.0, 4_000
    for _ in range(runs):
        released = [exact + rng.choice(drawn, 3, p=np.exp(log_p)) for exact in counts.values()]
        orders = [tuple(np.argsort(one, kind="stable").tolist()) for one in released]
        table = np.array([[law(y, exact) for y in released] for exact in counts.values()])
        evidence = ListingOrder(counts)
        evidence.observe(orders, table)
        total += math.exp(evidence.log_e_value)
    assert total / runs < 1.1
