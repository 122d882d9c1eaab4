"""What many queries cost together: (epsilon, delta) of a pair, bracketed from both sides.

A privacy loss distribution on a grid, rounded up for an upper bound and down for a lower one
(Meiser and Mohammadi 2018; Koskela et al. 2020), by `dp-accounting`. Both directions of the pair
are composed, as they differ. The bracket says what the pair costs, not what a deployment may claim.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from dp_accounting.pld import privacy_loss_distribution as pld

_WIDTH = 0.01  # of the bracket, of a rough epsilon
_FINEST = 1e-9  # interval of the grid


@dataclass(frozen=True)
class Repeated:
    """`times` independent queries whose labels have laws P and Q (log-probabilities, (o,))."""

    log_p: ArrayLike
    log_q: ArrayLike
    times: int = 1


@dataclass(frozen=True)
class Bracket:
    """Epsilon lies between these, at the delta asked for."""

    low: float
    high: float


def epsilon_bracket(queries: Iterable[Repeated], delta: float) -> Bracket:
    """The least epsilon at which the composed pair is (epsilon, delta)-close, both directions.

    The grid is chosen so that the bracket is about 1 % wide: time and memory grow with the queries,
    half a minute for 10^4 of them. Raises ValueError for no queries or a delta outside (0, 1).
    """
    wanted = [query for query in queries if query.times > 0]
    if not 0 < delta < 1:
        raise ValueError(f"delta {delta:g}: expected a number between 0 and 1")
    if not wanted:
        raise ValueError("no queries: expected at least one")
    many = sum(query.times for query in wanted)
    interval = max(_WIDTH * _rough_epsilon(wanted, delta) / many, _FINEST)
    ends = []
    for pessimistic in (False, True):
        each = [
            _composed(wanted, interval, pessimistic, flipped).get_epsilon_for_delta(delta)
            for flipped in (False, True)
        ]
        ends.append(max(each))
    return Bracket(*ends)


def _rough_epsilon(queries: list[Repeated], delta: float) -> float:
    """An estimate of epsilon by the central limit of the losses; only the grid depends on it."""
    mean = variance = 0.0
    for query in queries:
        p, q = (np.asarray(x, dtype=np.float64) for x in (query.log_p, query.log_q))
        weight = np.exp(p)
        loss = np.where(weight > 0, p - q, 0.0)
        one = float((weight * loss).sum())
        mean += query.times * one
        variance += query.times * float((weight * np.square(loss - one)).sum())
    return mean + float(np.sqrt(2.0 * variance * np.log(1.0 / delta)))


def _composed(
    queries: list[Repeated], interval: float, pessimistic: bool, flipped: bool
) -> "pld.PrivacyLossDistribution":
    parts = [_one(query, interval, pessimistic, flipped) for query in queries]
    return reduce(lambda one, other: one.compose(other), parts)


def _one(query: Repeated, interval: float, pessimistic: bool, flipped: bool) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    p, q = (dict(enumerate(np.asarray(x, dtype=np.float64))) for x in (query.log_p, query.log_q))
    upper, lower = (q, p) if flipped else (p, q)
    single = pld.from_two_probability_mass_functions(
        lower,
        upper,
        pessimistic_estimate=pessimistic,
        value_discretization_interval=interval,
        symmetric=False,  # one direction at a time: they differ
    )
    return single.self_compose(query.times)
