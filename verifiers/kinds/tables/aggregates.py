"""`[mechanism.aggregates.NAME]` of a claim of tables: noise, clipping and norms of one number."""

import math
from dataclasses import replace

from pydantic import Field

from ....reference.numbers import NumberNoise
from ....reference.tables import Aggregate, NormBound
from ....reference.tables.bounding import Norm, NormOf
from ....reference.tables.table import NORMED, AggregateKind
from ...claims.tables import Table
from ..numbers.mechanism import NoiseText

_DIVIDED = ("laplace", "gaussian")
"""Noise of a mean whose count is not released, and of that count."""


class AggregateClaim(Table):
    """`[mechanism.aggregates.NAME]`: one number of each partition."""

    noise: NoiseText
    lower: float | None = Field(default=None, ge=-1e12, le=1e12)
    upper: float | None = Field(default=None, ge=-1e12, le=1e12)
    centre: float | None = Field(default=None, ge=-1e12, le=1e12)
    count_noise: NoiseText | None = None
    size: int | None = Field(default=None, ge=1, le=1_000)
    norm: Norm | None = None
    max_norm: float | None = Field(default=None, gt=0, le=1e12)
    norm_of: NormOf | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Of a value that is a number; None of counts and vectors."""
        if self.lower is None or self.upper is None:
            return None
        return self.lower, self.upper

    def checked(self, kind: AggregateKind, centre: float = 0.0) -> Aggregate:
        """The aggregate of a kind; centre: of mean and variance. Raises ValueError."""
        found = self._without_norm(kind, centre)
        bound = self._bound(kind)
        if (kind == "vector-sum") != (self.size is not None):
            raise ValueError(
                f"aggregates.{kind}: a vector-sum needs size, and nothing else takes it"
            )
        if self.count_noise is not None:
            found = replace(found, hidden=self._hidden(kind, self.count_noise))
        return found if bound is None else replace(found, bound=bound)

    def _hidden(self, kind: AggregateKind, noise: NumberNoise) -> NumberNoise:
        """The noise of a count that is not released. Raises ValueError."""
        if kind != "mean":
            raise ValueError(f"aggregates.{kind}: only a mean takes count_noise")
        if str(noise) != str(NumberNoise(noise.family)) or noise.family.family not in _DIVIDED:
            raise ValueError(
                f"aggregates.mean.count_noise = {str(noise)!r}: expected laplace or gaussian noise"
            )
        return noise

    def _bound(self, kind: AggregateKind) -> NormBound | None:
        """The bound on the norm of a user's sums. Raises ValueError."""
        name = f"aggregates.{kind}"
        given = self.norm, self.max_norm, self.norm_of
        if given == (None, None, None) and kind != "vector-sum":
            return None
        if kind not in NORMED:
            raise ValueError(f"{name}: only {', '.join(NORMED)} take norm, max_norm and norm_of")
        if self.norm is None or self.max_norm is None or self.norm_of is None:
            raise ValueError(f"{name}: expected norm, max_norm and norm_of")
        if self.noise.family.whole or self.noise.grid:
            raise ValueError(f"{name}: {self.noise}: sums cut to a norm are no whole numbers")
        return NormBound(self.norm, self.max_norm, self.norm_of)

    def each(self, kind: AggregateKind, centre: float = 0.0) -> list[Aggregate]:
        """The numbers of a partition that it is: of a vector, so many. Raises ValueError."""
        one = self.checked(kind, centre)
        return (
            [replace(one, coordinate=place) for place in range(self.size)] if self.size else [one]
        )

    def _without_norm(self, kind: AggregateKind, centre: float) -> Aggregate:
        name = f"aggregates.{kind}"
        if math.isfinite(self.noise.low) or math.isfinite(self.noise.high):
            raise ValueError(f"{name}.noise = {str(self.noise)!r}: tables take no min and max")
        if kind in ("count", "privacy-id-count", "vector-sum"):
            if (self.lower, self.upper, self.centre) != (None, None, None):
                raise ValueError(f"{name}: only a sum takes lower and upper, and a mean centre too")
            return Aggregate(kind, self.noise)
        if (kind == "mean") != (self.centre is not None):
            raise ValueError(
                f"{name}: a mean needs centre, which is taken off each value before they are "
                "summed (0 for none); a sum takes none, and a variance that of the mean"
            )
        if kind != "sum" and (self.noise.family.whole or self.noise.grid):
            raise ValueError(f"{name}: {self.noise}: a quotient shows no whole noise, nor a grid")
        if self.lower is None or self.upper is None:
            lacking = "lower" if self.lower is None else "upper"
            raise ValueError(f"{name}: expected lower and upper, {lacking} is missing")
        if not self.lower < self.upper:
            ends = f"lower = {self.lower:g}, upper = {self.upper:g}"
            raise ValueError(f"{name}: {ends}: expected lower below upper")
        if self.noise.family.whole and not (self.lower.is_integer() and self.upper.is_integer()):
            raise ValueError(f"{name}: {self.noise} needs whole lower and upper")
        return Aggregate(kind, self.noise, self.lower, self.upper, centre)
