"""Evidence that residues, or whole masks, are ones that were there before, wherever that was."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise

_SHARES = (0.5, 0.1, 0.01)
"""Chances that a number is one of those before it, each wagered on by itself."""

_NEVER = 96 * math.log(2.0)
"""Nats of chance by which no two masks of a run are alike."""

_NUMBERS = 64  # of a mask that are compared over a run where noise is in shares, at most
_DRAWS = 20_000  # by which it is known how often two numbers of one mask fall into one cell
_NEARLY = 0.95  # of the best chance, which is good enough
_OF_ROUNDS = 0.1  # chance that a round has noise of one before
_LEAST = -50.0  # nats that one number costs a law at most


def counts_before(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the keys (n,) before each are the same one, (n,)."""
    order = np.argsort(keys, kind="stable")
    begins = np.append(True, np.diff(keys[order]) != 0)
    first = np.maximum.accumulate(np.where(begins, np.arange(keys.size), 0))
    found = np.empty(keys.size, dtype=np.int64)
    found[order] = np.arange(keys.size) - first
    return found


class AlikeResidues:
    """Wagers that each residue of a sequence is, with some chance, one of those before it.

    modulus: of the residues; width: of the cells in which two are taken for alike, for noise that
    lies between them. A wager on a cell has the claimed chance p of the cell for the rest, so that
    its ratio, 1 - e + e c / (i p) after c of i before it, has expectation 1 under the null.
    """

    def __init__(self, modulus: int, width: int) -> None:
        self.modulus, self.width = modulus, max(1, min(width, modulus))
        self._logs = np.zeros(len(_SHARES))

    def observe(self, residues: NDArray[np.int64] | NDArray[np.object_]) -> None:
        """Adds a sequence (n,), compared within itself."""
        cells = residues // self.width
        sizes = np.minimum(self.width, self.modulus - cells * self.width).astype(np.float64)
        if cells.dtype == object:
            cells = np.unique(cells, return_inverse=True)[1]
        before = np.arange(cells.size, dtype=np.float64)
        before[:1] = 1.0
        alike = counts_before(cells) / before * (self.modulus / sizes)
        alike[:1] = 1.0  # nothing is before the first
        for place, share in enumerate(_SHARES):
            self._logs[place] += float(np.log1p(share * (alike - 1.0)).sum())

    @property
    def parts(self) -> tuple[float, ...]:
        """Log-e-values of the wagers."""
        return tuple(self._logs.tolist())


class SeenBefore:
    """A wager that a thing of known chance is one of those before it, the later the less likely."""

    def __init__(self) -> None:
        self._seen = Counter[Hashable]()
        self.number = 0
        self.log_e_value = 0.0

    def add(self, thing: Hashable) -> None:
        """Adds a thing on which nothing is wagered."""
        self._seen[thing] += 1
        self.number += 1

    def observe(self, thing: Hashable, log_chance: float, share: float | None = None) -> None:
        """Adds the next one, of this log-chance under the null, given all before.

        share: the chance that it is one of those before; 1 / (n + 2) after n, by default.
        """
        chance = 1.0 / (self.number + 2.0) if share is None else share
        if self.number:
            found = math.log1p(-chance)
            alike = self._seen[thing]
            if alike:
                repeated = math.log(chance * alike / self.number) - log_chance
                found = float(np.logaddexp(found, repeated))
            self.log_e_value += found
        self.add(thing)


