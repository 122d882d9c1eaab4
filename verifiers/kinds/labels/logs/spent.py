"""What the queries of a log have cost, by every analysis, as they come."""

from collections.abc import Container, Iterable, Mapping

import numpy as np

from .....reference import ConfidentGNMax, Gaussian, NoisyArgmax
from .....reference.accounting.analyses import Analysis, query_cost
from .....reference.accounting.conversions import ORDERS, to_epsilon
from .....reference.accounting.gnmax import gnmax_data_dependent, gnmax_data_independent
from .....reference.arrays import Vector
from .store import Votes

GRID = ORDERS[::8]
"""A few dozen orders: each gives a valid epsilon, the best of them about the best of all."""

ANALYSES: tuple[Analysis, ...] = ("data-independent", "data-dependent", "exact")

_EXACT = 2_000  # histograms whose exact cost is worked out: some milliseconds each
_EXACT_CLASSES = 16  # at most: its work grows with the cube of the classes
_KEPT = 50_000
_NUMBERS = ("followed", "charged", "charging")


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
        self.charged, self.charging = 0.0, 0
        """The epsilon that the deployment says it has charged, and the rows that say so."""
        self._known: dict[Votes, dict[Analysis, Vector]] = {}

    def add(self, times: Mapping[Votes, int], known: Container[Votes]) -> None:
        """Adds queries: how often each histogram was asked; known: those asked before."""
        self.followed += sum(votes not in known for votes in times)
        self._learn(times)
        number = np.array(list(times.values()), dtype=np.float64)
        for name in ANALYSES if self._exact else ANALYSES[:2]:
            costs = np.array([self._known[votes][name] for votes in times])
            self.totals[name] = self.totals[name] + (number[:, None] * costs).sum(0)

    def add_charges(self, charges: Iterable[float]) -> None:
        """Adds what the deployment has charged: epsilons, which compose by their sum."""
        for charge in charges:
            self.charged += charge
            self.charging += 1

    def epsilon(self, analysis: Analysis, delta: float) -> float | None:
        """Epsilon at delta of all queries so far; None where it is not followed."""
        if analysis == "exact" and not self._exact:
            return None
        if not self.totals[analysis].any():  # no conversion of Rényi costs is as low
            return 0.0
        return to_epsilon(GRID, self.totals[analysis], delta).epsilon

    @property
    def _exact(self) -> bool:
        return self.followed <= _EXACT and self.classes <= _EXACT_CLASSES

    def as_json(self) -> dict[str, object]:
        """For those who keep it; JSON keeps every bit of a float."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return numbers | {name: total.tolist() for name, total in self.totals.items()}

    def restore(self, kept: Mapping[str, object]) -> None:
        """Takes up what was kept."""
        for name in _NUMBERS:
            setattr(self, name, kept[name])
        self.totals = {name: np.array(kept[name], dtype=np.float64) for name in ANALYSES}

    def _learn(self, asked: Iterable[Votes]) -> None:
        """Works out the costs that are not known, once the exact ones are wanted or not."""
        names = ANALYSES if self._exact else ANALYSES[:2]
        new = [votes for votes in asked if votes not in self._known]
        if len(self._known) + len(new) > _KEPT:
            self._known.clear()
            new = list(asked)
        if isinstance(self.mechanism, NoisyArgmax) and isinstance(self.mechanism.noise, Gaussian):
            sigma = self.mechanism.noise.scale  # thousands of histograms at once
            dependent = gnmax_data_dependent(np.array(new).reshape(-1, self.classes), sigma, GRID)
            independent = gnmax_data_independent(sigma, GRID)
            for votes, cost in zip(new, dependent, strict=True):
                self._known[votes] = {"data-independent": independent, "data-dependent": cost}
        for votes in new:
            found = self._known.setdefault(votes, {})
            for name in names:
                if name not in found:
                    found[name] = np.asarray(query_cost(votes, self.mechanism, GRID, name))
