"""Pipelines of frames, of pandas and of polars, as they are written in notebooks."""

from typing import Any

import numpy as np

from .broken import BOUNDING, broken
from .shelf import LISTED, MISSING, PUBLIC

PANDAS = PUBLIC.replace(LISTED, LISTED + 'rows = "pandas"\n')
POLARS = PUBLIC.replace(LISTED, LISTED + 'rows = "polars"\n')
MISSING_POLARS = POLARS.replace(LISTED, LISTED + MISSING)


class OfPandas:
    """A pipeline of pandas, as it is written in notebooks."""

    def __init__(self, claim: Any, rng: np.random.Generator) -> None:
        self.of, self.rng = claim.mechanism, rng

    def __call__(self, frame: Any, size: int) -> Any:
        return [self.release(frame) for _ in range(size)]

    def release(self, frame: Any) -> Any:
        import pandas as pd

        rows = frame[frame["partition"].isin(self.of.partitions)]
        rows = rows.sample(frac=1.0, random_state=self.rng)
        rows = rows.groupby(["user", "partition"], sort=False).head(self.of.max_per_partition)
        pairs = (
            rows[["user", "partition"]].drop_duplicates().sample(frac=1.0, random_state=self.rng)
        )
        pairs = pairs.groupby("user", sort=False).head(self.of.max_partitions)
        rows = rows.merge(pairs, on=["user", "partition"])
        sums = self.of.aggregates["sum"]
        by = rows.assign(value=rows["value"].clip(sums.lower, sums.upper)).groupby("partition")
        exact = pd.DataFrame(
            {"count": by.size(), "privacy-id-count": by["user"].nunique(), "sum": by["value"].sum()}
        ).reindex(self.of.partitions, fill_value=0.0)
        for name, aggregate in self.of.aggregates.items():
            exact[name] += self.rng.laplace(0.0, aggregate.noise.family.scale, len(exact))
        return exact.rename_axis("partition").reset_index()


class OfPolars:
    """A pipeline of polars; `complete` is the stage that drops rows which lack a part."""

    def __init__(self, claim: Any, rng: np.random.Generator) -> None:
        self.of, self.rng = claim.mechanism, rng

    def __call__(self, frame: Any, size: int) -> Any:
        return [self.release(frame) for _ in range(size)]

    def complete(self, frame: Any) -> Any:
        return frame.drop_nulls().drop_nans()

    def some(self, frame: Any, by: list[str], most: int) -> Any:
        """At most so many rows of each group, chosen anew each time."""
        import polars as pl

        drawn = frame.with_columns(turn=pl.Series(self.rng.permutation(len(frame))))
        return drawn.filter(pl.col("turn").rank("ordinal").over(by) <= most).drop("turn")

    def release(self, frame: Any) -> Any:
        import polars as pl

        rows = self.complete(frame).filter(pl.col("partition").is_in(self.of.partitions))
        rows = self.some(rows, ["user", "partition"], self.of.max_per_partition)
        pairs = self.some(
            rows.select("user", "partition").unique(), ["user"], self.of.max_partitions
        )
        rows = rows.join(pairs, on=["user", "partition"])
        sums = self.of.aggregates["sum"]
        exact = rows.group_by("partition").agg(
            pl.len().alias("count"),
            pl.col("user").n_unique().alias("privacy-id-count"),
            pl.col("value").clip(sums.lower, sums.upper).sum().alias("sum"),
        )
        listed = pl.DataFrame({"partition": self.of.partitions})
        exact = listed.join(exact, on="partition", how="left").fill_null(0)
        noise = {
            name: pl.col(name) + self.rng.laplace(0.0, one.noise.family.scale, len(exact))
            for name, one in self.of.aggregates.items()
        }
        return exact.with_columns(**noise)


@broken(MISSING_POLARS, BOUNDING, code="number-not-finite", aggregate="sum")
class NullsOfPolarsAreDroppedAndNanIsNot(OfPolars):
    def complete(self, frame: Any) -> Any:
        return frame.drop_nulls()
