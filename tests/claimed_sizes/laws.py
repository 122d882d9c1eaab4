"""Laws of noise that lie so far from a claimed one in total variation, over cells of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_FAR = 45.0  # scales of the noise, beyond which nothing is drawn
_FINE = 200_001


class Quantiles:
    """The quantile function of a family of noise, whole or not."""

    def __init__(self, family: Any) -> None:
        self.whole = family.whole
        far = _FAR * family.scale
        self.x = np.arange(-np.ceil(far), np.ceil(far) + 1) if self.whole else None
        grid = self.x if self.x is not None else np.linspace(-far, far, _FINE)
        self.grid, self.below = grid, np.exp(family.log_cdf(grid))

    def __call__(self, u: Numbers) -> Numbers:
        if not self.whole:
            return np.asarray(np.interp(u, self.below, self.grid))
        at = np.searchsorted(self.below, u, side="left")
        return np.asarray(self.grid[np.minimum(at, self.grid.size - 1)])

    @property
    def masses(self) -> Numbers:
        """Of whole noise, the probability of each number of the grid."""
        return np.diff(self.below, prepend=0.0)


class OtherLaw:
    """Noise whose cells of equal probability are too likely and too rare by turns.

    total_variation: of the masses of the `cells`; where whole numbers are too coarse for turns of
    one cell, turns are of several. Raises ValueError where no such law is that far away.
    """

    def __init__(self, family: Any, total_variation: float, cells: int) -> None:
        self.quantiles, self.cells = Quantiles(family), cells
        self.shares: Numbers | None = None
        if not self.quantiles.whole:
            self.shares = _turned(total_variation, cells, 1) / cells
            return
        masses = self.quantiles.masses
        ends = np.clip(np.cumsum(masses), 0.0, 1.0)
        edges = np.arange(cells + 1) / cells
        starts = np.concatenate([[0.0], ends[:-1]])
        held = np.minimum(ends[:, None], edges[1:]) - np.maximum(starts[:, None], edges[:-1])
        held = np.maximum(held, 0.0)  # of each number, what lies in each cell
        for turn in (1, 2, cells // 2):
            for larger in np.linspace(total_variation, 1.0 - 1.0 / cells, 400):
                law = held @ _turned(float(larger), cells, turn)
                law /= law.sum()
                often = law / np.maximum(masses, 1e-300)
                found = 0.5 * np.abs((held * often[:, None]).sum(0) - 1.0 / cells).sum()
                if found >= total_variation:
                    self.law = law
                    return
        raise ValueError(f"no whole noise is {total_variation:g} away over {cells} cells")

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator) -> Numbers:
        """So many numbers."""
        if self.shares is None:
            return np.asarray(rng.choice(self.quantiles.grid, shape, p=self.law))
        cell = rng.choice(self.cells, shape, p=self.shares)
        return self.quantiles((cell + rng.random(shape)) / self.cells)


def _turned(total_variation: float, cells: int, turn: int) -> Numbers:
    """How much likelier each cell (cells,) is; every second turn of them, or fewer, is likelier."""
    more = np.arange(cells) // turn % 2 == 0
    most = int(np.floor(cells * (1.0 - total_variation) + 1e-9))
    if most < more.sum():
        more = np.zeros(cells, dtype=bool)
        more[np.linspace(0, cells - 1, max(most, 1)).astype(int)] = True
    share = more.mean()
    up, down = total_variation / share, min(1.0, total_variation / (1.0 - share))
    return np.asarray(np.where(more, 1.0 + up, 1.0 - down))
