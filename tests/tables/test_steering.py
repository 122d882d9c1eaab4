"""Tables that are steered to decisions of a target's code: what is made, judged and asked."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from steered_tables import FAULTS, claim_of, written
from table_zoo import shelf

from dpassay.reference.tables import Rows
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.planning.asked import Asked, Batch
from dpassay.verifiers.kinds.tables.checks.at_branches import (
    BoundsAtBranches,
    BranchTable,
    NoiseAtBranches,
)
from dpassay.verifiers.kinds.tables.checks.of_numbers import TableFreshNoise, TableNoiseLaw
from dpassay.verifiers.kinds.tables.evidence.columns import DeterminedNumbers
from dpassay.verifiers.kinds.tables.planned import SHARE, PlannedTable, steers
from dpassay.verifiers.kinds.tables.steering.candidates import TableCandidate, TableSource
from dpassay.verifiers.kinds.tables.steering.sized import SizedTables
from dpassay.verifiers.paths.decision import Decision
from dpassay.verifiers.paths.search import Candidate, Reached
from dpassay.verifiers.paths.steering import choose
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets.process import ProcessTarget

DECISION = Decision("target.py", 12, "len(rows) > 100", ("true", "false"))
CONSTANTS = (0, 1, 2, 3, 5, 12, 100, 120)


def asker(more: str = "") -> TableSource:
    claim = claim_of(more)
    return TableSource(claim, claim.inputs(0), 0, 3_000, 35.0)


def reached(rows: Rows, size: int = 1, calls: int = 1) -> Reached:
    sequence = tuple((rows, size) for _ in range(calls))
    candidate = TableCandidate(
        sequence, 100.0 * size, "users in turn", calls * len(rows), size=len(rows)
    )
    return Reached((0, "true"), DECISION, candidate)


# -- what is made --------------------------------------------------------------------------------


def test_candidates_keep_to_what_the_claim_allows_and_the_smallest_come_first() -> None:
    """Catches tables of more rows than the plan's own, where the claim names no largest input."""
    made = list(asker().candidates((*CONSTANTS, 9_000)))
    largest = max(asked.records for asked in claim_of().inputs(0).inputs)
    sizes = [len(rows) for one in made for rows, _ in one.calls]
    assert max(sizes) <= largest < 18_000
    assert 9_001 in sizes
    assert sum(one.rows for one in made) <= 1_000_000
    of_one_way = [one.rows for one in made if one.way == "users of a partition, far"]
    assert of_one_way == sorted(of_one_way)


def test_the_same_seed_makes_the_same_candidates() -> None:
    one, other = (list(asker().candidates(CONSTANTS)) for _ in range(2))
    assert len(one) == len(other) > 200
    for a, b in zip(one, other, strict=True):
        for (rows, size), (again, as_many) in zip(a.calls, b.calls, strict=True):
            assert size == as_many
            assert (rows.users == again.users).all()
            assert (rows.values == again.values).all()


@pytest.mark.parametrize("way", [way.name for way in SizedTables(claim_of(), 0).ways])
def test_a_way_has_as_many_rows_as_it_says(way: str) -> None:
    """Catches a way whose rows are counted wrongly, so that tables outgrow what is claimed."""
    made = next(one for one in SizedTables(claim_of(), 0).ways if one.name == way)
    for size in (0, 1, 3, 5):
        rows = made.make(size)
        assert rows is None or len(rows) <= made.rows(size)


def test_sizes_are_those_that_are_asked_for() -> None:
    """Catches ways that mix up users, rows and partitions."""
    sized = SizedTables(claim_of(), 0)

    def counted(rows: Rows | None) -> tuple[int, int, int]:
        assert rows is not None
        users, cells = (np.unique(each).size for each in (rows.users, rows.cells))
        return len(rows), users, cells

    assert counted(sized.in_turn(37)) == (37, 37, 5)
    assert counted(sized.of_one(37)) == (37, 37, 1)
    assert counted(sized.at_bounds(37)) == (37, 7, 2)
    assert counted(sized.crowded(600))[0::2] == (600, 1)
    assert counted(sized.of_a_user(37)) == (37, 1, 1)
    assert counted(sized.of_each(4)) == (80, 20, 1)
    assert counted(sized.everywhere(4)) == (20, 20, 5)
    assert counted(sized.over(3)) == (180, 60, 3)
    assert counted(sized.present(2))[2] == 2
    assert counted(sized.not_listed(9))[2] == 6


