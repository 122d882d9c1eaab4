"""Evidence that a party's mask in a round is one that it had in a round before."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....evidence.mixture import log_mean_of, log_mixture_of

_PARTIES, _NUMBERS = 16, 64
"""Parties, and first numbers of each, that are compared, at most."""

_EVEN = 0.1  # part of the law of a difference that is anywhere, for noise that is not the claim's
_TABLE = 1 << 12  # steps up to which the noise of a difference is known

Sent = Mapping[int, Sequence[int]]


class MaskHistory:
    """What parties have sent in all rounds so far, their values taken off.

    modulus: of the numbers; parties: in all; noise: of a difference of two rounds. Two rounds of
    one mask differ by that noise, or by nothing where the noise comes again with it.
    """

    def __init__(self, modulus: int, parties: int, noise: NumberNoise) -> None:
        self.modulus, self._wrap = modulus, np.uint64(modulus % 2**64)
        self.whose = sorted({round(k) for k in np.linspace(1, parties, min(_PARTIES, parties))})
        steps = np.arange(min(_TABLE, modulus // 2 + 1), dtype=np.float64)
        near = math.log1p(-_EVEN) + np.asarray(noise.log_mass(steps, 0.0))
        even = math.log(_EVEN) - math.log(modulus)
        self._gains = np.logaddexp(np.append(near, -math.inf), even) + math.log(modulus)
        self._rows: list[NDArray[np.uint64]] = []
        self._there: list[NDArray[np.bool_]] = []

    @property
    def compared(self) -> str:
        """What of a round is compared, in words."""
        return f"up to {_NUMBERS} numbers of {len(self.whose)} parties"

    def log_ratio(self, sent: Sent, values: NDArray[np.int64]) -> float:
        """Log-ratio of a round that has masks of one before to one of new masks; adds the round.

        sent: by party, from 1; values: (parties, d). The mean over rounds before, each by itself as
        likely: half on one party, whichever, half on all but the last of those who sent in both.
        Any rows of a round but one are independent and uniform given all rounds before, so that
        the ratio has expectation 1 at most under the null.
        """
        # a party alone in a round has nobody to share a mask with
        alone = len(sent) < 2
        there = np.array([number in sent and not alone for number in self.whose])
        rows = np.zeros((len(self.whose), min(_NUMBERS, values.shape[1])), dtype=np.uint64)
        for place, number in enumerate(self.whose):
            if number in sent:
                held = values[number - 1, :_NUMBERS].tolist()
                pairs = zip(sent[number][:_NUMBERS], held, strict=True)
                rows[place] = [(one - value) % self.modulus for one, value in pairs]
        value = self._of_any_before(rows, there) if self._rows and there.any() else 0.0
        self._rows.append(rows)
        self._there.append(there)
        return value

    def _of_any_before(self, rows: NDArray[np.uint64], there: NDArray[np.bool_]) -> float:
        both = np.array(self._there) & there
        before = np.array(self._rows)
        apart = rows - before  # of 64 bits, as is all that follows
        apart = np.where(rows < before, apart + self._wrap, apart)
        apart = np.minimum(apart, self._wrap - apart)
        steps = np.minimum(apart, np.uint64(self._gains.size - 1)).astype(np.int64)
        nothing = rows.shape[1] * math.log(self.modulus)
        equal = np.where((apart == 0).all(2), nothing, -math.inf)
        of_party = np.logaddexp(equal, self._gains[steps].sum(2)) - math.log(2.0)
        return log_mean_of(
            np.array([_of_round(*each) for each in zip(of_party, both, strict=True)])
        )


def _of_round(of_party: Vector, both: NDArray[np.bool_]) -> float:
    """Of one party, whichever, or of all but the last; 0 where none sent in both rounds."""
    found = of_party[both]
    if not found.size:
        return 0.0
    return log_mean_of(np.array([log_mean_of(found), found[:-1].sum()]))


class MasksAgain:
    """Wagers on some rounds that their masks were there before.

    rounds: how many of them there are at most. Half of the wager is on any one of these rounds,
    half on all of them together.
    """

    def __init__(self, rounds: int) -> None:
        self._one = np.zeros(max(1, rounds))
        self.rounds = 0

    def observe(self, log_ratio: float) -> None:
        """Adds the next round; those beyond the number that was named say nothing."""
        if self.rounds < self._one.size:
            self._one[self.rounds] = log_ratio
            self.rounds += 1

    @property
    def log_e_value(self) -> float:
        """Natural log of the evidence; 0 before any round."""
        halves = np.log([0.5, 0.5])
        return log_mixture_of(np.array([log_mean_of(self._one), self._one.sum()]), halves)
