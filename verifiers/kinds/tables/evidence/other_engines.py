"""What faulty engines make of rows, in expectation: for diagnoses alone."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Bounding, NoisyTable, Rows
from .....reference.tables.rows import places_within
from ....findings.note import Note
from .other_contributions import (
    OTHER_ROWS,
    OTHER_USERS,
    TOLD_CONTRIBUTIONS,
    Contributed,
    misapplied,
)

_DRAWS = 12  # of which the mean is taken for the expectation
SEED = 1
"""Of the draws of what stays, so that two engines are compared on the same ones."""

_NONE = 10**6  # stands for no bound

Numbers = Callable[[Rows, int], Matrix]
"""Rows and how many partitions in, mean numbers (aggregates, cells) before noise out."""


def numbers(
    table: NoisyTable, rows: Rows, cells: int, seed: int, contributed: Contributed | None = None
) -> Matrix:
    """Mean numbers (aggregates, cells) before noise, over draws of what stays."""
    rng, bounding = np.random.default_rng(seed), table.bounding
    sure = bounding.kept in ("first", "last") or bounding.holds(rows)
    draws = 1 if sure else _DRAWS
    found = np.zeros((len(table.aggregates), cells))
    for _ in range(draws):
        kept = bounding.keep(rows, rng)
        for column, one in enumerate(table.aggregates):
            if contributed is None or one.once:
                found[column] += one.totals(kept, cells)
            else:
                made = contributed(kept, one)
                found[column] += np.bincount(made.cells, made.values, cells)
    return found / draws


def other_engines(table: NoisyTable) -> Iterator[tuple[Note, Numbers]]:
    """Known mistakes, each as a cause with the numbers that it gives for rows."""
    for cause, bounding in other_bounds(table.bounding):
        yield cause, partial(numbers, replace(table, bounding=bounding), seed=SEED)
    for cause, made in TOLD_CONTRIBUTIONS:
        yield cause, partial(numbers, table, seed=SEED, contributed=made)
    for cause, changed in OTHER_ROWS:
        yield cause, partial(_of_other_rows, table, changed)
    for cause, counted in OTHER_USERS:
        if any(one.once for one in table.aggregates):
            yield cause, partial(_counting, table, counted)
    if any(one.once for one in table.aggregates):
        each = [replace(one, kind="count") if one.once else one for one in table.aggregates]
        words = "rows are counted as users: a user counts once for each of its rows in a partition"
        counting = replace(table, aggregates=tuple(each))
        yield Note("rows-counted-as-users", words), partial(numbers, counting, seed=SEED)
    if table.bounding.max_partitions is not None:
        preferred = "partitions of a user that have more rows are kept more often"
        yield _kept(preferred, "partitions of more rows"), partial(_by_rows, table)
        of_value = "rows of each value of a user are bounded, not all of them"
        misread = misapplied(of_value, "max_per_partition", "rows of a value")
        yield misread, partial(_by_value, table)
    for way in ("first", "last") if table.bounding.kept != "all" else ():
        rather = _RATHER[table.bounding.kept]
        ordered = replace(table, bounding=replace(table.bounding, kept=way))
        for rows_too in (False, True):
            beside = ", and its rows by value" if rows_too else ""
            words = f"the {way} partitions of a user by name are kept{beside}, not {rather}"
            yield _kept(words, f"{way} by name"), partial(_sorted, ordered, rows_too)
    words = "the largest values of a user are kept, not those that the claim says"
    largest = _kept(words, "largest values")
    yield largest, lambda rows, cells: numbers(table, _largest(rows, table.bounding), cells, SEED)


def _kept(words: str, what: str) -> Note:
    """Of a user beyond the bounds other rows stay than the claim says."""
    return Note("other-rows-kept", words, {"kept": what})


_RATHER = {
    "uniform": "a random choice of them",
    "any": "any of them",
    "first": "those that come first",
    "last": "those that come last",
}
"""What the claim keeps of a user, in words."""


def _sorted(table: NoisyTable, rows_too: bool, rows: Rows, cells: int) -> Matrix:
    """Of rows in the order of partitions, and of values or at random, as a sort leaves them."""
    if rows_too:
        values = rows.values.reshape(len(rows), -1)[:, 0] if len(rows) else rows.users
        return numbers(table, rows.kept(np.lexsort((values, rows.cells))), cells, SEED)
    rng = np.random.default_rng(SEED)
    drawn = [
        numbers(table, rows.kept(np.lexsort((rng.random(len(rows)), rows.cells))), cells, SEED)
        for _ in range(_DRAWS)
    ]
    return np.asarray(np.mean(drawn, axis=0))


def _of_other_rows(
    table: NoisyTable, changed: Callable[[Rows], Rows], rows: Rows, cells: int
) -> Matrix:
    return numbers(table, changed(rows), cells, SEED)


def _counting(
    table: NoisyTable, counted: Callable[[Rows, int], Vector], rows: Rows, cells: int
) -> Matrix:
    """With users counted in another way."""
    found = numbers(table, rows, cells, SEED)
    for column, one in enumerate(table.aggregates):
        if one.once:
            found[column] = counted(rows, cells)
    return found


def _by_rows(table: NoisyTable, rows: Rows, cells: int) -> Matrix:
    """With the partitions in which the first rows of a user lie, when all its rows are shuffled."""
    first = replace(table, bounding=replace(table.bounding, kept="first"))
    rng = np.random.default_rng(SEED)
    drawn = [
        numbers(first, rows.kept(rng.permutation(len(rows))), cells, SEED) for _ in range(_DRAWS)
    ]
    return np.asarray(np.mean(drawn, axis=0))


def _by_value(table: NoisyTable, rows: Rows, cells: int) -> Matrix:
    """With so many rows of each value of a user in a partition as may stay in all."""
    most, values = table.bounding.per_partition, rows.values.reshape(len(rows), -1)
    different = np.unique(np.column_stack([rows.pairs, values]), axis=0, return_inverse=True)[1]
    stays = places_within(different.reshape(-1)) < most
    loose = replace(table, bounding=replace(table.bounding, max_per_partition=_NONE))
    return numbers(loose, rows.kept(stays), cells, SEED)


def _off_by_one(words: str, bound: str, claimed: int, kept: int) -> Note:
    code = "bound-too-high" if kept > claimed else "bound-too-low"
    return Note(code, words, {"bound": bound, "claimed": claimed, "kept": kept})


def _not_enforced(words: str, bound: str) -> Note:
    return Note("bound-not-enforced", f"{words}: {bound} is not enforced", {"bound": bound})


def other_bounds(of: Bounding) -> Iterator[tuple[Note, Bounding]]:
    """Bounds on a user that engines have in place of the claimed ones, each as a cause."""
    kept = of.kept
    if kept == "all":
        return
    unbounded = "contributions of a user are not bounded"
    yield Note("contributions-not-bounded", unbounded), Bounding(_NONE, _NONE, None, kept)
    if of.max_partitions is None or of.max_per_partition is None:
        most = of.rows
        words = "rows of a user are bounded in each partition, not over all"
        misread = misapplied(words, "max_rows", "rows in a partition")
        yield misread, Bounding(_NONE, most, None, kept)
        for bound, less in ((most - 1, "less"), (most + 1, "more")):
            if bound:
                words = f"one row {less} of a user is kept than claimed"
                cause = _off_by_one(words, "max_rows", most, bound)
                yield cause, Bounding(None, None, bound, kept)
    else:
        partitions, rows = of.max_partitions, of.max_per_partition
        words = "contributions are bounded per partition and not over partitions"
        yield _not_enforced(words, "max_partitions"), replace(of, max_partitions=_NONE)
        words = "partitions of a user are bounded, and not the rows in each"
        yield _not_enforced(words, "max_per_partition"), replace(of, max_per_partition=_NONE)
        words = "rows of a user are bounded over all partitions, not partitions and rows in each"
        misread = misapplied(words, "max_partitions and max_per_partition", "rows")
        yield misread, Bounding(None, None, partitions * rows, kept)
        words = "max_partitions bounds the rows of a user, not its partitions"
        misread = misapplied(words, "max_partitions", "rows")
        yield misread, Bounding(None, None, partitions, kept)
        for more, words in ((1, "more"), (-1, "less")):
            if partitions + more:
                other = Bounding(partitions + more, rows, None, kept)
                said = f"one partition {words} of a user is kept than claimed"
                yield _off_by_one(said, "max_partitions", partitions, partitions + more), other
            if rows + more:
                other = Bounding(partitions, rows + more, None, kept)
                said = f"one row {words} of a user is kept in a partition than claimed"
                yield _off_by_one(said, "max_per_partition", rows, rows + more), other
    for way in ("first", "last"):
        if way != kept:
            words = f"the {way} rows and partitions of a user are kept, not those that it claims"
            yield _kept(words, way), replace(of, kept=way)


def _largest(rows: Rows, bounding: Bounding) -> Rows:
    """The rows of the largest values of each user in each partition, as many as may stay."""
    if not len(rows):
        return rows
    order = np.argsort(-np.abs(rows.values.reshape(len(rows), -1)).sum(1), kind="stable")
    stays = order[places_within(rows.pairs[order]) < bounding.per_partition]
    return rows.kept(np.sort(stays))