def test_a_straight_line_through_two_sizes_finds_the_other_side() -> None:
    """Of len(rows) ** 1 * 3 > 1000, which no constant names: from 334 rows on."""
    made = asker()
    sizes = (10, 100)
    seen = [
        (TableCandidate((), 1.0, "users in turn", size, size=size), (3.0 * size, 1_000.0))
        for size in sizes
    ]
    found = {one.rows for one in made.across(7, seen, 0)}
    assert found == {333, 334, 335, 668}
    assert not made.needs


def test_what_needs_more_rows_than_are_claimed_is_kept_to_be_told() -> None:
    made = asker()
    seen = [
        (TableCandidate((), 1.0, "users in turn", size, size=size), (float(size), 1e6))
        for size in (10, 50, 100)
    ]
    assert not list(made.across(7, seen, 0))
    assert made.needs == {7: 1_000_000}
    noisy = [
        (one, (left + off, 1e6)) for (one, (left, _)), off in zip(seen, (3, -4, 2), strict=True)
    ]
    assert not list(made.across(8, noisy, 0))
    assert 8 not in made.needs


# -- what is exact of them -----------------------------------------------------------------------


@pytest.mark.parametrize("kept", ["uniform", "first", "any"])
def test_numbers_are_determined_where_no_draw_of_rows_moves_them(kept: str) -> None:
    """Against 200 draws: catches a partition of a user in too many that is taken as certain."""
    claim = claim_of()
    mechanism = claim.mechanism.model_copy(update={"kept": kept})
    rng = np.random.default_rng(1)
    over = Rows.of([1] * 3, [0, 1, 2], [4.0] * 3)  # a user of one partition more than stay
    unequal = Rows.of([2] * 9, [3] * 9, rng.integers(0, 11, 9))
    alike = Rows.of([3] * 9, [4] * 9, [7.0] * 9)
    both = Rows.of([4], [4], [3.0])
    parts = (over, unequal, alike, both)
    columns = [[getattr(part, name) for part in parts] for name in ("users", "cells", "values")]
    rows = Rows.of(*(np.concatenate(each) for each in columns))
    table = mechanism.__class__(**mechanism.model_dump(exclude_none=True)).table
    found = DeterminedNumbers(table, rows, 7).exact
    draws = []
    for _ in range(200):
        stays = table.bounding.keep(rows, rng)
        draws.append([one.totals(stays, 7) for one in table.aggregates])
    for place in np.argwhere(~np.isnan(found)):
        seen = {numbers[place[0]][place[1]] for numbers in draws}
        assert seen == {found[tuple(place)]}
    known = (~np.isnan(found)).tolist()
    first = [True] * 5 + [False] * 2
    assert (
        known
        == {
            "uniform": [[False] * 3 + [True] * 2 + [False] * 2, [False] * 4 + [True] + [False] * 2],
            "first": [first, first],
            "any": [[False] * 7] * 2,
        }[kept]
    )


# -- how they are judged -------------------------------------------------------------------------


def tables(claim: Any) -> list[BranchTable]:
    sized = SizedTables(claim, 3)
    made = [sized.in_turn(20), sized.at_bounds(31), sized.of_each(4), sized.over(3), sized.none]
    return [BranchTable.made(claim, reached(rows)) for rows in made if rows is not None]


def asked(one: BranchTable, released: Any) -> Batch:
    """Releases (n, aggregates, cells) of a table, in calls of one."""
    flat = released.reshape(len(released), -1)
    return Batch(Asked(one.rows, one.exact.ravel(), "", ""), flat, (1,) * len(flat))


