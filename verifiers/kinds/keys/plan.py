"""Which counts a run asks of a deployment that releases keys, and in calls of which sizes."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..numbers.planning.asked import Asked
from ..numbers.planning.plan import CALLS, NumbersPlan
from .mechanism import KeysMechanism


@unique
class KeysRole(StrEnum):
    """Why an input is asked; the value is how messages call it."""

    TYPICAL = "typical"
    ALONE = "keys of one unit"  # every key has one record: what it releases shows delta
    NEAR = "near the threshold"  # keys are released about as often as not: the noise shows
    REVERSED = "reversed"  # the counts of `NEAR`: keys of both tell of each other's noise
    ABOVE = "above the threshold"  # keys are seldom held back: noise left out there shows
    EMPTY = "empty"
    ONE_LARGE_COUNT = "one large count"
    ONE_RECORD = "one record in all"
    EVERY_OTHER = "every other key empty"
    LARGE = "all keys large"


_TURNS = (*2 * (KeysRole.NEAR, *3 * (KeysRole.ALONE,)), KeysRole.ABOVE)
"""The order in which the inputs that tell most are asked, in larger calls, after all others."""

_ABOVE = (2.0, 3.0, 12.0)  # scales: from here to at least there, and at most there
_CERTAIN = 30.0  # scales above the threshold, where every key is released
_LARGE = 1_000  # releases of a larger call at least, by its share of them
_MOST_KEYS = 1 << 21  # of all releases of a call


@dataclass(frozen=True)
class KeysPlan(NumbersPlan):
    """At first every input in calls of every size, then large calls of the two that tell most."""

    few: ClassVar = 300
    """A key tells at most whether it is there."""

    margin: ClassVar = 1.0
    """Checks of keys are foreseen call by call."""

    @property
    def _most(self) -> int:
        """Releases of a call at most: their keys are held in memory together."""
        return max(1, _MOST_KEYS // len(self.coordinates))

    def calls(self, seed: int) -> Iterator[tuple[Asked, int]]:
        order = np.random.default_rng([seed, 1])
        pairs = [(asked, size) for asked in self.inputs for size in CALLS]
        for place in order.permutation(len(pairs)):
            asked, size = pairs[place]
            yield asked, min(size, self.largest_call, self._most)
        telling = [asked for role in _TURNS for asked in self.inputs if asked.role == role]
        large = min(max(self.largest_call, math.ceil(self.share * _LARGE)), self._most)
        while True:
            for asked in telling or self.inputs:
                yield asked, large


def make_keys_plan(mechanism: KeysMechanism, seed: int) -> KeysPlan:
    """The inputs of a run: keys of one person, keys near the threshold, empty ones, large ones."""
    rng = np.random.default_rng([seed, 0])
    inputs = tuple(
        Asked.of(mechanism.release, counts, counts.astype(float), role)
        for role, counts in _counts(mechanism, rng)
    )
    width = mechanism.width
    return KeysPlan(inputs, np.arange(width), largest_call=width)


def _counts(
    mechanism: KeysMechanism, rng: np.random.Generator
) -> list[tuple[KeysRole, NDArray[np.int64]]]:
    keys = mechanism.keys
    width, most = keys.cells, keys.contributions
    spread = keys.noise.family.scale * rng.permutation(np.linspace(-2.0, 2.0, width))
    near = np.maximum(np.rint(keys.threshold + spread), 1.0).astype(np.int64)
    opening = np.random.default_rng(0)  # the same in every run, for those that are compared
    typical = opening.integers(0, max(2, int(2 * max(keys.threshold, 1.0))), width)
    typical[opening.random(width) < 0.2] = 0
    large = np.zeros(width, dtype=np.int64)
    large[0] = 10**6
    single = np.zeros(width, dtype=np.int64)
    single[-1] = 1
    certain = math.ceil(max(keys.threshold, 1.0) + _CERTAIN * keys.noise.family.scale)
    most_of_all = certain + rng.permutation(width)
    nearest, least, most_above = _ABOVE
    margin = (keys.threshold - 1.0) / keys.noise.family.scale  # so far away is a key of one record
    margins = rng.permutation(np.linspace(nearest, np.clip(margin, least, most_above), width))
    above = np.ceil(max(keys.threshold, 1.0) + margins * keys.noise.family.scale).astype(np.int64)
    every_other = np.where(np.arange(width) % 2 == 0, near, 0)
    return [
        (KeysRole.TYPICAL, typical),
        (KeysRole.ALONE, np.arange(width) % most + 1),
        (KeysRole.NEAR, near),
        (KeysRole.REVERSED, near[::-1].copy()),
        (KeysRole.ABOVE, above),
        (KeysRole.EMPTY, np.zeros(width, dtype=np.int64)),
        (KeysRole.ONE_LARGE_COUNT, large),
        (KeysRole.ONE_RECORD, single),
        (KeysRole.EVERY_OTHER, every_other),
        (KeysRole.LARGE, most_of_all),
    ]
