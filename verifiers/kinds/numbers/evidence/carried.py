"""Noise of earlier releases that stays in later ones: for diagnoses alone."""

import math

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from ....findings.note import Note
from ..planning.asked import Batch
from .described import is_refuted
from .faults import with_leak

_PARTS = (1.0, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3)
"""How much of the noise of the release before may stay."""

_CELLS = 64  # of equal probability
_ALIKE = 3.0  # nats by which another part may be likelier than a larger one
_COSTS = 5.0  # nats: which part stays is fitted


class Carried:
    """Log-odds that each release has a part of the noise of the one before, and noise of its own.

    It decides nothing: it names the cause of what wagers have refuted. What all releases of an
    input are off, they share as well: that is told where it explains them better.
    places (k,): the numbers of a release that are looked at.
    """

    def __init__(self, noise: NumberNoise, places: NDArray[np.int64]) -> None:
        self._noise, self._places = noise, places
        self._odds, self._of_centre = np.zeros(len(_PARTS)), 0.0
        self._counts = np.zeros((len(_PARTS), _CELLS))
        self._last: Vector | None = None
        self._centres: dict[str, tuple[int, Vector]] = {}

    def observe(self, batch: Batch, digits: int) -> None:
        """Adds releases, in the order asked; of those in flight together it is not known."""
        if batch.abreast or not math.isinf(self._noise.low) or not math.isinf(self._noise.high):
            self._last = None
            return
        y, x = batch.releases[:, self._places], batch.asked.exact[self._places]
        half, off = self._noise.half_width(y, digits), y - x
        claimed = self._noise.log_mass(y, x, half)
        if not np.isfinite(claimed).all():
            self._last = None
            return
        self._add_centre(batch.asked.role, y, x, half, claimed)
        first = np.zeros(len(y), dtype=np.bool_)
        first[np.cumsum((0, *batch.calls))[:-1]] = True
        before = np.vstack([off[:1] if self._last is None else self._last[None], off[:-1]])
        some = slice(1 if self._last is None else 0, None)
        for place, part in enumerate(_PARTS):
            at = x + part * before
            ratios = with_leak(self._noise.log_mass(y, at, half) - claimed)
            # what is kept within a call alone begins afresh with the next one
            ratios[first] = np.logaddexp(ratios[first], 0.0) - math.log(2.0)
            self._odds[place] += float(ratios[some].sum())
            below = np.exp(self._noise.family.log_cdf((y - at)[~first].ravel()))
            self._counts[place] += np.histogram(below, _CELLS, (0.0, 1.0))[0]
        self._last = off[-1]

    def _add_centre(self, role: str, y: Matrix, x: Vector, half: Matrix, claimed: Matrix) -> None:
        """Compares with releases about the mean of those of their input so far."""
        seen, mean = self._centres.get(role, (0, np.zeros(x.size)))
        sums = seen * mean + np.vstack([np.zeros(x.size), np.cumsum(y - x, axis=0)])
        before = sums[:-1] / np.maximum(1, seen + np.arange(len(y)))[:, None]
        step = self._noise.grid or float(self._noise.family.whole)
        before = np.rint(before / step) * step if step else before
        ratios = with_leak(self._noise.log_mass(y, x + before, half) - claimed)
        self._of_centre += float(ratios.sum())
        self._centres[role] = seen + len(y), sums[-1] / (seen + len(y))

    @property
    def found(self) -> tuple[Note, float] | None:
        """The cause with its log-odds to the claim; None where another centre is as likely."""
        place = int(np.argmax(self._odds >= self._odds.max() - _ALIKE))
        odds, part = float(self._odds[place]) - _COSTS, _PARTS[place]
        if odds <= max(0.0, self._of_centre):
            return None
        # in cells of whole noise its transforms are not even
        whole = bool(self._noise.grid) or self._noise.family.whole
        if not whole and is_refuted(self._counts[place], np.full(_CELLS, -math.log(_CELLS))):
            return None
        words = f"{part:g} of the noise of the release before stays in each release"
        if part == 1.0:
            words = (
                "the noise of earlier releases stays in: each adds its own to theirs, as in a "
                "buffer that is not cleared"
            )
        return Note("noise-made-of-earlier", words, {"carried": part}), odds
