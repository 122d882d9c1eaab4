"""What queries cost by how many were answered and refused alone, whatever the votes."""

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Matrix
from ..mechanisms import (
    ConfidentGNMax,
    InteractiveGNMax,
    KnownMechanism,
    UnknownMechanismError,
)
from .adjacency import Adjacency, between
from .analyses import answer_data_independent
from .confident import threshold_data_independent
from .conversions import ORDERS, to_epsilon
from .neighbourhood import MOVED_VOTE, Neighbourhood


@between(Adjacency.REPLACE_ONE)
def release_costs(
    mechanism: KnownMechanism, orders: ArrayLike, neighbourhood: Neighbourhood = MOVED_VOTE
) -> tuple[Matrix, Matrix]:
    """Rényi costs (n,) of the threshold's test, 0 without one, and of an answer after it.

    By the data-independent analyses; a refused query costs its test, an answered one both. So do
    those of Interactive-GNMax, where the student's label was confirmed as where there is none
    (`interactive.interactive_cost`). Raises UnknownMechanismError for any other mechanism.
    """
    if not isinstance(mechanism, KnownMechanism):
        raise UnknownMechanismError(mechanism, "costs by the number of queries")
    answer = answer_data_independent(mechanism.noise, orders, neighbourhood)
    if isinstance(mechanism, ConfidentGNMax | InteractiveGNMax):
        noise = mechanism.threshold_noise
        return threshold_data_independent(noise.scale, orders, neighbourhood), answer
    return np.zeros_like(answer), answer


class CountedCost:
    """Epsilon of so many answered and refused queries of one mechanism, on the grid of orders."""

    def __init__(
        self, mechanism: KnownMechanism, neighbourhood: Neighbourhood = MOVED_VOTE
    ) -> None:
        self._refused, answer = release_costs(mechanism, ORDERS, neighbourhood)
        self._answered = self._refused + answer

    def epsilon(self, answered: int, refused: int, delta: float) -> float:
        """The epsilon of all of them together at `delta`."""
        if answered + refused == 0:
            return 0.0
        costs = answered * self._answered + refused * self._refused
        return to_epsilon(ORDERS, costs, delta).epsilon
