"""Wagers that calls in flight together begin with the same noise, as workers of one seed do.

Each call is compared with those asked before it in the same round, and with the first round of the
run: a restarted target that begins with an earlier noise shows there. Each of these is taken as
equally likely to be copied. A match is priced by the claim, and the whole beginning has to agree.
"""

from collections.abc import Sequence

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from .copies import CopyEvidence, matches

NUMBERS = 64
"""Numbers of a call that are compared, the first ones."""


class AbreastCopies(CopyEvidence):
    """A mixture of wagers over the share of calls that begin as another one did."""

    def __init__(self, noise: NumberNoise) -> None:
        super().__init__()
        self._noise, self._first = noise, list[Vector]()

    def take(self, calls: Sequence[tuple[Vector, Vector]], digits: int) -> None:
        """Adds a round of calls in the order asked, each as its released and exact numbers (m,)."""
        before = list(self._first)
        for released, exact in calls:
            y, x = released[:NUMBERS], exact[:NUMBERS]
            if before:
                self._compare(y, x, before, digits)
            before.append(y - x)
        self._first = self._first or before

    def _compare(self, y: Vector, x: Vector, before: Sequence[Vector], digits: int) -> None:
        size = min(y.size, *(copy.size for copy in before))
        copied = np.stack([copy[:size] for copy in before])
        shape = copied.shape
        found, chances = matches(
            self._noise,
            np.broadcast_to(y[:size], shape),
            np.broadcast_to(x[:size], shape),
            copied,
            digits,
        )
        prices = np.zeros(found.size)
        prices[found] = chances
        whole = np.all(found.reshape(shape), axis=1)
        gains = np.logaddexp.reduce(-prices.reshape(shape)[whole].sum(1)) - np.log(len(before))
        some = np.array([bool(whole.any())])
        self.observe(some, np.atleast_1d(-gains)[some])
