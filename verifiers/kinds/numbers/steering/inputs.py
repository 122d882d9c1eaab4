"""Inputs of counts, records and tensors in which some number of records, or a count, is as wished.

What is in them matters: thousands of records of 0 pass a line that samples them, and show nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .....reference.arrays import Matrix
from ..mechanism import RECORDS, NumberMechanism
from ..planning.asked import records_in
from ..planning.bounds import Bounds
from ..planning.plan import NumbersPlan, as_values, records_within

GROWS = "records"
"""The way of inputs of which several sizes are kept: beyond a threshold the effect may grow."""

SERVED = (GROWS, "at the bound", "total", "one count", "every count", "counts above 0")
"""Ways of inputs that any claim serves: finite, within the bounds, in the usual type."""

_LARGEST_COUNT = 1 << 24  # up to which single floats hold whole numbers
_BEYOND = (2.0, 10.0)  # ends, as far from the middle
_MOST_MAGNITUDE = 1e12


@dataclass(frozen=True)
class Made:
    """An input as the deployment takes it, how it was made, and how many records it has."""

    values: Any
    way: str
    records: int


class Inputs(ABC):
    """The inputs of a claim; typical: of the plan."""

    def __init__(self, mechanism: NumberMechanism, plan: NumbersPlan, seed: int) -> None:
        self.mechanism, self.width, self._seed = mechanism, mechanism.width, seed
        self.typical = plan.inputs[0].values

    def rng(self, *of: int) -> np.random.Generator:
        """The generator of an input: what it is made of does not depend on those before it."""
        return np.random.default_rng([self._seed, 61, *of])

    @abstractmethod
    def plain(self, size: int) -> Iterator[Made]:
        """The input with so many records, the one that tells most."""

    @abstractmethod
    def sized(self, size: int) -> Iterator[Made]:
        """Other inputs in which some feature has this value."""

    @abstractmethod
    def others(self) -> Iterator[Made]:
        """Inputs of the usual size, in other orders, types and beyond the bounds."""

    def broken(self, size: int) -> Iterator[Any]:
        """Inputs of so many records that may be refused, as one of them is no finite number."""
        return iter(())


class OfRecords(Inputs):
    """Records (n, d) in a box or within a norm, and gradients, one of each record."""

    def __init__(self, mechanism: NumberMechanism, plan: NumbersPlan, seed: int) -> None:
        super().__init__(mechanism, plan, seed)
        self._bounds = Bounds.of(mechanism)
        self._usual = records_in(self.typical)

    def mixed(self, size: int) -> Matrix:
        """Records (size, d) between the bounds; of many, at either of them, which floats add."""
        return records_within(self.mechanism, self.rng(size), size, edge=size > RECORDS)

    def plain(self, size: int) -> Iterator[Made]:
        yield self._made(self.mixed(size), GROWS)

    def sized(self, size: int) -> Iterator[Made]:
        bounds = self._bounds
        edge = records_within(self.mechanism, self.rng(size, 1), size, edge=True)
        if bounds.order is None:
            edge[:] = bounds.end(bounds.farther)
        yield self._made(edge, "at the bound")
        if bounds.order is None:
            yield self._made(self._beyond(self.mixed(size), _BEYOND[0]), "beyond the bounds")
        usual = self.mixed(self._usual)
        for sign in (1.0, -1.0) if size <= _MOST_MAGNITUDE else ():
            one = np.array(usual)
            one[-1] = bounds.record(sign * size, 0)
            yield self._made(one, "a number of this size")

    def others(self) -> Iterator[Made]:
        usual = self.mixed(self._usual)
        by_first = usual[np.argsort(usual[:, 0], kind="stable")]
        yield self._made(by_first, "ascending")
        yield self._made(by_first[::-1].copy(), "descending")
        for times in _BEYOND:
            yield self._made(self._beyond(usual, times), "beyond the bounds")
            yield self._made(self._beyond(usual, times, all_of_them=True), "all beyond the bounds")
        lone = np.array(usual)
        lone[1:] = self._bounds.nearest
        yield self._made(lone, "one record that counts")
        least = np.zeros_like(usual)
        if self._bounds.order is None:
            least[:] = self._bounds.end(-self._bounds.farther)
        yield self._made(least, "at the other bound")
        single = as_values(self.mechanism, usual.astype(np.float32))
        yield Made(single, "single precision", self._usual)

    def _beyond(self, records: Matrix, times: float, *, all_of_them: bool = False) -> Matrix:
        """Records (n, d) of which every second, or every one, lies beyond the bounds."""
        found, bounds = np.array(records), self._bounds
        step = 1 if all_of_them else 2
        if bounds.order is not None:
            norms = np.linalg.norm(found[::step], bounds.order, axis=1, keepdims=True)
            found[::step] *= times * bounds.upper / np.maximum(norms, 1e-300)
            return found
        ends = [bounds.beyond(sign, times) for sign in (1.0, -1.0)]
        found[::step] = self.rng(len(records), 2).choice(ends, found[::step].shape)
        return found

    def broken(self, size: int) -> Iterator[Any]:
        for word in (np.nan, np.inf):
            records = self.mixed(size)
            if size:
                records[-1] = word
                yield as_values(self.mechanism, records)

    def _made(self, records: Matrix, way: str) -> Made:
        return Made(as_values(self.mechanism, records), way, len(records))


class OfCounts(Inputs):
    """Counts (cells,) of a histogram, or the one of a count."""

    def plain(self, size: int) -> Iterator[Made]:
        if size <= _LARGEST_COUNT:
            share = self.rng(size).dirichlet(np.full(self.width, 2.0)) if self.width > 1 else [1.0]
            yield self._made(self.rng(size, 1).multinomial(size, share), "total")

    def sized(self, size: int) -> Iterator[Made]:
        if size <= _LARGEST_COUNT and self.width > 1:
            for place in {0, self.width - 1}:
                counts = np.array(self.typical)
                counts[place] = size
                yield self._made(counts, "one count")
            counts = np.full(self.width, size)
            yield self._made(counts, "every count")
        if 0 < size < self.width:
            counts = np.maximum(np.array(self.typical), 1)
            counts[self.rng(size, 2).permutation(self.width)[size:]] = 0
            yield self._made(counts, "counts above 0")

    def others(self) -> Iterator[Made]:
        ascending = np.sort(self.typical)
        yield self._made(ascending, "ascending")
        yield self._made(ascending[::-1], "descending")
        counts = np.zeros_like(self.typical)
        counts[-1] = 5
        yield self._made(counts, "one count")

    def _made(self, counts: Any, way: str) -> Made:
        return Made(np.array(counts, dtype=np.int64), way, self.width)


def inputs_of(mechanism: NumberMechanism, plan: NumbersPlan, seed: int) -> Inputs:
    """The inputs of a claim of numbers."""
    made = OfCounts if mechanism.takes == "counts" else OfRecords
    return made(mechanism, plan, seed)


def powers_of_two(most: int) -> Sequence[int]:
    """1, 2, 4 and so on, up to `most`."""
    return [1 << k for k in range(most.bit_length()) if 1 << k <= most]
