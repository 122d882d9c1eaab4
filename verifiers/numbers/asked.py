"""What a run asks of a deployment that releases numbers, and what came of it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix, Vector
from ...reference.numbers import NumberNoise

MOST_COORDINATES = 1_000
"""Coordinates of a release that are looked at; of more, so many that the seed chooses."""


@dataclass(frozen=True)
class Asked:
    """An input: values as the deployment takes them, and the exact numbers (d,) behind a release.

    role: why it is asked, in a word; name: as messages call it.
    """

    values: Any = field(repr=False)
    exact: Vector = field(repr=False)
    role: str
    name: str


@dataclass(frozen=True)
class Batch:
    """Releases (n, d) of one input, in the order asked; calls: the sizes of the calls in it."""

    asked: Asked
    releases: Matrix
    calls: tuple[int, ...]


@dataclass(frozen=True)
class Draws:
    """The numbers of some batches one by one, release after release: each is a draw of the noise.

    coordinates: which (k,) of the releases' numbers are looked at. Releases are stacked, n in all.
    """

    batches: tuple[Batch, ...]
    noise: NumberNoise
    coordinates: NDArray[np.int64]

    @cached_property
    def released(self) -> Matrix:
        """What was released (n, k)."""
        return np.concatenate([batch.releases[:, self.coordinates] for batch in self.batches])

    @cached_property
    def exact(self) -> Matrix:
        """The exact numbers (n, k) behind it."""
        rows = [batch.asked.exact[self.coordinates] for batch in self.batches]
        return np.repeat(np.array(rows), self._sizes, axis=0)

    @cached_property
    def half(self) -> Matrix:
        """Half the width (n, k) of what each number stands for; of float32 where all are such."""
        return self.noise.half_width(self.released, digits_of(self.released))

    @cached_property
    def roles(self) -> NDArray[np.str_]:
        """Why each release's (n,) input was asked."""
        return np.repeat([batch.asked.role for batch in self.batches], self._sizes)

    @cached_property
    def calls(self) -> NDArray[np.int64]:
        """How many releases each release's (n,) call asked for."""
        return np.concatenate([np.repeat(batch.calls, batch.calls) for batch in self.batches])

    @cached_property
    def _sizes(self) -> list[int]:
        return [len(batch.releases) for batch in self.batches]


def digits_of(released: Matrix) -> int:
    """Of the significands of the floats that carry these releases: 24 where all are single."""
    with np.errstate(over="ignore", invalid="ignore"):
        return 24 if (released == released.astype(np.float32)).all() else 53
