"""Gaussian noise on whole votes: every value of the log-cdf that an integral needs is in a table.

Nodes are at multiples of a fraction of a vote, so that their offsets to all classes are too, and
the log-cdf and the hazard are computed once for each offset instead of each histogram, class and
node. As one exponential then serves all classes of a node, Q is summed as it is, not as its log.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from . import quadrature
from .arrays import Matrix
from .kernel import Moments
from .noise import Gaussian, Noise

Offsets = NDArray[np.int64]
Rows = NDArray[np.intp]

NEAR = 34.0
"""Classes up to this far behind: Q is above exp(-34^2 / 2), and no sum leaves the floats."""

_LOWEST, _HIGHEST = -28.0, 52.0  # units of sigma: of nodes from any class that is near
_FINE = 8  # parts of a vote in a step, at least: so many that little of the step is rounded away
_LONGEST = 1 << 17  # entries of a table: more would leave the core's cache


@lru_cache(maxsize=8)
def _table(scale: float, parts: int, step: int) -> Matrix:
    """Log-cdf and hazard at all offsets from the lowest on, in parts of a vote.

    Shape (2, step, entries): a row has the offsets a step apart, which follow each other in memory
    as the nodes of an integral do.
    """
    low, high = math.floor(_LOWEST * scale * parts), math.ceil(_HIGHEST * scale * parts)
    entries = -(-(high - low + 1) // step)
    u = (low + np.arange(entries * step).reshape(entries, step).T) / (scale * parts)
    return np.stack([Gaussian.log_cdf(u), Gaussian.hazard(u)])


@dataclass(frozen=True)
class Table:
    """For histograms `offsets` (b, m) whole votes behind their leaders, of so many classes.

    parts: of a vote, in which nodes are apart by `step`.
    """

    offsets: Offsets
    classes: int
    scale: float
    parts: int
    step: int

    @classmethod
    def of(cls, z: Matrix, noise: Noise, classes: int) -> "Table | None":
        """From votes (b, m) less the leader's in units of the scale; None where none would serve.

        That is for noise that is not Gaussian, votes that are not whole, and noise so wide that the
        table would be too long.
        """
        if not isinstance(noise, Gaussian):
            return None
        step = quadrature.gaussian_step(classes) * noise.scale
        parts = math.ceil(_FINE / step)
        if (_HIGHEST - _LOWEST) * noise.scale * parts > _LONGEST:
            return None
        behind = np.rint(z * -noise.scale)
        if (behind / -noise.scale != z).any():
            return None
        return cls(behind.astype(np.int64), classes, noise.scale, parts, math.floor(step * parts))

    def count(self, lowest: float) -> int:
        """Nodes that serve every class down to `lowest`, in units of the scale."""
        return -((self._start(lowest) - self._end) // self.step) + 1

    def integrate(self, index: Rows, multiplicity: Matrix | None, *, hazards: bool) -> Moments:
        """`Moments` of some of the rows, whose classes are `NEAR` at most."""
        offsets, unit = self.offsets[index], self.scale * self.parts
        lowest = float(offsets.max()) / -self.scale
        first = self._start(lowest) - math.floor(_LOWEST * unit)
        entry, row = np.divmod(first + self.parts * offsets, self.step)
        table = _table(self.scale, self.parts, self.step)
        log_cdf, hazard = sliding_window_view(table, self.count(lowest), axis=2)[:, row, entry]
        if multiplicity is None:
            common = log_cdf.sum(1)
        else:
            common = (multiplicity[:, None, :] @ log_cdf)[:, 0]
        weight = np.exp(common + math.log(self.step / unit))
        q = (hazard @ weight[:, :, None])[..., 0]
        log_q = np.minimum(np.log(q), 0.0)  # rounding may end a hair above
        if not hazards:
            return log_q, None
        terms = hazard * (weight[:, None, :] / q[:, :, None])
        return log_q, terms @ np.swapaxes(hazard, -1, -2)

    def _start(self, lowest: float) -> int:
        """The first node, in parts of a vote; see `quadrature.gaussian_grid`."""
        reach = quadrature.gaussian_reach(self.classes)
        return math.floor((0.5 * lowest - reach) * self.scale * self.parts)

    @property
    def _end(self) -> int:
        reach = quadrature.gaussian_reach(self.classes) + quadrature.gaussian_crest(self.classes)
        return math.ceil(reach * self.scale * self.parts)
