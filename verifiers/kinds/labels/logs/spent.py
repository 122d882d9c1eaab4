"""The cost of the queries of a log so far, by each analysis."""

from collections.abc import Container, Iterable, Mapping

import numpy as np

from .....reference import Gaussian, NoisyArgmax
from .....reference.accounting.analyses import Analysis, query_cost, query_costs
from .....reference.accounting.conversions import ORDERS, best_epsilon, to_epsilon
from .....reference.accounting.gnmax import gnmax_data_dependent, gnmax_data_independent
from .....reference.accounting.neighbourhood import MOVED_VOTE, Neighbourhood
from .....reference.accounting.pure import pure_epsilon
from .....reference.arrays import Vector
from .....reference.mechanisms import ClaimedMechanism
from .store import Votes

GRID = ORDERS[::8]
"""Some of the orders: each gives a valid epsilon, and the best is nearly that of all orders."""

ANALYSES: tuple[Analysis, ...] = ("data-independent", "data-dependent", "exact")

_EXACT = 2_000  # most histograms whose exact cost is computed, in some milliseconds each
_EXACT_CLASSES = 16  # most classes for that, as its work grows with their cube
_KEPT = 50_000
_NUMBERS = ("followed", "charged", "charging")


class Spent:
    """Sums of Rényi costs at `GRID`, for the claimed neighbours.

    The data-dependent and exact costs depend on the votes, and so are not private themselves. The
    exact one is given up once there are very many histograms, or where several votes move.
    """

    def __init__(
        self, mechanism: ClaimedMechanism, classes: int, neighbourhood: Neighbourhood = MOVED_VOTE
    ) -> None:
        self.mechanism, self.classes, self.neighbourhood = mechanism, classes, neighbourhood
        self.totals: dict[Analysis, Vector] = {name: np.zeros(len(GRID)) for name in ANALYSES}
        self.followed = 0
        """Distinct histograms so far; beyond a limit, the exact cost is given up."""
        self.charged, self.charging = 0.0, 0
        """The epsilon that rows charge in total, and how many rows do."""
        self._known: dict[Votes, dict[Analysis, Vector]] = {}

    def add(self, times: Mapping[Votes, int], known: Container[Votes]) -> None:
        """Adds queries: how often each histogram was asked; known: histograms asked before."""
        self.followed += sum(votes not in known for votes in times)
        self._learn(times)
        number = np.array(list(times.values()), dtype=np.float64)
        for name in ANALYSES if self._exact else ANALYSES[:2]:
            costs = np.array([self._known[votes][name] for votes in times])
            self.totals[name] = self.totals[name] + (number[:, None] * costs).sum(0)

    def add_charges(self, charges: Iterable[float]) -> None:
        """Adds epsilons that rows charge, which compose by their sum."""
        for charge in charges:
            self.charged += charge
            self.charging += 1

    def epsilon(self, analysis: Analysis, delta: float) -> float | None:
        """Epsilon at delta of all queries so far; None if it was given up."""
        if analysis == "exact" and not self._exact:
            return None
        if not self.totals[analysis].any():  # a conversion would give more than 0
            return 0.0
        return to_epsilon(GRID, self.totals[analysis], delta).epsilon

    def least_epsilon(self, analysis: Analysis, delta: float, times: Mapping[Votes, int]) -> float:
        """As `epsilon`, over all orders, as `dpassay account` gives it.

        times: how often each histogram was asked, of all that were.
        """
        votes, number = np.array(list(times)), np.array(list(times.values()), dtype=np.float64)

        def cost(orders: Vector) -> Vector:
            costs = query_costs(
                votes,
                self.mechanism,
                orders,
                analysis,
                neighbourhood=self.neighbourhood,
                charging="all",
            )
            return np.asarray(number @ costs)

        noise = self.mechanism.noise
        gaussian = isinstance(noise.unrounded, Gaussian)
        pure = np.inf if gaussian else pure_epsilon(noise, self.neighbourhood)
        return best_epsilon(cost, delta, pure=float(number.sum()) * pure).epsilon

    @property
    def _exact(self) -> bool:
        few = self.followed <= _EXACT and self.classes <= _EXACT_CLASSES
        return few and self.neighbourhood.votes == 1

    def state(self) -> dict[str, object]:
        """The state as JSON, which keeps every bit of a float."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return numbers | {name: total.tolist() for name, total in self.totals.items()}

    def restore(self, kept: Mapping[str, object]) -> None:
        """Restores a saved state."""
        for name in _NUMBERS:
            setattr(self, name, kept[name])
        self.totals = {name: np.array(kept[name], dtype=np.float64) for name in ANALYSES}

    def _learn(self, asked: Iterable[Votes]) -> None:
        """Computes the costs of histograms that are not known yet."""
        names = ANALYSES if self._exact else ANALYSES[:2]
        new = [votes for votes in asked if votes not in self._known]
        if len(self._known) + len(new) > _KEPT:
            self._known.clear()
            new = list(asked)
        if isinstance(self.mechanism, NoisyArgmax) and isinstance(self.mechanism.noise, Gaussian):
            sigma = self.mechanism.noise.scale  # thousands of histograms at once
            votes_asked = np.array(new).reshape(-1, self.classes)
            dependent = gnmax_data_dependent(votes_asked, sigma, GRID, self.neighbourhood)
            independent = gnmax_data_independent(sigma, GRID, self.neighbourhood)
            for votes, cost in zip(new, dependent, strict=True):
                self._known[votes] = {"data-independent": independent, "data-dependent": cost}
        for votes in new:
            found = self._known.setdefault(votes, {})
            for name in names:
                if name not in found:
                    found[name] = query_cost(
                        votes, self.mechanism, GRID, name, neighbourhood=self.neighbourhood
                    )
