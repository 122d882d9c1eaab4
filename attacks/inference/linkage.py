"""Who stands alone in a table: people whose values of a few columns are nobody else's.

Sweeney 2000 ("Simple demographics often identify people uniquely"), 2002 (k-anonymity): who knows
these columns of somebody finds the row, and with it the rest, whatever noise other releases have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .measures import Estimate, share

_FEWEST = 20  # rows of a half, below which nothing is said of strangers


@dataclass(frozen=True)
class Linkage:
    """How far columns name the rows of a table.

    columns: all that were looked at; rows: n; least: of the smallest group of rows alike in all of
    them, the k of k-anonymity; alone: rows that are their own group; pair, pair_alone: the two
    columns that name most rows, and how many, empty of fewer than three columns; strangers: how
    many people outside a table of n / 2 rows match exactly one of its rows, so that a match alone
    is no proof; None of too few rows.
    """

    columns: tuple[str, ...]
    rows: int
    least: int
    alone: int
    pair: tuple[str, ...]
    pair_alone: int
    strangers: Estimate | None


def linkage(columns: Sequence[str], table: Sequence[Sequence[str]], seed: int = 0) -> Linkage:
    """Counts rows (n) of cells, one for each of the named columns, that are alike.

    seed: of the halves between which strangers are looked for, with an exact interval for people
    who are drawn as the rows were. Raises ValueError for no column, or no row.
    """
    if not columns or not table:
        raise ValueError(f"{len(columns)} columns, {len(table)} rows: expected one of each or more")
    cells = np.array(table, dtype=str)
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in cells.T], 1)
    sizes = _sizes(codes)
    pairs = {
        pair: int((_sizes(codes[:, pair]) == 1).sum())
        for pair in combinations(range(len(columns)), 2)
        if len(columns) > 2
    }
    best = max(pairs, key=pairs.__getitem__, default=None)
    return Linkage(
        tuple(columns),
        len(codes),
        int(sizes.min()),
        int((sizes == 1).sum()),
        () if best is None else tuple(columns[k] for k in best),
        0 if best is None else pairs[best],
        _strangers(codes, seed),
    )


def _sizes(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each row (n, d) how many are like it, itself among them."""
    group = _groups(codes)
    return np.asarray(np.bincount(group)[group], dtype=np.int64)


def _groups(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number (n,) of each row (n, d) of codes from 0, the same for rows that are alike.

    Column by column, whole numbers at a time: whole rows are compared far more slowly, and there
    are as many pairs of columns as half the square of their number.
    """
    group = codes[:, 0]
    for column in codes.T[1:]:
        joined = group * (int(column.max()) + 1) + column
        group = np.unique(joined, return_inverse=True)[1].reshape(-1)
    return np.asarray(group, dtype=np.int64)


def _strangers(codes: NDArray[np.int64], seed: int) -> Estimate | None:
    order = np.random.default_rng(seed).permutation(len(codes))
    half = len(codes) // 2
    if half < _FEWEST:
        return None
    numbers = _groups(codes)[order]  # of all rows, so that both halves are numbered alike
    inside = np.bincount(numbers[:half], minlength=int(numbers.max()) + 1)
    return share(inside[numbers[half:]] == 1)
