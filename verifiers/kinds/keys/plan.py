"""Which counts a run asks of a deployment that releases keys, and in calls of which sizes."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..numbers.claim import NumbersClaim
from ..numbers.planning.asked import Asked
from ..numbers.planning.plan import CALLS, NumbersPlan

ALONE = "keys of one unit"
"""The input in which every key has one record: what it releases shows delta."""

NEAR = "near the threshold"
"""The input whose keys are released about as often as not: the noise shows."""

REVERSED = "reversed"
"""The same counts in the other order: keys of both inputs tell of each other's noise."""

_ROUNDS = 1  # of every input in calls of every size, before the larger calls
TURNS = (NEAR, ALONE, ALONE, ALONE)
"""In which the inputs that tell most are asked, in larger calls, once all have been."""

_CERTAIN = 30.0  # scales above the threshold, where every key is released
_LARGE = 1_000
_NUMBERS = 1 << 21  # keys of a call at most, of one release always


@dataclass(frozen=True)
class KeysPlan(NumbersPlan):
    """At first every input in calls of every size, then large calls of the two that tell most."""

    width: int = 1

    few: ClassVar = 300
    """See `NumbersPlan.few`: a key tells at most whether it is there."""

    margin: ClassVar = 1.0
    """See `NumbersPlan.margin`: checks of keys are foreseen call by call."""

    def calls(self, seed: int) -> Iterator[tuple[Asked, int]]:
        """See `NumbersPlan.calls`."""
        order = np.random.default_rng([seed, 1])
        most = max(1, _NUMBERS // self.width)
        for _ in range(_ROUNDS):
            pairs = [(asked, size) for asked in self.inputs for size in CALLS]
            for place in order.permutation(len(pairs)):
                asked, size = pairs[place]
                yield asked, min(size, self.largest_call, most)
        telling = [asked for role in TURNS for asked in self.inputs if asked.role == role]
        large = min(most, max(self.largest_call, math.ceil(self.share * _LARGE)))
        while True:
            for asked in telling or self.inputs:
                yield asked, large


def make_keys_plan(claim: NumbersClaim, seed: int) -> KeysPlan:
    """The inputs of a run: keys of one person, keys near the threshold, empty ones, large ones."""
    rng = np.random.default_rng([seed, 0])
    release = claim.release
    inputs = tuple(
        Asked(counts, counts.astype(float), role, f"{release.input_text(counts)} ({role})")
        for role, counts in _counts(claim, rng)
    )
    width = claim.mechanism.width
    return KeysPlan(inputs, np.arange(width), width)


def _counts(claim: NumbersClaim, rng: np.random.Generator) -> list[tuple[str, NDArray[np.int64]]]:
    keys = claim.mechanism.keys
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
    every_other = np.where(np.arange(width) % 2 == 0, near, 0)
    return [
        ("typical", typical),
        (ALONE, np.arange(width) % most + 1),
        (NEAR, near),
        (REVERSED, near[::-1].copy()),
        ("empty", np.zeros(width, dtype=np.int64)),
        ("one large count", large),
        ("one record in all", single),
        ("every other key empty", every_other),
        ("all keys large", most_of_all),
    ]
