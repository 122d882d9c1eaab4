"""A trade-off curve given by points, and the (epsilon, delta) that it implies.

A curve f claims of every two neighbours that a test of one against the other which errs with
probability alpha at most on the first errs with f(alpha) at least on the second (f-DP: Dong, Roth
and Su 2022, arXiv 1905.02383). A curve that is not symmetric may be of one order of the neighbours,
so that what is judged is what follows for both orders from either; of a symmetric one it is the
same.

Rows are points of f, which is convex; between two rows it is taken to be as low as it can be: on
the chord of the two rows before, or of the two after, prolonged, whichever is higher. So whoever
keeps a smooth curve is never held to its chords, and a piece that is straight is one where it has
three rows.
"""

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....reference.arrays import Vector
from .wagers import Guarantee

ROUNDING = 1e-6
"""How far above a chord of its neighbours a row may lie, as printed digits are rounded."""

_SHARES = (0.005, 0.05, 0.15, 0.33, 0.55, 0.8, 0.95)  # deltas of lines, over delta at epsilon 0
_MOST_EPSILON = 50.0
_HALVINGS = 60
_UP = 1e-12  # floats are rounded, to the side that accuses less


class RowError(ValueError):
    """A row, from 0, that no trade-off curve has, and why."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(f"row {row + 1}: {why}")
        self.row, self.why = row, why


class Curve:
    """A convex trade-off curve through points: alphas (k,), which grow, and betas (k,), k >= 3.

    Raises RowError for the first row that no such curve has, ValueError for fewer rows.
    """

    def __init__(self, alphas: ArrayLike, betas: ArrayLike) -> None:
        a, b = np.asarray(alphas, dtype=np.float64), np.asarray(betas, dtype=np.float64)
        if a.shape != b.shape or a.ndim != 1 or a.size < 3:
            raise ValueError("a curve has three rows or more, each an alpha and a beta")
        for row in range(a.size):
            why = _why_not(a, b, row)
            if why:
                raise RowError(row, why)
        if a[-1] < 1.0:  # a test that always rejects never errs on the second
            a, b = np.append(a, 1.0), np.append(b, 0.0)
        convex = _hull(a, b, ROUNDING)
        if isinstance(convex, int):
            raise RowError(convex, "it lies above the chord of its neighbours: not convex")
        self.alphas, self.betas = a[convex], b[convex]

    @cached_property
    def _corners(self) -> tuple[Vector, Vector]:
        """Where the lowest curve through the rows has its corners: alphas and betas."""
        a, b = self.alphas, self.betas
        slopes = np.diff(b) / np.diff(a)
        x, y = list(a), list(b)
        if a[0] > 0.0:
            x.append(0.0)
            y.append(min(1.0, float(b[0] - slopes[0] * a[0])))
        for k in range(a.size - 1):
            left, right, width = a[k], a[k + 1], a[k + 1] - a[k]
            after = slopes[k + 1] if k + 2 < a.size else 0.0
            low = b[k + 1] - after * width  # at the left end, by the rows after
            if k == 0 and a[0] == 0.0:  # no rows before: it may fall at once
                x.append(left)
                y.append(float(low))
                continue
            before = slopes[k - 1] if k > 0 else (b[0] - 1.0) / a[0]  # from (0, 1)
            high = max(0.0, b[k] - low)
            drop = max(0.0, b[k + 1] - (b[k] + before * width))
            if high + drop > 0.0:
                part = high / (high + drop)
                x.append(float(left + part * (right - left)))
                y.append(float(low + part * width * after))
        return np.array(x), np.array(y)

    def delta(self, epsilon: float) -> float:
        """A delta that the curve implies at `epsilon`, in both orders of two neighbours."""
        x, y = self._corners
        grown = math.exp(min(epsilon, 700.0))
        there, back = (1.0 - grown * x - y).max(), (1.0 - grown * y - x).max()
        return float(min(1.0, max(0.0, there, back) + _UP))

    @cached_property
    def lines(self) -> list[Guarantee]:
        """Supporting lines by which the curve is judged, that of the smallest delta first.

        Raises ValueError for a curve that implies nothing.
        """
        most, least = self.delta(0.0), self.delta(_MOST_EPSILON)
        wanted = [least + _UP, *(share * most for share in _SHARES if share * most > least)]
        epsilons = sorted({round(self._epsilon(delta), 9) for delta in wanted}, reverse=True)
        found = [Guarantee(e, self.delta(e)) for e in epsilons if self.delta(e) < 1.0 - ROUNDING]
        if not found:
            raise ValueError("the curve claims nothing: at every epsilon its delta is 1")
        return found

    def _epsilon(self, delta: float) -> float:
        """The least epsilon whose delta is `delta` at most."""
        low, high = 0.0, _MOST_EPSILON
        if self.delta(low) <= delta:
            return low
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high


def _why_not(a: Vector, b: Vector, row: int) -> str | None:
    """Why a row is none of a trade-off curve, but for convexity."""
    alpha, beta = float(a[row]), float(b[row])
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0.0 <= value <= 1.0:
            return f"{name} = {value:g}: expected 0 to 1"
    if beta > 1.0 - alpha + ROUNDING:
        return f"alpha = {alpha:g}, beta = {beta:g}: expected beta up to 1 - alpha"
    if row and alpha <= a[row - 1]:
        return f"alpha = {alpha:g}: expected more than {a[row - 1]:g}, that of the row before"
    if row and beta > b[row - 1] + ROUNDING:
        return f"beta = {beta:g}: expected at most {b[row - 1]:g}, that of the row before"
    return None


def _hull(a: Vector, b: Vector, tolerance: float) -> NDArray[np.int64] | int:
    """The rows of the lower hull; or the first row that lies above it by more than rounding."""
    kept: list[int] = []
    for k in range(a.size):
        while len(kept) > 1:
            i, j = kept[-2], kept[-1]
            if (b[j] - b[i]) * (a[k] - a[i]) <= (b[k] - b[i]) * (a[j] - a[i]) + 1e-15:
                break
            kept.pop()
        kept.append(k)
    above = b - np.interp(a, a[kept], b[kept])
    worst = int(np.argmax(above > tolerance))
    return worst if above[worst] > tolerance else np.array(kept)
