"""Follows a run of numbers and makes the figures of its report; it decides nothing.

The noise of a run's draws beside its law: shares of cells, and quantiles.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Matrix, Vector
from ....reference.numbers import NumberNoise
from ...findings.figures import (
    CheckFigures,
    NoiseAbove,
    NoiseBelow,
    NoiseCell,
    NoiseQuantile,
    NoiseShape,
    ScaleTrace,
    finite,
    thinned,
)
from .checks.base import NumberCheck
from .checks.noise_scale import NoiseScale
from .claim import NumbersClaim
from .planning.asked import Draws

_BEYOND = 1e308  # evidence without bound, as the public JSON writes it


class Recorder:
    """Told of a run's draws once its checks have seen them."""

    def __init__(self, claim: NumbersClaim) -> None:
        self.claim = claim
        self._evidence: dict[str, list[tuple[int, float]]] = {}
        self._thresholds: dict[str, float] = {}
        self._scale: list[tuple[int, float, float]] = []
        self._emptied: int | None = None

    def observe(self, draws: Draws, checks: Sequence[NumberCheck]) -> None:
        """Notes the draws, and the evidence of each check."""
        self._draw(draws)
        for check in checks:
            points = self._evidence.setdefault(check.id, [])
            points.append((check.draws, min(check.log_e_value / math.log(10.0), _BEYOND)))
            self._thresholds[check.id] = check.log_threshold / math.log(10.0)
            if isinstance(check, NoiseScale):
                interval = check.interval
                if interval is not None:
                    self._scale.append((check.draws, *interval))
                elif self._emptied is None:  # once empty, it stays so
                    self._emptied = check.draws

    def _draw(self, draws: Draws) -> None:
        """Notes what the figures of this kind show of the draws."""

    def figures(self) -> dict[str, CheckFigures]:
        """The figures of each check, by its id."""
        drawn = self._drawn()
        return {
            check: CheckFigures(evidence=thinned(points), **drawn.get(check, {}))
            for check, points in self._evidence.items()
        }

    def _drawn(self) -> dict[str, dict[str, Any]]:
        """What is drawn of a check, by its id, beside its evidence."""
        return {}


class ShapesRecorder(Recorder):
    """Keeps the shape of the noise, and the interval of its scale."""

    def __init__(self, claim: NumbersClaim) -> None:
        super().__init__(claim)
        self._shape = ShapeRecorder(claim.mechanism.added)

    def _draw(self, draws: Draws) -> None:
        self._shape.observe(draws.released, draws.exact)

    def _drawn(self) -> dict[str, dict[str, Any]]:
        return {
            "noise-law": {"noise": self._shape.shape()},
            "noise-scale": {"scale": self._scale_trace()},
        }

    def _scale_trace(self) -> ScaleTrace | None:
        if not self._scale:
            return None
        noise = self.claim.mechanism.added
        return ScaleTrace(
            noise=str(noise),
            claimed=noise.family.scale,
            confidence=f"1 - {10.0 ** -self._thresholds['noise-scale']:.2g}",
            points=tuple((n, low, finite(high)) for n, low, high in thinned(self._scale)),
            emptied=self._emptied,
        )


_CELLS, _MOST = 40, 1 << 17  # draws that are kept, for quantiles
_REACH = 1e-3  # of the law, that lies beyond the cells on either side
_TAILS = (0.001, 0.002, 0.005, 0.01, 0.02)
SHARES = np.array([*_TAILS, *np.arange(0.05, 0.951, 0.05), *(1 - t for t in reversed(_TAILS))])
"""Shares of the law at which quantiles are computed."""


