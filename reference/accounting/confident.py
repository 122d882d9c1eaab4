"""The cost of refusing: Confident-GNMax's threshold test, and who is charged for what."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Matrix
from ..mechanisms import ConfidentGNMax
from ..special import log_ndtr
from .adjacency import Adjacency, between
from .gnmax import gaussian_data_dependent, gnmax_data_independent
from .neighbourhood import MOVED_VOTE, Neighbourhood
from .rounding import gaussian_answer, gaussian_answer_dependent

Charging = Literal["expected", "realised", "all"]


def log_answered(histograms: ArrayLike, mechanism: ConfidentGNMax) -> Matrix:
    """Log-probability (...) that a query of each histogram (..., c) is answered."""
    return np.asarray(log_screening(histograms, mechanism)[..., 0])


def log_screening(histograms: ArrayLike, mechanism: ConfidentGNMax) -> Matrix:
    """Log-probabilities (..., 2) that the screening of histograms (..., c) passes, and fails."""
    most = np.asarray(histograms, dtype=np.float64).max(-1)
    above = (most - mechanism.threshold) / mechanism.threshold_noise.scale
    return np.asarray(log_ndtr(np.stack([above, -above], -1)))


@between(Adjacency.REPLACE_ONE)
def threshold_data_independent(
    sigma: float, orders: ArrayLike, neighbourhood: Neighbourhood = MOVED_VOTE
) -> Matrix:
    """Rényi cost (n,) of the threshold test: order / (2 sigma^2), the largest count moving by one.

    Papernot et al. 2018 (arXiv 1802.08908v1), section 4.1. A vote more or less moves it by one too.
    """
    return gnmax_data_independent(screen_sigma(sigma, neighbourhood), orders)


def screen_sigma(sigma: float, neighbourhood: Neighbourhood) -> float:
    """The sigma at which a moved vote costs an answer what neighbours cost a screen at `sigma`."""
    return float(np.sqrt(2.0) * sigma / neighbourhood.votes)


@between(Adjacency.REPLACE_ONE)
def threshold_data_dependent(
    histograms: ArrayLike,
    mechanism: ConfidentGNMax,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
) -> Matrix:
    """Rényi cost (..., n) of the test by Theorem 6, q the rarer of answer and refusal.

    Papernot et al. 2018, appendix A, with sqrt(2) sigma_1 for sigma as the largest count moves by
    one vote only.
    """
    sigma = screen_sigma(mechanism.threshold_noise.scale, neighbourhood)
    return gaussian_data_dependent(log_screening(histograms, mechanism).min(-1), sigma, orders)


@between(Adjacency.REPLACE_ONE)
def confident_cost(
    histograms: ArrayLike,
    mechanism: ConfidentGNMax,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    *,
    analysis: Literal["data-independent", "data-dependent"] = "data-dependent",
    charging: Charging = "expected",
    exact_q: bool = False,
) -> Matrix:
    """Rényi cost (..., n) of one query of each histogram (..., c).

    charging: `expected` adds the answer's cost times the chance of an answer, as the code released
    with Papernot et al. 2018 does: an estimate, and no guarantee a deployment may use; `all`
    charges every query as answered, which is one; for `realised` charge refused queries with the
    test alone (`threshold_...`) and answered ones as `all`. Raises ValueError for `realised`.
    """
    noise = mechanism.threshold_noise.scale
    if charging == "realised":
        raise ValueError("charging realised needs the outcomes: see threshold_data_dependent")
    if analysis == "data-independent":
        test = threshold_data_independent(noise, orders, neighbourhood)
        answer = gaussian_answer(mechanism.noise, orders, neighbourhood)
    else:
        test = threshold_data_dependent(histograms, mechanism, orders, neighbourhood)
        answer = gaussian_answer_dependent(
            histograms, mechanism.noise, orders, neighbourhood, exact_q=exact_q
        )
    share = (
        np.exp(log_answered(histograms, mechanism))[..., None] if charging == "expected" else 1.0
    )
    return np.asarray(test + share * answer)
