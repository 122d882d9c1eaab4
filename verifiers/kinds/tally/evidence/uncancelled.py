"""Tallies that are uniform modulo m, as sums are whose masks do not cancel: for diagnoses alone."""

import math

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....findings.note import Note
from ...numbers.evidence.described import is_refuted

UNCANCELLED = "masks-not-cancelled"
_CELLS = 64
_LEAST = -690.0  # log-probability that no draw is priced below


class Uncancelled:
    """The log-likelihood ratio of uniform tallies; parties: in a round, all of whom stay."""

    def __init__(self, noise: NumberNoise, modulus: int, parties: int) -> None:
        self._noise, self._modulus, self._parties = noise, modulus, parties
        self.log_odds, self._counts = 0.0, np.zeros(_CELLS)

    def observe(self, y: Vector, x: Vector, half: Vector) -> None:
        """Adds tallies (n,) of exact sums (n,), of these half-widths (n,)."""
        claimed = np.maximum(self._noise.log_mass(y, x, half), _LEAST)
        self.log_odds -= float((math.log(self._modulus) + claimed).sum())
        self._counts += np.histogram(y % self._modulus, _CELLS, (0.0, self._modulus))[0]

    def describes(self, uniform: Vector) -> bool:
        """Whether tallies may be uniform."""
        return not is_refuted(self._counts, np.full(_CELLS, -math.log(_CELLS)))

    @property
    def cause(self) -> Note:
        """It as findings name it."""
        message = "masks do not cancel: tallies are uniform, also where all parties stay"
        fields = {"present": self._parties, "parties": self._parties}
        return Note(UNCANCELLED, message, fields)
