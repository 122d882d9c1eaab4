"""The cost of queries behind a threshold test, and who is charged for what."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Matrix
from ..mechanisms import ScreenedGNMax
from .gnmax import gaussian_data_dependent, gnmax_data_independent
from .neighbourhood import MOVED_VOTE, Neighbourhood
from .rounding import gaussian_answer, gaussian_answer_dependent

Charging = Literal["expected", "realised", "all"]


def threshold_data_independent(
    sigma: float, orders: ArrayLike, neighbourhood: Neighbourhood = MOVED_VOTE
) -> Matrix:
    """Rényi cost (n,) of the threshold test: order / (2 sigma^2), a score that moves by one.

    Papernot et al. 2018 (arXiv 1802.08908v1), section 4.1. A vote more or less moves it by one too.
    """
    return gnmax_data_independent(screen_sigma(sigma, neighbourhood), orders)


def screen_sigma(sigma: float, neighbourhood: Neighbourhood) -> float:
    """The sigma at which a moved vote costs an answer what neighbours cost a screen at `sigma`."""
    return float(np.sqrt(2.0) * sigma / neighbourhood.votes)


def threshold_data_dependent(
    histograms: ArrayLike,
    mechanism: ScreenedGNMax,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
) -> Matrix:
    """Rényi cost (..., n) of the test by Theorem 6, q the rarer of its two outcomes.

    Papernot et al. 2018, appendix A, with sqrt(2) sigma_1 for sigma: one moved vote changes the
    largest count, or the largest n_j - M p_j, by at most one. A student's prediction is public.
    """
    sigma = screen_sigma(mechanism.threshold_noise.scale, neighbourhood)
    return gaussian_data_dependent(mechanism.log_screening(histograms).min(-1), sigma, orders)


def screened_cost(
    histograms: ArrayLike,
    mechanism: ScreenedGNMax,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    *,
    analysis: Literal["data-independent", "data-dependent"] = "data-dependent",
    charging: Charging = "all",
    refused: ArrayLike | None = None,
) -> Matrix:
    """Rényi cost (..., n) of one query of each histogram (..., c): of its test and its answer.

    charging: `all` charges every query as answered, `expected` the answer's cost times the chance
    of an answer, as the code released with Papernot et al. 2018 does: an estimate, and no guarantee
    a deployment may use; `realised` the test alone where the teachers gave no label, by `refused`
    (...), which is to be published with the label, as charges depend on it. Confirming a student's
    own label costs nothing more. Raises ValueError for `realised` without `refused`.
    """
    if charging == "realised" and refused is None:
        raise ValueError("charging realised needs to know which queries were refused")
    if analysis == "data-independent":
        sigma = mechanism.threshold_noise.scale
        test = threshold_data_independent(sigma, orders, neighbourhood)
        answer = gaussian_answer(mechanism.noise, orders, neighbourhood)
    else:
        test = threshold_data_dependent(histograms, mechanism, orders, neighbourhood)
        answer = gaussian_answer_dependent(histograms, mechanism.noise, orders, neighbourhood)
    if charging == "expected":
        answer = np.exp(mechanism.log_screening(histograms)[..., :1]) * answer
    elif charging == "realised":
        answer = np.where(np.asarray(refused)[..., None], 0.0, answer)
    return np.asarray(test + answer)
