"""What many queries cost together: (epsilon, delta) of a pair, bracketed from both sides.

A privacy loss distribution on a grid, rounded up for an upper bound and down for a lower one
(Meiser and Mohammadi 2018; Koskela et al. 2020), by `dp-accounting`. Both directions of the pair
are composed, as they differ. The bracket says what the pair costs, not what a deployment may claim.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Vector

if TYPE_CHECKING:
    from dp_accounting.pld import privacy_loss_distribution as pld

_WIDTH = 0.01  # of the bracket, of a rough epsilon
_FINEST = 1e-9  # interval of the grid


@dataclass(frozen=True)
class Bracket:
    """Epsilon lies between these, at the delta asked for."""

    low: float
    high: float


def epsilon_bracket(log_p: ArrayLike, log_q: ArrayLike, times: int, delta: float) -> Bracket:
    """The least epsilon at which the composed pair is (epsilon, delta)-close, both directions.

    log_p, log_q: log-probabilities (o,) of the labels of one query under either side; times:
    independent queries. The grid is chosen so that the bracket is about 1 % wide: time and memory
    grow with the queries, half a minute for 10^4 of them. Raises ValueError for no queries or a
    delta outside (0, 1).
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta {delta:g}: expected a number between 0 and 1")
    if times < 1:
        raise ValueError("no queries: expected at least one")
    p, q = (np.asarray(law, dtype=np.float64) for law in (log_p, log_q))
    interval = max(_WIDTH * _rough_epsilon(p, q, times, delta) / times, _FINEST)
    ends = []
    for pessimistic in (False, True):
        each = [
            _losses(*sides, interval, pessimistic).self_compose(times).get_epsilon_for_delta(delta)
            for sides in ((p, q), (q, p))
        ]
        ends.append(float(max(each)))
    return Bracket(*ends)


def _rough_epsilon(p: Vector, q: Vector, times: int, delta: float) -> float:
    """An estimate of epsilon by the central limit of the losses; only the grid depends on it."""
    weight = np.exp(p)
    loss = np.where(weight > 0, p - q, 0.0)
    mean = float((weight * loss).sum())
    variance = times * float((weight * np.square(loss - mean)).sum())
    return times * mean + float(np.sqrt(2.0 * variance * np.log(1.0 / delta)))


def _losses(
    p: Vector, q: Vector, interval: float, pessimistic: bool
) -> "pld.PrivacyLossDistribution":
    """The losses of one query, of P over Q: one direction at a time, as they differ."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_two_probability_mass_functions(
        dict(enumerate(q)),
        dict(enumerate(p)),
        pessimistic_estimate=pessimistic,
        value_discretization_interval=interval,
        symmetric=False,
    )
