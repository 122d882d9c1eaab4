"""A noisy sum over a noisy count that is not released: the law of their quotient."""

import itertools
from dataclasses import dataclass

import numpy as np

from ..arrays import Matrix, Vector
from ..numbers.additive import Additive

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_FAR = 40.0  # scales of noise beyond which it does not come
_RAREST = -700.0  # log-probability, below which doubles end
_NEAR = 12.0  # scales of the sum's noise about the count at which it turns


@dataclass(frozen=True)
class HiddenCount:
    """The quotient S / max(1, C) of a sum and a count with noise of their own; C is not released.

    sums, counts: the noise of each, symmetric and with a density, such as Laplace's and Gaussian's.
    """

    sums: Additive
    counts: Additive

    def tails(self, quotients: Vector, exact: Vector, count: Vector) -> tuple[Vector, Vector]:
        """Probabilities (n,) of a quotient up to these (n,), and above, of exact sums and counts.

        By Gauss-Legendre quadrature over the noisy count, in parts: where the divisor is 1, and
        between the points at which one of the densities turns.
        """
        one = np.exp(self.counts.log_cdf(1.0 - count))
        low = one * np.exp(self.sums.log_cdf(quotients - exact))
        high = one * np.exp(self.sums.log_survival(quotients - exact))
        ends = self._ends(quotients, exact, count)
        for start, end in itertools.pairwise(ends):
            half = 0.5 * (end - start)[:, None]
            divisors = 0.5 * (end + start)[:, None] + half * _NODES
            share = half * _WEIGHTS * self._density(divisors - count[:, None])
            moved = quotients[:, None] * divisors - exact[:, None]
            low += (share * np.exp(self.sums.log_cdf(moved))).sum(1)
            high += (share * np.exp(self.sums.log_survival(moved))).sum(1)
        return low, high

    def _density(self, value: Matrix) -> Matrix:
        half = 1e-5 * self.counts.scale
        return np.asarray(np.exp(self.counts.log_mass(value, half)) / (2.0 * half))

    def _ends(self, quotients: Vector, exact: Vector, count: Vector) -> Matrix:
        """Ends (k, n) of the parts, in order."""
        scale = self.counts.scale
        first, last = np.maximum(1.0, count - _FAR * scale), np.maximum(1.0, count + _FAR * scale)
        steep = np.where(quotients == 0.0, 1e-300, quotients)
        turn, wide = exact / steep, _NEAR * self.sums.scale / np.abs(steep)
        points = [count + by * scale for by in (-10.0, -2.0, 0.0, 2.0, 10.0)]
        points += [turn + by * wide for by in (-1.0, -0.2, 0.0, 0.2, 1.0)]
        kept = [np.clip(point, first, last) for point in points]
        return np.sort(np.stack([first, *kept, last]), axis=0)

    def as_sums(self, quotients: Vector, exact: Vector, count: Vector) -> Vector:
        """The sums (n,) that are as far out among noisy sums as these are among quotients.

        Of quotients that follow this law, they follow that of the sum: its noise about `exact`.
        """
        low, high = self.tails(quotients, exact, count)
        with np.errstate(divide="ignore"):
            near = np.maximum(np.log(np.minimum(low, high)), _RAREST)
        far = self.sums.exceeded(near)
        return np.asarray(exact + np.where(low < high, -far, far))
