"""What a training with Gaussian noise costs, by how its batches are drawn."""

import math
from typing import Any

import numpy as np

from ..batches import Batches, Draws
from .composition import Bracket
from .conversions import ORDERS

_INTERVAL = 1e-4  # of the grid of losses
_ROUNDING = 1e-12
"""Room for rounding errors of sums over the grid, which lie near 1e-15 for each of their terms."""


def batches_epsilon(batches: Batches, multiplier: float, steps: int, delta: float) -> Bracket:
    """Epsilon at `delta` of so many steps; multiplier: of the noise, to the norm of a record.

    Poisson sampling, for a record more or less: privacy loss distributions, rounded down and up,
    the lower end at a delta that is larger by 1e-3 of it and by 1e-12, for rounding errors. A fixed
    size, for a record that is another: the bound of Wang, Balle and Kasiviswanathan 2019 (arXiv
    1808.00087, Theorem 9), so that the bracket begins at 0. Shuffled epochs: at most
    `epochs_epsilon`; what the shuffling takes off is not known, and the bracket begins at 0.
    """
    from dp_accounting import GaussianDpEvent, NeighboringRelation, SampledWithoutReplacementDpEvent
    from dp_accounting.pld import privacy_loss_distribution as pld
    from dp_accounting.rdp import RdpAccountant

    if batches.how is Draws.SHUFFLE:
        return Bracket(0.0, epochs_epsilon(batches, multiplier, steps, delta))
    if batches.how is Draws.FIXED:
        accountant = RdpAccountant(ORDERS.tolist(), NeighboringRelation.REPLACE_ONE)
        one = SampledWithoutReplacementDpEvent(
            batches.records, int(batches.amount), GaussianDpEvent(multiplier)
        )
        accountant.compose(one, steps)
        return Bracket(0.0, float(accountant.get_epsilon(delta)))
    how: dict[str, Any] = {"value_discretization_interval": _INTERVAL}
    found = []
    for up in (False, True):
        step = pld.from_gaussian_mechanism(
            multiplier,
            sampling_prob=batches.amount,
            pessimistic_estimate=up,
            use_connect_dots=up,
            **how,
        )
        at = delta if up else delta * (1.0 + 1e-3) + _ROUNDING
        found.append(float(step.self_compose(steps).get_epsilon_for_delta(at)))
    return Bracket(*found)


def epochs_epsilon(batches: Batches, multiplier: float, steps: int, delta: float) -> float:
    """Epsilon of so many steps without amplification: each record is in one batch of an epoch.

    What is true of shuffled epochs, whatever the order: for a record that is there or is left out
    of its batch, each epoch is one Gaussian mechanism, as its other batches do not depend on it.
    """
    from dp_accounting.pld import privacy_loss_distribution as pld

    epochs = math.ceil(steps / batches.epoch)
    whole = pld.from_gaussian_mechanism(
        multiplier / np.sqrt(epochs), value_discretization_interval=_INTERVAL
    )
    return float(whole.get_epsilon_for_delta(delta))
