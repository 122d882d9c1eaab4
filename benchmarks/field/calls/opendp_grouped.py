"""opendp: a grouped query of polars, with public keys of which some have no record."""

import warnings

import opendp.prelude as dp
import polars as pl
from served import serve

dp.enable_features("contrib")
warnings.simplefilter("ignore")  # of a default that later versions change

CELLS, MOST = 10, 100_000
SCHEMA = {"key": pl.Int64}


def frame(counts):
    """A table that has these counts of records by key."""
    keys = [key for key, count in enumerate(counts) for _ in range(count)]
    return pl.LazyFrame({"key": keys}, schema=SCHEMA)


def measurement():
    """Records by key under epsilon 1, for one record more or less."""
    context = dp.Context.compositor(
        data=frame([1] * CELLS),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
    )
    keys = pl.LazyFrame({"key": list(range(CELLS))}, schema=SCHEMA)
    return context.query().group_by("key").agg(dp.len()).with_keys(keys).resolve()


released = measurement()


def release(counts, size):
    """Noisy counts, in the order of the keys."""
    if sum(counts) > MOST:
        raise ValueError(f"more than {MOST:,} records")
    data = frame(counts)
    found = []
    for _ in range(size):
        row = dict(released(data).collect().iter_rows())
        found.append([row[key] for key in range(CELLS)])
    return found


serve(release)
