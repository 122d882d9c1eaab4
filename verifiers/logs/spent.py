"""What the queries of a log have cost, by every analysis, as they come."""

from collections.abc import Container, Mapping

import numpy as np

from ...reference import ConfidentGNMax, NoisyArgmax
from ...reference.accounting.analyses import Analysis, query_cost
from ...reference.accounting.conversions import ORDERS, to_epsilon
from ...reference.arrays import Vector
from .store import Votes

GRID = ORDERS[::8]
"""A few dozen orders: each gives a valid epsilon, the best of them about the best of all."""

ANALYSES: tuple[Analysis, ...] = ("data-independent", "data-dependent", "exact")

_EXACT = 2_000  # histograms whose exact cost is worked out: some milliseconds each
_EXACT_CLASSES = 16  # at most: its work grows with the cube of the classes
_KEPT = 50_000


class Spent:
    """Sums of Rényi costs at `GRID`, replace-one neighbours.

    The data-dependent and the exact costs are themselves a function of the votes, and no guarantee
    that may be published. The exact one is given up once there are very many histograms.
    """

    def __init__(self, mechanism: NoisyArgmax | ConfidentGNMax, classes: int) -> None:
        self.mechanism, self.classes = mechanism, classes
        self.totals: dict[Analysis, Vector] = {name: np.zeros(len(GRID)) for name in ANALYSES}
        self.followed = 0
        """Histograms so far; beyond a limit, the exact cost is given up."""
        self._known: dict[Votes, dict[Analysis, Vector]] = {}

    def add(self, times: Mapping[Votes, int], known: Container[Votes]) -> None:
        """Adds queries: how often each histogram was asked; known: those asked before."""
        self.followed += sum(votes not in known for votes in times)
        for votes, number in times.items():
            for name, cost in self._costs(votes).items():
                self.totals[name] = self.totals[name] + number * cost

    def epsilon(self, analysis: Analysis, delta: float) -> float | None:
        """Epsilon at delta of all queries so far; None where it is not followed."""
        if analysis == "exact" and not self._exact:
            return None
        return to_epsilon(GRID, self.totals[analysis], delta).epsilon

    @property
    def _exact(self) -> bool:
        return self.followed <= _EXACT and self.classes <= _EXACT_CLASSES

    def as_json(self) -> dict[str, object]:
        """For those who keep it; JSON keeps every bit of a float."""
        return {"followed": self.followed} | {k: v.tolist() for k, v in self.totals.items()}

    def restore(self, kept: Mapping[str, object]) -> None:
        """Takes up what was kept."""
        self.followed = int(str(kept["followed"]))
        self.totals = {name: np.array(kept[name], dtype=np.float64) for name in ANALYSES}

    def _costs(self, votes: Votes) -> dict[Analysis, Vector]:
        found = self._known.get(votes)
        if found is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            names = ANALYSES if self._exact else ANALYSES[:2]
            found = {n: np.asarray(query_cost(votes, self.mechanism, GRID, n)) for n in names}
            self._known[votes] = found
        return found
