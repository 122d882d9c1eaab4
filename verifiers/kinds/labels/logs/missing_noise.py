"""Where noise that is missing in some rows of a log would have shown.

That follows from the claim and from the histograms that were asked, and from no label. Each figure
is a lower bound: it takes one wager of the evidence, where the evidence has them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .....reference.arrays import Matrix, Vector
from ....evidence.dirichlet import LEAK
from ....evidence.onset import log_prior
from ....evidence.power import MISSES

_POWERS = np.array([0.5, 1.0, 2.0, 5.0, 20.0, 100.0])
"""Exponents s of Chernoff's bound. Where no chance is left in a row, the largest costs next to
nothing; where the row may be refused, a smaller one does best."""

_COSTS = np.log(1.0 / MISSES) / _POWERS
_QUANTILE = 2.3263478740408408  # of the normal law, exceeded with probability `MISSES`
_SHARES = np.array([k / 10.0**d for d in (4, 3, 2) for k in range(10, 100)] + [1.0])
_ROUNDING = 1e-9  # of probabilities, and of nats that a row without noise may lose


class Shows(NamedTuple):
    """What rows add to the evidence if their noise is missing.

    gains: (n, s), by which the log-ratio of missing noise grows, at each exponent of `_POWERS`:
    -log E[exp(-s r)] / s; moments: (n, a, 5) of the log-ratio r of each alternative, with mean m
    and second moment q under the claim, m' and q' without noise: m, d = m' - m, q - m^2,
    q' - q - 2 m d, d^2. So r of a row that has no noise with probability p has the mean m + p d and
    the variance (q - m^2) + p (q' - q - 2 m d) - p^2 d^2.
    """

    gains: Matrix
    moments: Matrix


def shows_of(log_q: Matrix, ratios: Matrix, bare: int) -> Shows:
    """Of histograms with log Q (b, o) and log-ratios (b, a, o); bare: index of missing noise."""
    q, ratio = np.exp(log_q), ratios[:, bare]
    without = np.exp(log_q + ratio) - LEAK * q  # the wager has some of the claim
    without = np.where(without > _ROUNDING * q, without, 0.0)
    without /= without.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.log(without)
    gains = [-logsumexp(logs - s * ratio, axis=-1) / s for s in _POWERS]
    finite = np.where(q[:, None] > 0.0, ratios, 0.0)
    mean, square = (np.einsum("bo,bao->ba", q, finite**k) for k in (1, 2))
    bare_mean, bare_square = (np.einsum("bo,bao->ba", without, finite**k) for k in (1, 2))
    d = bare_mean - mean
    moments = [mean, d, square - mean**2, bare_square - square - 2.0 * mean * d, d**2]
    return Shows(np.stack(gains, -1), np.stack(moments, -1))


@dataclass
class Group:
    """Rows of one worker, client or hour: how many, and what they add without noise.

    gains: (s,), moments: (a, 2), the mean and variance that their log-ratios have more.
    """

    rows: int
    gains: Vector
    moments: Matrix


@dataclass(frozen=True)
class Seen:
    """Which groups of one kind would show that they have no noise.

    names: of those that would; groups: of all that were looked at; rows: a group with so many rows
    would have shown, None where none would.
    """

    names: tuple[str, ...]
    groups: int
    rows: int | None


class MissingNoise:
    """Adds up what rows would have gained.

    wanted: (a,), evidence that each alternative needs, by its weight, from the first row on; later:
    that which missing noise needs from later rows on, where the prior of the row comes on top; of_
    groups: by kind, the evidence that each group needs of its own wager, in the order in which they
    occur.
    """

    def __init__(self, wanted: Vector, bare: int, of_groups: "dict[str, Vector]") -> None:
        self._wanted, self._of_groups = wanted, of_groups
        self.runs = Runs(float(wanted[bare]))
        self._sums = np.zeros((wanted.size, 5))
        self._groups: dict[str, dict[str, Group]] = {kind: {} for kind in of_groups}

    def observe(self, shows: Shows, names: Sequence[Sequence[str | None]]) -> None:
        """Adds rows; names: of the group (n,) that each row is in, of each kind."""
        self.runs.observe(shows.gains)
        self._sums += shows.moments.sum(0)
        for kind, each in zip(self._groups, names, strict=True):
            if any(each):
                self._add(self._groups[kind], self._of_groups[kind].size, each, shows)

    def _add(
        self, groups: dict[str, Group], most: int, names: Sequence[str | None], shows: Shows
    ) -> None:
        for name in dict.fromkeys(names):
            if name is None or (name not in groups and len(groups) >= most):
                continue
            here = np.array([other == name for other in names])
            gains, moments = shows.gains[here].sum(0), shows.moments[here].sum(0)
            group = groups.setdefault(
                name, Group(0, np.zeros(gains.shape), np.zeros((len(moments), 2)))
            )
            group.rows += int(here.sum())
            group.gains += gains
            group.moments += np.stack([moments[:, 1], moments[:, 3] - moments[:, 4]], -1)

    @property
    def share(self) -> float | None:
        """The least share of rows, drawn at random, without noise; None if none would show."""
        p = _SHARES[:, None]
        m, d, v, e, d2 = self._sums.T
        surely = self._surely(m + p * d, v + p * e - p**2 * d2)
        hidden = np.flatnonzero(~surely)
        first = 0 if hidden.size == 0 else int(hidden[-1]) + 1
        return None if first == _SHARES.size else float(_SHARES[first])

    def seen(self, kind: str) -> Seen:
        """Which groups of a kind would show that none of their rows has noise."""
        groups, wanted = self._groups[kind], self._of_groups[kind]
        m, v = self._sums[:, 0], self._sums[:, 2]
        found = {
            name: bool((group.gains - _COSTS >= wanted[at]).any())
            or bool(self._surely(m + group.moments[:, 0], v + group.moments[:, 1]))
            for at, (name, group) in enumerate(groups.items())
        }
        unseen = max((groups[name].rows for name, shown in found.items() if not shown), default=0)
        enough = [groups[name].rows for name, shown in found.items() if shown]
        least = min((rows for rows in enough if rows > unseen), default=None)
        return Seen(tuple(name for name, shown in found.items() if shown), len(groups), least)

    def _surely(self, mean: Matrix, variance: Matrix) -> NDArray[np.bool_]:
        """Whether log-ratios (..., a), sums over many rows, show with probability 0.99."""
        lowest = mean - _QUANTILE * np.sqrt(np.maximum(variance, 0.0))
        return np.asarray((lowest >= self._wanted).any(-1))


@dataclass
class Runs:
    """The longest run of rows without noise that would not have shown.

    wanted: evidence that missing noise needs from the first row on; `log_prior` of the row comes on
    top for later ones. A run that begins after some rows shows once the wager that sets in there
    has gained what it needs.
    """

    wanted: float
    rows: int = 0
    longest: int = 0
    _before: Vector = field(default_factory=lambda: np.zeros(_POWERS.size))
    _starts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _needed: Matrix = field(default_factory=lambda: np.zeros((0, _POWERS.size)))
    _lost: bool = False

    def observe(self, gains: Matrix) -> None:
        """Adds rows (n, s), as of `Shows`."""
        n = len(gains)
        self._lost |= bool((gains < -_ROUNDING).any())  # needs would not be in order
        grown = self._before + np.vstack([np.zeros(_POWERS.size), np.cumsum(gains, 0)])
        starts = self.rows + np.arange(n)
        late = np.where(starts > 0, -log_prior(starts.astype(np.float64) + 1.0), 0.0)
        needed = grown[:-1] + (self.wanted + late)[:, None] + _COSTS
        self._starts = np.concatenate([self._starts, starts])
        self._needed = np.vstack([self._needed, needed])
        ends = np.min(
            [np.searchsorted(grown[:, s], self._needed[:, s]) for s in range(_POWERS.size)], 0
        )
        shown = ends <= n
        if shown.any():
            lengths = self.rows + ends[shown] - self._starts[shown]
            self.longest = max(self.longest, int(lengths.max()))
        self._starts, self._needed = self._starts[~shown], self._needed[~shown]
        self._before = grown[-1]
        self.rows += n

    @property
    def last(self) -> int | None:
        """So many rows at the end of the log would have shown; None if all would not."""
        first = int(self._starts[0]) if self._starts.size else self.rows
        return None if self._lost or first == 0 else self.rows - first + 1

    @property
    def anywhere(self) -> int | None:
        """So many rows in a row, wherever they are, would have shown; None if all would not."""
        return None if self.last is None else max(self.longest, self.last)
