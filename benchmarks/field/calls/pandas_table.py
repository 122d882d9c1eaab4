"""pandas, by hand: a pipeline as people write it; words: what is left out, or done otherwise."""

import sys

import numpy as np
import pandas as pd
from served import serve_tables

PUBLIC = ["a", "b", "c", "d", "e", "f"]
WORDS = set(sys.argv[1:])
rng = np.random.default_rng()


def some(frame, by, most):
    """At most so many rows of each group, at random, or `head` of them as they come."""
    order = frame if "head" in WORDS else frame.sample(frac=1.0, random_state=rng)
    return order.groupby(by, sort=False).head(most)


def table(rows):
    """One release."""
    frame = pd.DataFrame(rows, columns=["user", "partition", "value"])
    frame = frame[frame["partition"].isin(PUBLIC)]
    if "duplicates" in WORDS:
        frame = frame.drop_duplicates()
    frame = some(frame, ["user", "partition"], 2)
    if "partitions" not in WORDS:
        pairs = some(frame[["user", "partition"]].drop_duplicates(), "user", 3)
        frame = frame.merge(pairs, on=["user", "partition"])
    by = frame.assign(value=frame["value"].clip(0.0, 10.0)).groupby("partition")
    made = pd.DataFrame({"count": by.size(), "sum": by["value"].sum()})
    made = made.reindex(PUBLIC, fill_value=0.0).astype(float)
    made["count"] += rng.laplace(0.0, 12.0, len(made))
    made["sum"] += rng.laplace(0.0, 120.0, len(made))
    return made.rename_axis("partition").reset_index().to_dict("records")


serve_tables(table)
