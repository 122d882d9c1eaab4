"""What a training with Gaussian noise costs, by how its batches are drawn."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Vector
from ..batches import BatchDraws, Batches
from .composition import Bracket
from .conversions import ORDERS

if TYPE_CHECKING:
    from dp_accounting.pld import privacy_loss_distribution as pld

_INTERVAL = 1e-4  # of the grid of losses
_COARSE = 1e-3  # for whole curves: a tenth of the time
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
    from dp_accounting.rdp import RdpAccountant

    if batches.how is BatchDraws.SHUFFLE:
        return Bracket(0.0, epochs_epsilon(batches, multiplier, steps, delta))
    if batches.how is BatchDraws.FIXED:
        accountant = RdpAccountant(ORDERS.tolist(), NeighboringRelation.REPLACE_ONE)
        one = SampledWithoutReplacementDpEvent(
            batches.records, int(batches.amount), GaussianDpEvent(multiplier)
        )
        accountant.compose(one, steps)
        return Bracket(0.0, float(accountant.get_epsilon(delta)))
    found = []
    for up in (False, True):
        losses = _poisson(batches.amount, multiplier, steps, up=up)
        at = delta if up else delta * (1.0 + 1e-3) + _ROUNDING
        found.append(float(losses.get_epsilon_for_delta(at)))
    return Bracket(*found)


def poisson_deltas(rate: float, multiplier: float, steps: int, epsilons: Vector) -> Vector:
    """What delta (k,) so many steps of Poisson sampling have at most, at each of epsilons (k,).

    For a record more or less; rate: with which a record is in a batch; multiplier: as of
    `batches_epsilon`. By privacy loss distributions, rounded up.
    """
    losses = _poisson(rate, multiplier, steps, up=True, interval=_COARSE)
    deltas = np.asarray(losses.get_delta_for_epsilon(epsilons), dtype=np.float64)
    return np.clip(deltas + _ROUNDING, 0.0, 1.0)


def _poisson(
    rate: float, multiplier: float, steps: int, *, up: bool, interval: float = _INTERVAL
) -> "pld.PrivacyLossDistribution":
    """The privacy loss of so many steps of Poisson sampling, rounded up or down."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    step = pld.from_gaussian_mechanism(
        multiplier,
        sampling_prob=rate,
        pessimistic_estimate=up,
        use_connect_dots=up,
        value_discretization_interval=interval,
    )
    return step.self_compose(steps)


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