def evidence(claim: Any, given: list[BranchTable], seed: int, **wrong: float) -> list[float]:
    """E-values of the noise and of the bounds after releases of every table.

    factor: of the noise of the first table; rows: that are added to each count of the third.
    """
    table, rng = claim.mechanism.table, np.random.default_rng(seed)
    noise, bounds = NoiseAtBranches(claim, given, 0), BoundsAtBranches(claim, given)
    for place, one in enumerate(given):
        released = table.sample(one.rows, len(claim.keys), 6, rng)
        if place == 0:
            released = one.exact + wrong.get("factor", 1.0) * (released - one.exact)
        if place == 2:
            released[:, 0] += wrong.get("rows", 0.0)
        batch = asked(one, released)
        noise.observe(place, batch)
        bounds.observe(place, batch)
    return [math.exp(min(found.log_e_value, 700.0)) for found in (noise, bounds)]


@pytest.mark.slow("500 runs of ten wagers each")
def test_the_mixture_has_an_expectation_of_at_most_one() -> None:
    """By simulation: catches a mean over tables, or aggregates, that is a sum.

    Of values cut at 10, the mean of 500 exceeds 1 by 1.3 with a probability below 1e-7 (Hoeffding).
    """
    claim = claim_of()
    given = tables(claim)
    found = np.array([evidence(claim, given, seed) for seed in range(500)])
    assert (np.minimum(found, 10.0).mean(0) <= 2.3).all()
    assert (found >= 100.0).mean(0).max() <= 0.05


def test_half_the_noise_of_one_table_and_a_contribution_more_show() -> None:
    """Catches evidence that takes tables together, and wagers on other numbers than these."""
    claim = claim_of()
    given = tables(claim)
    none, _ = evidence(claim, given, 1, factor=0.0)
    _, more = evidence(claim, given, 1, rows=60.0)
    assert none > 1e6
    assert more > 1e6


def test_a_finding_names_the_decision_and_the_table() -> None:
    claim = claim_of()
    given = tables(claim)
    noise = NoiseAtBranches(claim, given, 0)
    noise.observe(0, asked(given[0], np.repeat(given[0].exact[None], 8, axis=0)))
    found = noise.finding()
    assert found.code == "noise-missing"
    assert "target.py:12 (len(rows) > 100: true)" in found.message
    assert found.fields["file"] == "target.py:12"


def test_equal_releases_of_one_table_show() -> None:
    """Catches tables that are kept from the check of noise that comes again."""
    claim = claim_of()
    given, rng = tables(claim), np.random.default_rng(2)
    for times, shown in ((1, False), (2, True)):
        check = TableFreshNoise(claim, claim.inputs(0), 0)
        check.begin_branches(given)
        drawn = claim.mechanism.table.sample(given[0].rows, len(claim.keys), 4, rng)
        check.observe_branch(0, asked(given[0], np.concatenate([drawn] * times)))
        assert check.refuted is shown


TEXTS = {
    name: getattr(shelf, name)
    for name in ("GEOMETRIC", "RELEASED", "CUT", "MEAN", "ALONE", "VARIANCE", "VECTOR", "OF_USER")
}


@pytest.mark.parametrize("text", TEXTS)
def test_tables_of_every_claim_are_made_and_judged(text: str) -> None:
    """Of the claimed engine: catches noise, means and norms that are judged by another law."""
    claim = shelf.claimed(TEXTS[text])
    sized, rng = SizedTables(claim, 5), np.random.default_rng(5)
    made = [sized.in_turn(40), sized.of_each(3), sized.over(2), sized.valued(70)]
    given = [BranchTable.made(claim, reached(rows)) for rows in made if rows is not None]
    noise, bounds = NoiseAtBranches(claim, given, 0), BoundsAtBranches(claim, given)
    judged = 0
    for place, one in enumerate(given):
        released = claim.mechanism.table.sample(one.rows, len(claim.keys), 3, rng)
        judged += noise.observe(place, asked(one, released))
        bounds.observe(place, asked(one, released))
    assert judged > 50
    assert -5.0 < noise.log_e_value < 7.0
    assert -5.0 < bounds.log_e_value < 7.0


