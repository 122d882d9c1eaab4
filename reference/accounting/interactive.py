"""The cost of Interactive-GNMax: its screen against the student's prediction, and its answers."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Matrix
from ..mechanisms import InteractiveGNMax
from ..special import log_ndtr
from .adjacency import Adjacency, between
from .confident import Charging, screen_sigma, threshold_data_independent
from .gnmax import gaussian_data_dependent, gnmax_data_dependent, gnmax_data_independent
from .neighbourhood import MOVED_VOTE, Neighbourhood


def log_screen(histograms: ArrayLike, mechanism: InteractiveGNMax) -> tuple[Matrix, Matrix]:
    """Log-probabilities (...) that the teachers answer, and that they do not, votes (..., c)."""
    votes = np.asarray(histograms, dtype=np.float64)
    gap = (votes - mechanism.weight * np.asarray(mechanism.prediction)).max(-1)
    margin = (gap - mechanism.threshold) / mechanism.threshold_noise.scale
    return np.asarray(log_ndtr(margin)), np.asarray(log_ndtr(-margin))


@between(Adjacency.REPLACE_ONE)
def screen_data_dependent(
    histograms: ArrayLike,
    mechanism: InteractiveGNMax,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
) -> Matrix:
    """Rényi cost (..., n) of the screen by Theorem 6, q the rarer of its two outcomes.

    Papernot et al. 2018 (arXiv 1802.08908v1), Theorem 6, with sqrt(2) sigma_1 for sigma: one moved
    vote changes every n_j - M p_j by at most one, and so their maximum, which alone is compared.
    The prediction is the student's, and public.
    """
    log_q = np.minimum(*log_screen(histograms, mechanism))
    sigma = screen_sigma(mechanism.threshold_noise.scale, neighbourhood)
    return gaussian_data_dependent(log_q, sigma, orders)


@between(Adjacency.REPLACE_ONE)
def interactive_cost(
    histograms: ArrayLike,
    mechanism: InteractiveGNMax,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    *,
    analysis: Literal["data-independent", "data-dependent"] = "data-dependent",
    charging: Charging = "all",
    answered: ArrayLike | None = None,
) -> Matrix:
    """Rényi cost (..., n) of one query of each histogram (..., c) at orders (n,).

    charging: `all` charges screen and answer; `realised` the answer only where `answered` (...),
    whether the teachers' label was released, holds, which is to be published with the label, as
    charges depend on it; `expected` the answer times its chance: an estimate, no guarantee. The
    screen of Papernot et al. 2018, Algorithm 2, costs order / (2 sigma_1^2) whatever the votes, the
    answer what GNMax's does, and confirming the student's own label nothing more. Raises ValueError
    for `realised` without `answered`.
    """
    if charging == "realised" and answered is None:
        raise ValueError("charging realised needs to know which queries the teachers answered")
    if analysis == "data-independent":
        screen = threshold_data_independent(mechanism.threshold_noise.scale, orders, neighbourhood)
        answer = gnmax_data_independent(mechanism.noise.scale, orders, neighbourhood)
    else:
        screen = screen_data_dependent(histograms, mechanism, orders, neighbourhood)
        answer = gnmax_data_dependent(histograms, mechanism.noise.scale, orders, neighbourhood)
    share: Matrix = np.ones(1)
    if charging == "expected":
        share = np.exp(log_screen(histograms, mechanism)[0])[..., None]
    elif charging == "realised":
        share = np.asarray(answered, dtype=np.float64)[..., None]
    return np.asarray(screen + share * answer)
