"""opendp 0.12: a sum by public keys, of three rows of a user that are chosen by hand before."""

import random

import opendp.prelude as dp
import polars as pl
from served import serve_tables

dp.enable_features("contrib")

PUBLIC, ROWS = ["a", "b", "c", "d", "e", "f"], 3
SCHEMA = {"partition": pl.String, "value": pl.Int64}
KEYS = pl.LazyFrame({"partition": PUBLIC})
rng = random.SystemRandom()


def bounded(rows):
    """Three rows of a user at random, as a lazy frame."""
    own = {}
    for user, key, value in rows:
        own.setdefault(user, []).append((key, int(value)))
    few = [row for each in own.values() for row in rng.sample(each, min(ROWS, len(each)))]
    return pl.LazyFrame(few, schema=SCHEMA, orient="row")


def table(rows):
    """One release: epsilon 1 for three rows of a user."""
    context = dp.Context.compositor(
        data=bounded(rows),
        privacy_unit=dp.unit_of(contributions=ROWS),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins={("partition",): dp.polars.Margin(max_partition_length=100_000)},
    )
    number = pl.col("value").fill_null(0).dp.sum((0, 10))
    query = context.query().group_by("partition").agg(number.alias("sum"))
    found = query.with_keys(KEYS).release().collect()
    return found.select("partition", "sum").to_dicts()


serve_tables(table)