class ShapeRecorder:
    """Counts draws in cells that are fixed beforehand, and keeps some of them."""

    def __init__(self, noise: NumberNoise) -> None:
        self.noise = noise
        self.edges = _edges(noise)
        self.counts = np.zeros(self.edges.size + 1)
        self._kept: list[Vector] = []
        self._every = 1
        self._exact: dict[float, int] = {}

    def observe(self, released: Matrix, exact: Matrix) -> None:
        """Adds releases (n, k) of exact values (n, k)."""
        noise = (released - exact).ravel()
        noise = noise[np.isfinite(noise)]
        places = np.searchsorted(self.edges, noise, side="right")
        self.counts += np.bincount(places, minlength=self.counts.size)
        self._keep(noise)
        # where no sum is rounded or clamped, the law is the same for every exact value
        plain = not self.noise.grid and math.isinf(self.noise.low) and math.isinf(self.noise.high)
        values, times = (
            ([0.0], [noise.size]) if plain else np.unique(exact, return_counts=True)
        )  # fmt: skip
        for value, seen in zip(values, times, strict=True):
            self._exact[float(value)] = self._exact.get(float(value), 0) + int(seen)

    def _keep(self, noise: Vector) -> None:
        """Every draw, then every second, every fourth, ..."""
        self._kept.append(noise[:: self._every])
        if sum(part.size for part in self._kept) > _MOST:
            self._kept = [np.concatenate(self._kept)[::2]]
            self._every *= 2

    def shape(self) -> NoiseShape | None:
        """What was seen beside the law; None where nothing was."""
        total = self.counts.sum()
        if not total:
            return None
        below = np.concatenate([[0.0], self._share_below(self.edges), [1.0]])
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        expected = np.maximum(np.diff(below), 0.0)
        columns = ends[:-1], ends[1:], self.counts / total, expected
        names = "low", "high", "observed", "expected"
        cells = [dict(zip(names, cell, strict=True)) for cell in np.stack(columns, axis=1).tolist()]
        kept = np.sort(np.concatenate(self._kept))
        observed = np.quantile(kept, SHARES, method="inverted_cdf")
        quantiles = np.stack([SHARES, observed, self._quantiles()], axis=1).tolist()
        return NoiseShape(
            noise=str(self.noise),
            draws=int(total),
            kept=kept.size,
            cells=tuple(NoiseCell(**cell) for cell in cells[1:-1]),
            below=NoiseBelow(**cells[0]),
            above=NoiseAbove(**cells[-1]),
            quantiles=tuple(
                NoiseQuantile(share=share, observed=seen, expected=law)
                for share, seen, law in quantiles
            ),
        )

    def _share_below(self, values: Vector, *, inclusive: bool = False) -> Vector:
        """Shares (k,) of the law that lie below values (k,), over the exact values seen."""
        exact, times = np.array(list(self._exact)), np.array(list(self._exact.values()))
        found = np.zeros(values.size)
        for start in range(0, exact.size, 1 << 12):
            part = slice(start, start + (1 << 12))
            each = _log_below(self.noise, values[:, None], exact[part][None, :], inclusive)
            found += np.exp(each) @ times[part]
        return np.asarray(found / times.sum())

    def _quantiles(self) -> Vector:
        """The quantiles of the law at `SHARES`, by bisection."""
        scale = self.noise.family.standard_deviation
        reach = 60.0 * scale
        if math.isfinite(self.noise.low) or math.isfinite(self.noise.high):
            reach += max(map(abs, self._exact), default=0.0)
        low, high = np.full(SHARES.size, -reach), np.full(SHARES.size, reach)
        for _ in range(70):
            middle = 0.5 * (low + high)
            enough = self._share_below(middle, inclusive=True) >= SHARES
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        step = self.noise.grid or float(self.noise.family.whole)
        whole = step and all(value == round(value / step) * step for value in self._exact)
        found = np.round(high / step) * step if whole else high
        return np.asarray(np.where(np.abs(found) < 1e-9 * scale, 0.0, found))


def _log_below(noise: NumberNoise, values: Vector, exact: Vector, inclusive: bool) -> Vector:
    """Log-probability (...) that a release less its exact value lies below a value (or at it)."""
    at = values + exact
    step = noise.grid or float(noise.family.whole)
    if noise.family.whole:
        nearest = np.floor(values + 1e-9) if inclusive else np.ceil(values - 1e-9) - 1.0
        found = noise.family.log_cdf(nearest)
    elif step:
        nearest = np.floor(at / step + 1e-9) if inclusive else np.ceil(at / step - 1e-9) - 1.0
        found = noise.family.log_cdf((nearest + noise.around(nearest)[1]) * step - exact)
    else:
        found = noise.family.log_cdf(values + 0.0 * exact)
    found = np.broadcast_to(found, at.shape)
    found = np.where(at < noise.low if inclusive else at <= noise.low, -np.inf, found)
    return np.where(at >= noise.high if inclusive else at > noise.high, 0.0, found)


def _edges(noise: NumberNoise) -> NDArray[np.float64]:
    """Edges of cells of one width, which is a multiple of the grid; no edge lies on it."""
    reach = noise.family.standard_deviation
    while float(noise.family.log_survival(np.array(reach))) > math.log(_REACH):
        reach *= 1.1
    step = noise.grid or float(noise.family.whole)
    if not step:
        return np.linspace(-reach, reach, _CELLS + 1, dtype=np.float64)
    width = step * max(1, math.ceil(2.0 * reach / step / _CELLS))
    half = math.ceil(reach / width)
    return np.asarray((np.arange(-half, half + 2) - 0.5) * width, dtype=np.float64)
