"""What faulty engines make of rows, in expectation: for diagnoses alone."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Aggregate, Bounding, NoisyTable, Rows
from .....reference.tables.rows import places_within
from ....findings.note import Note
from .other_rows import OTHER_ROWS, OTHER_USERS

_DRAWS = 12  # of which the mean is taken for the expectation
SEED = 1
"""Of the draws of what stays, so that two engines are compared on the same ones."""

_NONE = 10**6  # stands for no bound
_UNLIMITED = 1e300

Contributed = Callable[[Rows, Aggregate], Rows]
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

    def bounded(bounding: Bounding) -> Numbers:
        other = replace(table, bounding=bounding)
        return lambda rows, cells: numbers(other, rows, cells, SEED)

    for cause, bounding in other_bounds(table.bounding):
        yield cause, bounded(bounding)
    for cause, made in OTHER_CONTRIBUTIONS:
        yield cause, partial(_contributing, table, made)
    for cause, changed in OTHER_ROWS:
        yield cause, partial(_of_other_rows, table, changed)
    for cause, counted in OTHER_USERS:
        if any(one.once for one in table.aggregates):
            yield cause, partial(_counting, table, counted)
    if table.bounding.max_partitions is not None:
        preferred = "partitions of a user that have more rows are kept more often"
        yield _kept(preferred, "partitions of more rows"), partial(_by_rows, table)
        of_value = "rows of each value of a user are bounded, not all of them"
        yield (
            _misapplied(of_value, "max_per_partition", "rows of a value"),
            partial(_by_value, table),
        )
    for way in ("first", "last") if table.bounding.kept != "all" else ():
        words = f"the {way} partitions of a user by name are kept, and rows by value, not any"
        ordered = replace(table, bounding=replace(table.bounding, kept=way))
        yield _kept(words, f"{way} by name"), partial(_sorted, ordered)
    words = "the largest values of a user are kept, not those that the claim says"
    largest = _kept(words, "largest values")
    yield largest, lambda rows, cells: numbers(table, _largest(rows, table.bounding), cells, SEED)


def _kept(words: str, what: str) -> Note:
    """Of a user beyond the bounds other rows stay than the claim says."""
    return Note("other-rows-kept", words, {"kept": what})


def _misapplied(words: str, bound: str, to: str) -> Note:
    """A bound of a user holds something else than the claim says."""
    return Note("bound-misapplied", words, {"bound": bound, "applied_to": to})


def _sorted(table: NoisyTable, rows: Rows, cells: int) -> Matrix:
    """Of rows in the order of partitions and values, as a sort or an index leaves them."""
    values = rows.values.reshape(len(rows), -1)[:, 0] if len(rows) else rows.users
    return numbers(table, rows.kept(np.lexsort((values, rows.cells))), cells, SEED)


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


def _contributing(table: NoisyTable, made: Contributed, rows: Rows, cells: int) -> Matrix:
    return numbers(table, rows, cells, SEED, made)


def _off_by_one(words: str, bound: str, claimed: int, kept: int) -> Note:
    code = "bound-too-high" if kept > claimed else "bound-too-low"
    return Note(code, words, {"bound": bound, "claimed": claimed, "kept": kept})


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
        yield (
            _misapplied(words, "max_rows", "rows in a partition"),
            Bounding(_NONE, most, None, kept),
        )
        off_by = {most - 1: "one row less", most + 1: "one row more"}
        for bound, less in off_by.items():
            if bound:
                cause = _off_by_one(
                    f"{less} of a user is kept than claimed", "max_rows", most, bound
                )
                yield cause, Bounding(None, None, bound, kept)
    else:
        partitions, rows = of.max_partitions, of.max_per_partition
        yield (
            Note(
                "bound-not-enforced",
                "contributions are bounded per partition and not over partitions: max_partitions "
                "is not enforced",
                {"bound": "max_partitions"},
            ),
            Bounding(_NONE, rows, None, kept),
        )
        yield (
            Note(
                "bound-not-enforced",
                "partitions of a user are bounded, and not the rows in each: max_per_partition is "
                "not enforced",
                {"bound": "max_per_partition"},
            ),
            Bounding(partitions, _NONE, None, kept),
        )
        words = "rows of a user are bounded over all partitions, not partitions and rows in each"
        yield (
            _misapplied(words, "max_partitions and max_per_partition", "rows"),
            Bounding(None, None, partitions * rows, kept),
        )
        words = "max_partitions bounds the rows of a user, not its partitions"
        yield (
            _misapplied(words, "max_partitions", "rows"),
            Bounding(None, None, partitions, kept),
        )
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


def _unclipped(rows: Rows, one: Aggregate) -> Rows:
    if one.bound is not None:
        return replace(one, bound=replace(one.bound, most=_UNLIMITED)).contributions(rows)
    if not one.of_values:
        return one.contributions(rows)
    return Rows(rows.users, rows.cells, one.summed(rows.values))


def _cut_together(rows: Rows, one: Aggregate) -> Rows:
    """The sum of a partition, cut to the norm as if it were of one user."""
    if one.bound is None:
        return one.contributions(rows)
    together = Rows(0 * rows.users, rows.cells, rows.values)
    return replace(one, bound=replace(one.bound, of="partition")).contributions(together)


def _cut_each(rows: Rows, one: Aggregate) -> Rows:
    """Each row cut to the norm, and not what a user adds up to."""
    if one.bound is None:
        return one.contributions(rows)
    apart = Rows(np.arange(len(rows)), rows.cells, rows.values)
    return one.contributions(apart)


def _cut_in_each(rows: Rows, one: Aggregate) -> Rows:
    """What a user adds up to in each partition cut to the norm, not over all of them."""
    if one.bound is None:
        return one.contributions(rows)
    return replace(one, bound=replace(one.bound, of="partition")).contributions(rows)


def _clipped_sums(rows: Rows, one: Aggregate) -> Rows:
    """The sum of a user in a partition, clipped to what the bounds of a value allow."""
    if not one.of_values or one.bound is not None or not len(rows):
        return one.contributions(rows)
    first = rows.kept(rows.first_of_pairs)
    sums = np.clip(np.bincount(rows.pairs, rows.values), one.lower, one.upper)
    return Rows(first.users, first.cells, one.summed(np.asarray(sums, np.float64)))


def _dropped(rows: Rows, one: Aggregate) -> Rows:
    if not one.of_values or one.bound is not None:
        return one.contributions(rows)
    return one.contributions(rows).kept((rows.values >= one.lower) & (rows.values <= one.upper))


def _clipped_at_zero(rows: Rows, one: Aggregate) -> Rows:
    if one.lower >= 0.0:
        return one.contributions(rows)
    return replace(one, lower=0.0, upper=max(one.upper, 0.0)).contributions(rows)


def _multiplied(rows: Rows, one: Aggregate) -> Rows:
    """Each row as often as its user has rows in its partition."""
    made = one.contributions(rows)
    if not len(made):
        return made
    return Rows(made.users, made.cells, made.values * np.bincount(made.pairs)[made.pairs])


_TOGETHER = "the norm is bounded after users are added up, not of each user"
_EACH = "the norm of each row is bounded, not of what a user adds up to"
_IN_EACH = "the norm is bounded in each partition, not over all of a user's"
_SUMS = "the sum of a user's values is clipped, not each value"
_BEYOND = "values beyond their bounds are dropped, not clipped"
_AT_ZERO = "values below 0 are clipped to 0, not to their lower bound"
_JOINED = "a join multiplies rows: each counts as often as its user has rows there"

ROW_BY_ROW: tuple[tuple[Note, Contributed], ...] = (
    (Note("values-not-clipped", "values are not clipped"), _unclipped),
    (Note("clipped-at-zero", _AT_ZERO), _clipped_at_zero),
)
"""Mistakes that change what each row contributes, whatever other rows stay."""

OTHER_CONTRIBUTIONS = (
    *ROW_BY_ROW,
    (_misapplied(_TOGETHER, "max_norm", "all users"), _cut_together),
    (_misapplied(_EACH, "max_norm", "a row"), _cut_each),
    (_misapplied(_IN_EACH, "max_norm", "a user in a partition"), _cut_in_each),
    (_misapplied(_SUMS, "lower and upper", "a user in a partition"), _clipped_sums),
    (Note("rows-dropped", _BEYOND, {"of": "beyond the bounds"}), _dropped),
    (Note("rows-multiplied", _JOINED), _multiplied),
)


def _largest(rows: Rows, bounding: Bounding) -> Rows:
    """The rows of the largest values of each user in each partition, as many as may stay."""
    if not len(rows):
        return rows
    order = np.argsort(-np.abs(rows.values.reshape(len(rows), -1)).sum(1), kind="stable")
    stays = order[places_within(rows.pairs[order]) < bounding.per_partition]
    return rows.kept(np.sort(stays))
