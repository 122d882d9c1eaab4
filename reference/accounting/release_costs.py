"""What queries cost by how many were answered and refused alone, whatever the votes."""

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Matrix
from ..mechanisms import KnownMechanism, SampledArgmax, ScreenedGNMax, UnknownMechanismError
from .analyses import answer_data_independent, sampled_data_independent
from .conversions import ORDERS, best_epsilon, to_epsilon
from .neighbourhood import MOVED_VOTE, Neighbourhood
from .pure import pure_epsilon
from .screened import threshold_data_independent


def release_costs(
    mechanism: KnownMechanism,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    *,
    teachers: int | None = None,
) -> tuple[Matrix, Matrix]:
    """Rényi costs (n,) of the threshold's test, 0 without one, and of an answer after it.

    By the data-independent analyses; a refused query costs its test, an answered one both. So do
    those of Interactive-GNMax, where the student's label was confirmed as where there is none
    (`screened.screened_cost`). teachers: of whom some are drawn, where they are. Raises
    UnknownMechanismError for any other mechanism, and where it is of drawn teachers, without their
    number or between other votes than one moved.
    """
    if not isinstance(mechanism, KnownMechanism):
        raise UnknownMechanismError(mechanism, "costs by the number of queries")
    if isinstance(mechanism.answering, SampledArgmax):
        if teachers is None or neighbourhood != MOVED_VOTE:
            raise UnknownMechanismError(mechanism, "costs by the number of queries")
        answer = sampled_data_independent(mechanism.answering, teachers, orders)
        return np.zeros_like(answer), answer
    answer = answer_data_independent(mechanism.noise, orders, neighbourhood)
    if isinstance(mechanism, ScreenedGNMax):
        noise = mechanism.threshold_noise
        return threshold_data_independent(noise.scale, orders, neighbourhood), answer
    return np.zeros_like(answer), answer


class CountedCost:
    """Epsilon of so many answered and refused queries of one mechanism."""

    def __init__(
        self,
        mechanism: KnownMechanism,
        neighbourhood: Neighbourhood = MOVED_VOTE,
        *,
        teachers: int | None = None,
    ) -> None:
        self._how = mechanism, neighbourhood, teachers
        self._refused, answer = release_costs(mechanism, ORDERS, neighbourhood, teachers=teachers)
        self._answered = self._refused + answer

    def epsilon(self, answered: int, refused: int, delta: float) -> float:
        """The epsilon of all of them together at `delta`, on the grid of orders."""
        if answered + refused == 0:
            return 0.0
        costs = answered * self._answered + refused * self._refused
        return to_epsilon(ORDERS, costs, delta).epsilon

    def least_epsilon(self, answered: int, refused: int, delta: float) -> float:
        """As `epsilon`, over all orders, and by pure privacy where that is less: what is told."""
        if answered + refused == 0:
            return 0.0
        mechanism, neighbourhood, teachers = self._how

        def cost(orders: Matrix) -> Matrix:
            screen, answer = release_costs(mechanism, orders, neighbourhood, teachers=teachers)
            return np.asarray((answered + refused) * screen + answered * answer)

        pure = pure_epsilon(mechanism.noise, neighbourhood)
        return best_epsilon(cost, delta, pure=(answered + refused) * pure).epsilon
