"""opendp: a sum by polars of a group that is known to have a hundred records at most."""

import warnings

import opendp.prelude as dp
import polars as pl
from served import one_by_one, serve

dp.enable_features("contrib")
warnings.simplefilter("ignore")  # of a default that later versions change

MOST, BOUND, SCALE = 100, 10, 1000.0
SCHEMA = {"group": pl.String, "value": pl.Int32}


def measurement():
    """A sum of values from -BOUND to BOUND in one group, by a margin of MOST records."""
    domain = dp.with_margin(
        dp.lazyframe_domain(
            [
                dp.series_domain("group", dp.atom_domain(T=str)),
                dp.series_domain("value", dp.atom_domain(T=int)),
            ]
        ),
        dp.polars.Margin(by=["group"], max_length=MOST, max_groups=1, invariant="keys"),
    )
    query = (
        pl.LazyFrame(schema=SCHEMA)
        .group_by("group")
        .agg(pl.col("value").dp.sum((-BOUND, BOUND), scale=SCALE))
    )
    return dp.m.make_private_lazyframe(domain, dp.symmetric_distance(), dp.max_divergence(), query)


released = measurement()


def release_once(records):
    """The noisy sum of at most MOST whole numbers, in one group that is always there."""
    if not 1 <= len(records) <= MOST:
        raise ValueError(f"{len(records)} records: 1 to {MOST} are public")
    values = [number for (number,) in records]
    if any(value != int(value) or abs(value) > 2**31 - 1 for value in values):
        raise ValueError("a record is no whole number of 32 bits")
    frame = pl.LazyFrame(
        {"group": ["all"] * len(values), "value": [int(value) for value in values]}, schema=SCHEMA
    )
    return released(frame).collect()["value"].to_list()


serve(one_by_one(release_once))
