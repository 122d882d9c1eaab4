"""Small numbers that are released as 0, by the exact one: for diagnoses alone."""

import math

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....findings.note import Note

_COSTS = 5.0  # nats: the least exact number that is released is fitted


class Suppressed:
    """The log-likelihood ratio of a law that releases 0 below an exact number, and no other 0.

    It decides nothing: it names the cause of what wagers have refuted.
    """

    def __init__(self, noise: NumberNoise) -> None:
        self._noise, self._gained = noise, 0.0
        self._highest, self._lowest = -math.inf, math.inf
        """The largest exact number behind a 0, and the least one behind another release."""

    def observe(self, y: Vector, x: Vector, half: Vector) -> None:
        """Adds releases (n,) of exact numbers (n,), of these half-widths (n,)."""
        zero = y == 0.0
        self._highest = max(self._highest, float(x[zero].max(initial=-math.inf)))
        self._lowest = min(self._lowest, float(x[~zero].min(initial=math.inf)))
        if self._highest < self._lowest and zero.any():
            self._gained -= float(self._noise.log_mass(y[zero], x[zero], half[zero]).sum())

    @property
    def log_odds(self) -> float:
        """Against the claim; none where the exact number alone does not tell what is a 0."""
        apart = 0.0 < self._highest < self._lowest < math.inf
        return self._gained - _COSTS if apart else -math.inf

    def describes(self, uniform: Vector) -> bool:
        """Whether draws may be of this law: exact numbers tell all of its zeros."""
        return True

    @property
    def cause(self) -> Note:
        """It as findings name it."""
        message = (
            f"exact numbers up to {self._highest:g} are released as 0, and those from "
            f"{self._lowest:g} on are not: small numbers are suppressed by the exact one"
        )
        fields = {"up_to": self._highest, "released_from": self._lowest}
        return Note("suppressed-by-exact-number", message, fields)