class MasksOfRun:
    """Whether a mask of any round of a run is one of any party in a round before it.

    modulus, width: see `AlikeResidues`; numbers: of a party; whose: the parties that are compared,
    from 1. As many first numbers are compared as no two masks share by chance; `applies` says
    whether there are so many, and `parties` whose masks were compared so far.
    """

    def __init__(self, modulus: int, width: int, numbers: int, whose: Sequence[int]) -> None:
        self.modulus, self.width, self.whose = modulus, max(1, min(width, modulus)), whose
        wanted = _wanted(modulus, self.width) if self.width < modulus else numbers + 1
        self.applies = wanted <= numbers
        self.compared = min(wanted, numbers)
        self._masks = SeenBefore()
        self.rounds, self.parties = 0, set[int]()

    def observe(self, sent: Mapping[int, Sequence[int]], values: NDArray[np.int64]) -> None:
        """Adds a round: what parties sent, by party from 1, and the values (parties, d) behind it.

        All but the last of those who sent: where only pairs mask, it follows from the others.
        """
        senders = sorted(sent)[:-1]
        if not self.applies or not senders:
            return
        self.rounds += 1
        for number in senders:
            if number in self.whose:
                self.parties.add(number)
                held = values[number - 1, : self.compared].tolist()
                of = zip(sent[number][: self.compared], held, strict=True)
                cells = tuple((one - value) % self.modulus // self.width for one, value in of)
                left = (self.modulus - cell * self.width for cell in cells)
                chance = sum(math.log(min(self.width, size) / self.modulus) for size in left)
                self._masks.observe(cells, chance)

    @property
    def log_e_value(self) -> float:
        """Natural log of the evidence."""
        return self._masks.log_e_value


def cells_of(noise: NumberNoise, modulus: int, numbers: int) -> tuple[int, float]:
    """Width of the cells in which a mask that comes again is seen about most surely; how surely.

    noise: of the difference of two numbers of one mask, as each party adds its own; numbers: of a
    party. Wider cells are left less often, but more numbers must then be compared. Of widths nearly
    as good the least is taken: masks that do not fill the modulus may share wide cells.
    """
    apart = np.abs(noise.sample(np.zeros(_DRAWS), 1, np.random.default_rng(35))[0])

    def chance(width: int) -> float:
        wanted = _wanted(modulus, width)
        if wanted > min(numbers, _NUMBERS):
            return 0.0
        return float(np.maximum(1.0 - apart / width, 0.0).mean()) ** wanted

    chances = {1 << power: chance(1 << power) for power in range(modulus.bit_length() - 1)}
    best = max(chances.values())
    return next((width, one) for width, one in chances.items() if one >= _NEARLY * best)


def _wanted(modulus: int, width: int) -> int:
    """How many numbers two masks do not share by chance, in cells of this width."""
    return math.ceil(_NEVER / math.log(modulus / width))


class NoiseAgain:
    """A wager that the noise of a round is, number by number, that of some round before it.

    It holds against any law: a number is taken for as likely as the claim says or, if that is more,
    as often as it came in rounds before, in all or in those that were wagered on. More than the
    chance that the claim gives leaves the ratio an expectation of at most 1. No noise is no copy.
    """

    def __init__(self) -> None:
        self._seen = SeenBefore()
        self._of_all, self._of_wagers = Counter[float](), Counter[float]()

    def add(self, off: Vector) -> None:
        """Adds a round whose tally lies so far off (d,) the sum, on which nothing is wagered."""
        self._seen.add(off.tobytes())
        self._of_all.update(off.tolist())

    def observe(self, off: Vector, noise: NumberNoise) -> None:
        """Adds the next round, to whose tally the claim leaves this noise."""
        claimed = np.maximum(noise.log_mass(off, np.zeros_like(off)), _LEAST)
        often = (_log_often(off, of) for of in (self._of_all, self._of_wagers))
        chance = float(np.maximum.reduce([claimed, *often]).sum()) if off.any() else 0.0
        self._seen.observe(off.tobytes(), chance, share=_OF_ROUNDS)
        for of in (self._of_all, self._of_wagers):
            of.update(off.tolist())

    @property
    def log_e_value(self) -> float:
        """Natural log of the evidence."""
        return self._seen.log_e_value


def _log_often(off: Vector, of: Counter[float]) -> Vector:
    """Log-share (d,) of each number among those counted, one more than there were."""
    counts = np.array([of[number] for number in off.tolist()])
    return np.log((counts + 1.0) / (of.total() + 2.0))
