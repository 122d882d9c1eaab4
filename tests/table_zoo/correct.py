"""Correct engines, some of which look like broken ones."""

from collections import Counter
from typing import Any

import numpy as np

from .engine import Engine, _grouped
from .frames import MISSING_POLARS, PANDAS, POLARS, OfPandas, OfPolars
from .means import MeanEngine
from .norms import NormEngine
from .roundings import WholeCounts
from .shelf import (
    ALONE,
    BOTH,
    CUT,
    CUT_KEYS,
    GEOMETRIC,
    HEAD,
    LARGE,
    LISTED,
    MEAN,
    OF_USER,
    OWN,
    PUBLIC,
    RELEASED,
    THREE,
    UNUSUAL,
    UNUSUAL_KEYS,
    VARIANCE,
    VECTOR,
    entry,
    name_of,
)

FIRST = PUBLIC.replace('kept = "uniform"', 'kept = "first"')
LAST = GEOMETRIC.replace('kept = "uniform"', 'kept = "last"')
ANY = PUBLIC.replace('kept = "uniform"', 'kept = "any"')
ROWS = HEAD + 'max_rows = 4\nkept = "uniform"\n' + LISTED + THREE
TWO = PUBLIC.replace("max_partitions = 3", "max_partitions = 2")
GAUSSIAN = PUBLIC.replace("laplace", "gaussian")
WHOLE = PUBLIC.replace('"laplace', '"discrete-laplace')
ON_A_GRID = PUBLIC.replace('laplace:18"', 'laplace:18;grid=2^-20"')
ONE = BOTH.replace("= 3", "= 1").replace("= 2", "= 1") + LISTED
ONE += '[mechanism.aggregates]\nsum = {noise = "gaussian:7", lower = -0.5, upper = 1.5}\n'
ON_ROWS = OWN.replace('counts = "users"', 'counts = "rows"').replace("laplace:3", "gaussian:5")
VECTOR_L2 = VECTOR.replace("laplace", "gaussian").replace("l1", "l2")
VECTOR_LINF = VECTOR.replace('"l1"', '"linf"').replace('kept = "uniform"', 'kept = "first"')
OF_USER_L1 = OF_USER.replace("gaussian", "laplace").replace('"l2"', '"l1"')
CUT_SUM = (
    BOTH
    + LISTED
    + '[mechanism.aggregates]\nsum = {noise = "laplace:60", lower = -50.0, upper = 50.0, '
    + 'norm = "linf", max_norm = 20.0, norm_of = "partition"}\n'
)


class Reference:
    """The reference implementation."""

    def __init__(self, claim: Any, rng: np.random.Generator) -> None:
        self.table, self.claim, self.rng = claim.mechanism.table, claim, rng

    def __call__(self, rows: Any, size: int) -> Any:
        made = self.claim.release.rows_of(rows, self.claim.mechanism.missing.parts)
        return self.table.sample(made, len(self.claim.keys), size, self.rng).reshape(size, -1)


class ByHash(Engine):
    """A hash of the user, the partition and the value says what stays: drawn once for ever."""

    def some(self, values, most):
        return sorted(values, key=lambda value: hash((value, 7)))[:most]


class SpellingsAreOne(Engine):
    """Cases and blanks tell no partitions apart, from the first stage on."""

    def complete(self, rows):
        found = super().complete(rows)
        return [(u, p.strip().casefold() if isinstance(p, str) else p, v) for u, p, v in found]


class UnlistedPartitionsCount(Engine):
    """Partitions that are not listed use up a user's bounds, and are left out of the table."""

    def prepared(self, rows):
        return self.complete(rows)

    def aggregated(self, pairs):
        return super().aggregated({(u, p): v for (u, p), v in pairs.items() if p in self.public})


class ChunksAreBoundedTogether(Engine):
    """Chunks of 10,000 rows, of which users have so many on the way, and are bounded at the end."""

    def bounded(self, rows):
        parts = [self.chunk(rows[k : k + 10_000]) for k in range(0, len(rows), 10_000)]
        return super().bounded([row for part in parts for row in part])

    def chunk(self, rows):
        most, seen, kept = self.of.max_per_partition * 1_000, Counter(), []
        for user, partition, value in rows:
            seen[user, partition] += 1
            if seen[user, partition] <= most:
                kept.append((user, partition, value))
        return kept


class UsersInDoubles(Engine):
    """Numbers of users are doubles, which tell all whole numbers up to 2^53 apart."""

    def prepared(self, rows):
        return [(float(user), p, v) for user, p, v in super().prepared(rows)]


class NegativeUsersAreRefused(Engine):
    """Users are numbers without a sign."""

    def complete(self, rows):
        if any(user < 0 for user, _, _ in rows):
            raise ValueError("users are numbers from 0")
        return super().complete(rows)


class SmallTablesAreBoundedOtherwise(Engine):
    """Of few rows all is sorted by chance first, and the first rows and partitions stay."""

    def bounded(self, rows):
        if len(rows) >= 32:
            return super().bounded(rows)
        pairs = _grouped([rows[place] for place in self.rng.permutation(len(rows))])
        found = {}
        for user, partition in (list(pairs)[k] for k in self.rng.permutation(len(pairs))):
            own = sum(other == user for other, _ in found)
            if own < self.of.max_partitions:
                found[user, partition] = pairs[user, partition][: self.of.max_per_partition]
        return found


class NamesOf64Characters(Engine):
    """A column of partitions is as wide as their names."""

    def prepared(self, rows):
        return [(u, str(p)[:64], v) for u, p, v in super().prepared(rows)]


class InAnotherOrder(Engine):
    """Partitions stand in the order of their noisy counts."""

    def release(self, rows):
        return sorted(super().release(rows), key=lambda row: row["count"])


CORRECT = [
    entry(f"{name_of(made)} {place}", text, made)
    for made, texts in {
        Reference: (
            PUBLIC,
            GEOMETRIC,
            RELEASED,
            OWN,
            FIRST,
            LAST,
            ANY,
            ROWS,
            GAUSSIAN,
            WHOLE,
            ON_A_GRID,
            ONE,
            ON_ROWS,
            UNUSUAL_KEYS,
            VECTOR,
            OF_USER,
            ALONE,
            CUT,
        ),
        Engine: (
            PUBLIC,
            GEOMETRIC,
            RELEASED,
            OWN,
            FIRST,
            LAST,
            ROWS,
            GAUSSIAN,
            ON_ROWS,
            MEAN,
            VARIANCE,
            UNUSUAL,
            UNUSUAL.replace('"dropped"', '"refused"'),
        ),
        NormEngine: (VECTOR, VECTOR_L2, VECTOR_LINF, OF_USER, OF_USER_L1, CUT_SUM),
        WholeCounts: (CUT, CUT_KEYS),
        MeanEngine: (ALONE, ALONE.replace("laplace", "gaussian")),
        ByHash: (ANY,),
        InAnotherOrder: (GEOMETRIC, PUBLIC),
        SpellingsAreOne: (PUBLIC, FIRST, TWO),
        UnlistedPartitionsCount: (PUBLIC,),
        UsersInDoubles: (PUBLIC, GEOMETRIC),
        NegativeUsersAreRefused: (PUBLIC,),
        SmallTablesAreBoundedOtherwise: (PUBLIC,),
        NamesOf64Characters: (GEOMETRIC,),
        ChunksAreBoundedTogether: (LARGE,),
        OfPandas: (PANDAS,),
        OfPolars: (POLARS, MISSING_POLARS),
    }.items()
    for place, text in enumerate(texts)
]
