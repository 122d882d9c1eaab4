"""`[mechanism]` of a claim of tables: bounds of a user, which partitions are released."""

from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from ....reference.numbers import NumberNoise
from ....reference.tables import (
    Bounding,
    NoisyTable,
    Selection,
    Threshold,
    TruncatedGeometric,
)
from ....reference.tables.bounding import Kept
from ....reference.tables.table import AggregateKind
from ...claims.tables import Fitted, Refuses, Table, add_aliases, check_refuses
from ...targets.frames import PARTS, Part, RowsForm
from ...text import counted
from ..numbers.mechanism import NoiseText
from .aggregates import AggregateClaim

OF_TABLES = ("table",)
"""Mechanisms that release tables."""

_ALIASES = {
    "max_partitions_contributed": "max_partitions",
    "max_contributions_per_partition": "max_per_partition",
    "max_contributions": "max_rows",
}
"""Keys as engines call them."""

_MOST = 10_000
"""Bounds of a user, and public partitions, at most."""

MOST_USERS = 5_000
"""Users, or rows, of a partition that is released for certain, at most."""

SELECTED_BY: dict[str, AggregateKind] = {"users": "privacy-id-count", "rows": "count"}
"""What a selection counts, as the aggregate that counts it."""


class SelectionClaim(Table):
    """`[mechanism.selection]`: which private partitions are released.

    epsilon, delta: of the truncated geometric strategy, divided among `max_partitions`.
    """

    strategy: Literal["threshold", "truncated-geometric"]
    counts: Literal["users", "rows"]
    draw: Literal["own", "released"] = "own"
    noise: NoiseText | None = None
    threshold: float | None = Field(default=None, ge=0, le=1e9)
    compare: Literal[">", ">="] | None = None
    epsilon: float | None = Field(default=None, gt=0, le=1e4)
    delta: float | None = Field(default=None, gt=0, lt=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        of_threshold = {"threshold", "compare", *(["noise"] if self.draw == "own" else [])}
        needed = of_threshold if self.strategy == "threshold" else {"epsilon", "delta"}
        every = ("noise", "threshold", "compare", "epsilon", "delta")
        lacking = [key for key in every if key in needed and getattr(self, key) is None]
        if lacking:
            raise ValueError(f'strategy = "{self.strategy}" needs {" and ".join(lacking)}')
        more = [key for key in every if key not in needed and getattr(self, key) is not None]
        if more:
            raise ValueError(
                f'{more[0]}: strategy = "{self.strategy}", draw = "{self.draw}" does not take it'
            )
        if self.strategy != "threshold" and self.draw != "own":
            raise ValueError(f'draw = "{self.draw}": {self.strategy} has a draw of its own')
        return self

    def law(self, noise: NumberNoise | None, partitions: int) -> Selection:
        """The law; noise: of a threshold; partitions: of a user at most."""
        if self.strategy == "threshold":
            assert noise is not None
            assert self.threshold is not None
            return Threshold(noise, self.threshold, self.compare == ">")
        assert self.epsilon is not None
        assert self.delta is not None
        return TruncatedGeometric.split(self.epsilon, self.delta, partitions)


class MissingClaim(Table):
    """`[mechanism.missing]`: what becomes of rows that lack a part; nothing is said of others."""

    user: Literal["dropped", "refused"] | None = None
    partition: Literal["dropped", "refused"] | None = None
    value: Literal["dropped", "refused"] | None = None

    @property
    def parts(self) -> dict[Part, str]:
        """What is claimed, by part."""
        each: dict[Part, str | None] = {part: getattr(self, part) for part in PARTS}
        return {part: how for part, how in each.items() if how is not None}


class TableMechanism(Table):
    """`[mechanism]`: what an engine makes of rows of (user, partition, value)."""

    model_config = ConfigDict(json_schema_extra=lambda schema: add_aliases(schema, _ALIASES))

    name: Literal["table"]
    adjacency: Literal["add-remove", "replace-one"]
    kept: Kept
    unit: Literal["user"] = "user"
    max_partitions: int | None = Field(default=None, ge=1, le=_MOST)
    max_per_partition: int | None = Field(default=None, ge=1, le=_MOST)
    max_rows: int | None = Field(default=None, ge=1, le=_MOST)
    aggregates: dict[AggregateKind, AggregateClaim] = Field(min_length=1)
    partitions: list[str] | list[int] | None = Field(default=None, min_length=1, max_length=_MOST)
    selection: SelectionClaim | None = None
    rows: RowsForm = "array"
    missing: MissingClaim = MissingClaim()
    users_as_text: bool = False
    largest_input: int | None = Field(default=None, ge=20_000, le=200_000)
    refuses: Refuses = None
    fitted: Fitted = None

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, given: Any) -> Any:
        """Takes the names that engines give to the bounds of a user."""
        if not isinstance(given, dict):
            return given
        for alias, key in _ALIASES.items():
            if alias in given and key in given:
                raise ValueError(f"{alias} and {key} are one key: expected one of them")
        return {_ALIASES.get(key, key): value for key, value in given.items()}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            bounding = self._bounding
        except ValueError as error:
            raise ValueError(f"the bounds of a user: {error}") from None
        for kind, aggregate in self.aggregates.items():
            aggregate.checked(kind)
        self._check_norms()
        if "mean" in self.aggregates:
            known = self.aggregates["mean"].count_noise is not None
            if ("count" in self.aggregates) == known or "sum" in self.aggregates:
                raise ValueError(
                    "aggregates.mean: expected count beside it, or its count_noise where the count "
                    "is not released, and no sum"
                )
            if known and (self.selection is not None or "variance" in self.aggregates):
                raise ValueError(
                    "aggregates.mean: count_noise is for public partitions, no variance"
                )
        if "variance" in self.aggregates and "mean" not in self.aggregates:
            raise ValueError("aggregates.variance: expected mean and count beside it")
        if (self.partitions is None) == (self.selection is None):
            there = "neither is there" if self.selection is None else "both are there"
            raise ValueError(
                f"expected either partitions, a public list, or selection of private ones: {there}"
            )
        if self.partitions is not None and len({*self.partitions}) < len(self.partitions):
            raise ValueError("partitions: expected each of them once")
        if self.selection is not None:
            self._check_selection(self.selection, bounding)
        return self

    @model_validator(mode="after")
    def _of_its_form(self) -> Self:
        check_refuses(self.refuses, self.adjacency)
        if self.users_as_text and self.rows == "polars":
            raise ValueError("users_as_text: users in a frame of polars (rows) have one type")
        return self

    def _check_selection(self, selection: SelectionClaim, bounding: Bounding) -> None:
        counted = SELECTED_BY[selection.counts]
        if selection.draw == "released" and counted not in self.aggregates:
            raise ValueError(
                f'selection.draw = "released": expected the aggregate {counted}, whose released '
                "number is compared with the threshold"
            )
        if self.sure is None:
            raise ValueError(
                f"selection: no partition of up to {MOST_USERS:,} {selection.counts} is released "
                "for certain, so that nothing else could be judged"
            )

    @property
    def _bounding(self) -> Bounding:
        return Bounding(self.max_partitions, self.max_per_partition, self.max_rows, self.kept)

    def _check_norms(self) -> None:
        """What bounds on norms ask of the rest. Raises ValueError."""
        given = {kind: one.norm_of for kind, one in self.aggregates.items()}
        if self.kept == "all":
            without = [kind for kind, of in given.items() if of != "user"]
            if without:
                raise ValueError(
                    f'kept = "all": aggregates.{without[0]} does not bound what a user adds up to, '
                    'expected norm, max_norm and norm_of = "user"'
                )
            if self.selection is not None:
                raise ValueError('kept = "all": a selection needs max_partitions')
        elif "user" in given.values():
            raise ValueError('norm_of = "user" expects kept = "all": no rows are dropped')
        elif "partition" in given.values() and self.max_rows is not None:
            raise ValueError('norm_of = "partition" expects max_partitions and max_per_partition')
        if "vector-sum" in self.aggregates:
            scalar = sorted(kind for kind, one in self.aggregates.items() if one.bounds)
            if scalar:
                raise ValueError(
                    f"aggregates.{scalar[0]}: values are vectors, as vector-sum has it"
                )
            if self.missing.value is not None:
                raise ValueError("missing.value: it is not asked of vectors")

    @property
    def centre(self) -> float | None:
        """That of the mean, where there is one."""
        found = self.aggregates.get("mean")
        return None if found is None else found.centre

    @property
    def divided(self) -> float | None:
        """The centre of a mean from which, with the count beside it, the noisy sum is read."""
        return self.centre if "count" in self.aggregates else None

    @property
    def vector_size(self) -> int:
        """Numbers of a value that is a vector; 0 where values are numbers."""
        found = self.aggregates.get("vector-sum")
        return 0 if found is None else found.size or 0

    @cached_property
    def table(self) -> NoisyTable:
        """The claimed engine."""
        kinds = list(self.aggregates)
        aggregates = tuple(
            one for kind in kinds for one in self.aggregates[kind].each(kind, self.centre or 0.0)
        )
        bounding, selection = self._bounding, self.selection
        if selection is None:
            return NoisyTable(bounding, aggregates, len(self.partitions or ()))
        counted = SELECTED_BY[selection.counts]
        names = [one.name for one in aggregates]
        released = names.index(counted) if selection.draw == "released" else None
        noise = selection.noise if released is None else aggregates[released].noise
        law = selection.law(noise, bounding.partitions)
        return NoisyTable(bounding, aggregates, None, law, counted, released)

    @cached_property
    def sure(self) -> int | None:
        """The fewest users, or rows, of a partition that is always released; None if too many."""
        table = self.table
        if table.listed is not None:
            return 1

        def surely(count: int) -> bool:
            return bool(table.surely_kept(np.array([float(count)]))[0])

        low, high = 0, 1
        while not surely(high):
            low, high = high, 2 * high
            if low > MOST_USERS:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if surely(middle) else (middle, high)
        return high if high <= MOST_USERS else None

    @property
    def added(self) -> NumberNoise:
        """The noise of the first aggregate."""
        return self.table.aggregates[0].noise

    @property
    def width(self) -> int:
        """Numbers in a release, as far as calls are sized by them."""
        return len(self.table.aggregates) * len(self.partitions or range(10))

    @property
    def summary(self) -> str:
        """The claim in a few words, as reports head themselves."""
        bounds = f"at most {self.max_rows} rows"
        if self.max_rows is None and self.max_partitions and self.max_per_partition:
            partitions = counted(self.max_partitions, "partition", "partitions")
            rows = counted(self.max_per_partition, "row", "rows")
            bounds = f"at most {partitions} of {rows} each"
        if self.kept == "all":
            bounds = "bounded norms"
        noise = ", ".join(f"{kind} with {one.noise}" for kind, one in self.aggregates.items())
        of = "private partitions"
        if self.partitions is not None:
            of = f"{len(self.partitions):,} public partitions"
        return f"table of {of}: {noise}, {self.adjacency} of a user of {bounds}"
