"""opendp: a query of polars by partition, of users with several rows; words: sum or count."""

import sys
import warnings

import opendp.prelude as dp
import polars as pl
from served import serve_tables

dp.enable_features("contrib")
warnings.simplefilter("ignore")  # of a default that later versions change

PUBLIC, ROWS = ["a", "b", "c", "d", "e", "f"], 3
SCHEMA = {"user": pl.Int64, "partition": pl.String, "value": pl.Int64}
NAME = sys.argv[1]


def frame(rows):
    """A lazy frame of rows (user, partition, value)."""
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    data = dict(zip(SCHEMA, map(list, columns), strict=True))
    return pl.LazyFrame({**data, "value": [int(v) for v in data["value"]]}, schema=SCHEMA)


def asked():
    """The measurement: three rows of a user at random, epsilon 1."""
    margin = dp.polars.Margin(by=["partition"], max_length=100_000)
    context = dp.Context.compositor(
        data=frame([[1, "a", 1.0]]),
        privacy_unit=dp.unit_of(contributions=1, identifier="user"),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[margin],
    )
    number = dp.len(signed=True) if NAME == "count" else pl.col("value").dp.sum((0, 10))
    query = context.query().truncate_per_group(ROWS).group_by("partition").agg(number.alias("n"))
    return query.with_keys(pl.LazyFrame({"partition": PUBLIC})).resolve()


released = asked()


def table(rows):
    """One release."""
    found = released(frame(rows)).collect()
    return [{"partition": key, NAME: n} for key, n in found.select("partition", "n").iter_rows()]


serve_tables(table)
