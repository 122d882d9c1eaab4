"""Inputs that a run asks of a deployment of numbers, and the releases that came."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....targets import Target, ask_each
from ....targets.numbers import NumberRelease
from ....targets.replies import CallError
from ..evidence.bins import Placed, Placing

MOST_COORDINATES = 1_000
"""Coordinates of a release that are looked at, at most; of more, the seed chooses so many."""


@unique
class InputRole(StrEnum):
    """Why an input of counts or records is asked; the value is how messages call it."""

    TYPICAL = "typical"
    CHANGED_IN_THE_MIDDLE = "typical but for one in the middle"
    # of counts
    MOVED = "moved by 17"
    REVERSED = "reversed"
    EMPTY = "empty"
    FEW = "few"
    HUNDREDS = "hundreds, and one that has nearly all"
    THOUSANDS = "thousands"
    TENS_OF_THOUSANDS = "tens of thousands"
    MILLIONS = "millions"
    ONE_LARGE_COUNT = "one large count"
    # of records
    REORDERED = "in another order"
    ONE_RECORD = "one record"
    NO_RECORDS = "no records"
    ALIKE = "alike"
    AT_THE_BOUNDS = "at the bounds"
    MANY = "many"


def records_in(values: Any) -> int:
    """How many records values have, of records or tensors; of counts, how many counts."""
    return len(values[0] if isinstance(values, list) else values)


@dataclass(frozen=True)
class Asked:
    """An input.

    values: as the deployment takes them; exact: the numbers (d,) to which noise is added.
    role: why it is asked, a `Role` or that of keys; name: as messages call it.
    """

    values: Any = field(repr=False)
    exact: Vector = field(repr=False)
    role: str
    name: str

    @classmethod
    def of(cls, release: NumberRelease, values: Any, exact: Vector, role: str) -> Self:
        """An input that messages call by its values and its role."""
        return cls(values, exact, role, f"{release.input_text(values)} ({role})")

    @property
    def records(self) -> int:
        """How many records the input has, of records or tensors."""
        return records_in(self.values)


@dataclass(frozen=True)
class Batch:
    """Releases (n, d) of one input, in the order asked.

    calls: the sizes of the calls that gave them; abreast: whether these were in flight together;
    beside: the exact numbers (d,) of another input that was in flight with them, if any.
    """

    asked: Asked
    releases: Matrix
    calls: tuple[int, ...]
    abreast: bool = False
    beside: Vector | None = None


def finite(release: NumberRelease, reply: Any, values: Any, size: int) -> Matrix:
    """The releases (size, d) in a reply. Raises TargetError where one is not finite."""
    found = release.shaped(reply, values, size)
    finite = np.isfinite(found) | release.lacks  # whose own checks leave NaN for what is lacking
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise CallError(
            release.text(values, size),
            f"released {found[row, column]} at place {row}, coordinate {column}: expected finite "
            "numbers",
        )
    return found


def asked_for(target: Target, release: NumberRelease, asked: Asked, sizes: Sequence[int]) -> Batch:
    """The releases of calls of these sizes, in flight together where the target takes them so.

    Raises as `Target.ask`, and TargetError for a reply of wrong shape or type.
    """
    replies, _ = ask_each(target, [(asked.values, size) for size in sizes])
    found = [
        finite(release, reply, asked.values, size)
        for reply, size in zip(replies, sizes, strict=True)
    ]
    releases = found[0] if len(found) == 1 else np.concatenate(found)
    return Batch(asked, releases, tuple(sizes), abreast=len(found) > 1)


def asked_together(
    target: Target, release: NumberRelease, pair: tuple[Asked, Asked], calls: int
) -> tuple[Batch, Batch]:
    """The releases of so many calls for one of each input, in turn, in flight together.

    Raises as `asked_for`.
    """
    replies, _ = ask_each(target, [(asked.values, 1) for asked in pair] * calls)
    batches = []
    for place, asked in enumerate(pair):
        found = [finite(release, reply, asked.values, 1) for reply in replies[place::2]]
        other, sizes = pair[1 - place].exact, (1,) * calls
        batches.append(Batch(asked, np.concatenate(found), sizes, abreast=True, beside=other))
    return batches[0], batches[1]


@dataclass(frozen=True)
class Draws:
    """Draws of the noise: the numbers of all releases in some batches, n releases in all.

    placing: puts draws into bins; coordinates (k,): which numbers of each release are looked at.
    """

    batches: tuple[Batch, ...]
    placing: Placing
    coordinates: NDArray[np.int64]

    @cached_property
    def released(self) -> Matrix:
        """The numbers released (n, k) that are looked at."""
        return np.concatenate([batch.releases[:, self.coordinates] for batch in self.batches])

    @cached_property
    def exact(self) -> Matrix:
        """The exact numbers (n, k) behind `released`."""
        rows = [batch.asked.exact[self.coordinates] for batch in self.batches]
        return np.repeat(np.array(rows), self._sizes, axis=0)

    @cached_property
    def whole(self) -> tuple[Matrix, Matrix]:
        """Every number released (n, d), looked at or not, and the exact ones (n, d) behind it."""
        if self.coordinates.size == self.batches[0].asked.exact.size:
            return self.released, self.exact
        exact = np.array([batch.asked.exact for batch in self.batches])
        released = np.concatenate([batch.releases for batch in self.batches])
        return released, np.repeat(exact, self._sizes, axis=0)

    @cached_property
    def digits(self) -> int:
        """Digits of the floats that carry these releases; see `digits_of`."""
        return digits_of(self.released)

    @cached_property
    def placed(self) -> Placed:
        """These draws (n, k) in bins."""
        return self.placing.placed(self.released, self.exact, self.digits)

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The roles of the inputs, each once."""
        return tuple(dict.fromkeys(batch.asked.role for batch in self.batches))

    def of_role(self, role: str) -> NDArray[np.bool_]:
        """Which releases (n,) are of inputs of this role."""
        return np.repeat([batch.asked.role == role for batch in self.batches], self._sizes)

    @cached_property
    def calls(self) -> NDArray[np.int64]:
        """The size (n,) of the call that gave each release."""
        return np.concatenate([np.repeat(batch.calls, batch.calls) for batch in self.batches])

    @cached_property
    def _sizes(self) -> list[int]:
        return [len(batch.releases) for batch in self.batches]


def digits_of(released: Matrix) -> int:
    """Binary digits of the floats that carry releases: 24 where all are single, else 53."""
    with np.errstate(over="ignore", invalid="ignore"):
        return 24 if (released == released.astype(np.float32)).all() else 53
