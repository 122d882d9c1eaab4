"""Where noise that is missing in some rows of a log would have shown.

That follows from the claim and from the histograms that were asked, and from no label. Each figure
is a lower bound: it takes one wager of the evidence, where the evidence has them all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....evidence.onset import log_prior
from ....evidence.power import MISSES
from .laws import POWERS, ROUNDING, Shows

COSTS = np.log(1.0 / MISSES) / POWERS
"""Of the bound on what rows gain, at each of `POWERS`."""

_QUANTILE = 2.3263478740408408  # of the normal law, exceeded with probability `MISSES`
_SHARES = np.array([k / 10.0**d for d in (4, 3, 2) for k in range(10, 100)] + [1.0])


@dataclass
class RowsOfParty:
    """Rows of one worker, client or hour: how many, and what they add without noise.

    gains: (s,), moments: (a, 2), the mean and variance that their log-ratios have more.
    """

    rows: int
    gains: Vector
    moments: Matrix


class PartiesShown(NamedTuple):
    """Which parties of one kind would show that they have no noise.

    names: of those that would, or of the first of them; seen: how many would; parties: how many
    were looked at; rows: a party with so many rows would have shown, None where none would.
    """

    names: tuple[str, ...]
    seen: int
    parties: int
    rows: int | None


class MissingNoise:
    """Adds up what rows would have gained.

    wanted: (a,), evidence that each alternative needs, by its weight, from the first row on; bare:
    index of missing noise; of_parties: by kind, what each party needs of its own wager, in order.
    """

    def __init__(self, wanted: Vector, bare: int, of_parties: Mapping[str, Vector]) -> None:
        self._wanted, self._of_parties = wanted, of_parties
        self.runs = Runs(float(wanted[bare]))
        self._sums = np.zeros((wanted.size, 5))
        self._parties: dict[str, dict[str, RowsOfParty]] = {kind: {} for kind in of_parties}

    def observe(self, shows: Shows, names: Sequence[Sequence[str | None]]) -> None:
        """Adds rows; names: of the party (n,) that each row is of, of each kind."""
        self.runs.observe(shows.gains)
        self._sums += shows.moments.sum(0)
        for (kind, parties), each in zip(self._parties.items(), names, strict=True):
            for name in dict.fromkeys(each):
                fits = name in parties or len(parties) < self._of_parties[kind].size
                if name is not None and fits:
                    here = np.array([other == name for other in each])
                    self._add(parties, name, shows.gains[here], shows.moments[here])

    def _add(
        self, parties: dict[str, RowsOfParty], name: str, gains: Matrix, moments: Matrix
    ) -> None:
        """Adds rows of a party: gains (n, s) and moments (n, a, 5), as of `Shows`."""
        nothing = RowsOfParty(0, np.zeros(POWERS.size), np.zeros((self._wanted.size, 2)))
        party = parties.setdefault(name, nothing)
        total = moments.sum(0)
        party.rows += len(gains)
        party.gains += gains.sum(0)
        party.moments += np.stack([total[:, 1], total[:, 3] - total[:, 4]], -1)

    @property
    def share(self) -> float | None:
        """The least share of rows, drawn at random, without noise; None if none would show."""
        p = _SHARES[:, None]
        m, d, v, e, d2 = self._sums.T
        surely = self._surely(m + p * d, v + p * e - p**2 * d2)
        hidden = np.flatnonzero(~surely)
        first = 0 if hidden.size == 0 else int(hidden[-1]) + 1
        return None if first == _SHARES.size else float(_SHARES[first])

    def of_parties(self, kind: str) -> PartiesShown:
        """Which parties of a kind would show that none of their rows has noise."""
        parties, m, v = self._parties[kind], self._sums[:, 0], self._sums[:, 2]
        names, unseen = [], 0
        for wanted, (name, party) in zip(self._of_parties[kind], parties.items(), strict=False):
            mean, variance = party.moments.T
            if (party.gains - COSTS >= wanted).any() or self._surely(m + mean, v + variance):
                names.append(name)
            else:
                unseen = max(unseen, party.rows)
        enough = (parties[name].rows for name in names)
        least = min((rows for rows in enough if rows > unseen), default=None)
        return PartiesShown(tuple(names), len(names), len(parties), least)

    def _surely(self, mean: Matrix, variance: Matrix) -> NDArray[np.bool_]:
        """Whether log-ratios (..., a), sums over many rows, show with probability 0.99."""
        lowest = mean - _QUANTILE * np.sqrt(np.maximum(variance, 0.0))
        return np.asarray((lowest >= self._wanted).any(-1))


class Runs:
    """The longest run of rows without noise that would not have shown.

    wanted: evidence that missing noise needs from the first row on; `log_prior` of the row comes on
    top for later ones. A run that begins after some rows shows once the wager that sets in there
    has gained what it needs.
    """

    def __init__(self, wanted: float) -> None:
        self.wanted = wanted
        self.rows = self.longest = 0
        self._grown = np.zeros(POWERS.size)
        self._starts = np.zeros(0, dtype=np.int64)
        self._needed = np.zeros((0, POWERS.size))
        self._lost = False

    def observe(self, gains: Matrix) -> None:
        """Adds rows (n, s), as of `Shows`."""
        n = len(gains)
        self._lost |= bool((gains < -ROUNDING).any())  # needs would not be in order
        grown = self._grown + np.vstack([np.zeros(POWERS.size), np.cumsum(gains, 0)])
        starts = self.rows + np.arange(n)
        late = np.where(starts > 0, -log_prior(starts.astype(np.float64) + 1.0), 0.0)
        needed = grown[:-1] + (self.wanted + late)[:, None] + COSTS
        self._starts = np.concatenate([self._starts, starts])
        self._needed = np.vstack([self._needed, needed])
        ends = np.min(
            [np.searchsorted(grown[:, s], self._needed[:, s]) for s in range(POWERS.size)], 0
        )
        shown = ends <= n
        if shown.any():
            lengths = self.rows + ends[shown] - self._starts[shown]
            self.longest = max(self.longest, int(lengths.max()))
        self._starts, self._needed = self._starts[~shown], self._needed[~shown]
        self._grown = grown[-1]
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