# -- what is asked -------------------------------------------------------------------------------


def test_no_more_is_asked_than_is_planned() -> None:
    """Catches a run that steers beyond the queries of the claim."""
    sized = SizedTables(claim_of(), 0)
    made = [sized.in_turn(size) for size in range(1, 200)]
    found = [reached(rows, calls=1 + place % 3) for place, rows in enumerate(made) if rows]
    chosen = choose(found, id, 4_000).values()
    assert len(chosen) > 10
    assert sum(100 * len(one.candidate.calls) for one in chosen) <= 4_000
    few = choose(found, id, 4_000, most_rows=1_000).values()
    assert 0 < sum(100 * one.candidate.rows for one in few) <= 1_000


def test_a_share_of_the_plan_is_asked_of_what_was_found() -> None:
    """Catches releases that are reserved for this beyond the share of a pass that it may take."""
    claim = claim_of()
    planned = PlannedTable(claim, 0)
    assert planned.queries - planned.of_plan == int(SHARE * planned.of_plan)


def test_half_the_noise_is_shown_by_the_first_table_of_an_outcome() -> None:
    """Catches a second table that is asked as often as the first one, or the first as it."""
    made = asker()
    several = [made.sized.in_turn(rows) for rows in (40, 30, 50)]
    kept: Sequence[Candidate] = ()
    for place, rows in enumerate(several):
        assert rows is not None
        kept = made.kept(kept, replace(reached(rows).candidate, way=str(place))) or kept
    first, *more = kept
    assert first.rows == 30
    assert first.repeats * made._nats >= made.needed
    assert all(8 <= one.repeats < first.repeats / 2 for one in more)


def test_a_run_of_few_queries_is_not_steered() -> None:
    claim = claim_of()
    assert steers(claim, claim.inputs(0))
    assert not steers(claim, claim.inputs(0).in_part(0.5))
    few = claim.with_gate(claim.gate.model_copy(update={"max_queries": 20_000}))
    assert not steers(few, claim.inputs(0))


def run(folder: Any, more: str, lines: dict[str, str]) -> Any:
    claim = claim_of(more)
    target = ProcessTarget.python(written(folder, **lines), 60.0, None, claim.release)
    try:
        return verify(target, claim, seed=3)
    finally:
        target.close()


@pytest.mark.slow("a run of thousands of releases each")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_behind_a_decision_of_the_code_is_found(fault: str, tmp_path: Any) -> None:
    more, wrong, _ = FAULTS[fault]
    assert run(tmp_path, more, wrong).verdict is Verdict.FAIL


@pytest.mark.slow("a run of thousands of releases each")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_right_relative_of_the_same_branches_passes(fault: str, tmp_path: Any) -> None:
    """Catches evidence that takes a branch itself for a fault."""
    more, _, right = FAULTS[fault]
    assert run(tmp_path, more, right).verdict is Verdict.PASS


@pytest.mark.slow("a run of thousands of releases")
def test_a_pass_names_what_only_larger_tables_would_reach(tmp_path: Any) -> None:
    test = "if len(rows) > 1_000_000:\n        scale[:] = 0.5"
    found = run(tmp_path, "", {"noise": test})
    assert found.verdict is Verdict.PASS
    said = [words for words in found.warnings if words.startswith("not reached")]
    assert len(said) == 1
    assert "(len(rows) > 1_000_000) needs about 1,000,000 rows" in said[0]
    law = next(one for one in found.checks if one.id == "noise-law")
    assert "counted on a copy (audit hook" in law.message


def test_a_pass_of_tables_names_the_decisions_that_were_asked() -> None:
    """In the words of labels and numbers, two by name."""
    claim = claim_of()
    law = TableNoiseLaw(claim, claim.inputs(0), 3)
    assert "decisions" not in law.pass_finding().message
    law.begin_branches(given := tables(claim))
    law.observe_branch(0, asked(given[0], np.repeat(given[0].exact[None], 8, axis=0)))
    told = law.pass_finding().message
    assert "; 8 releases were asked at decisions of the code: target.py:12 (len(rows) > 100" in told
