"""One query's Rényi cost under any mechanism, by the analysis asked for."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..arrays import Matrix
from ..histograms import as_histogram
from ..mechanisms import ConfidentGNMax, InteractiveGNMax, NoisyArgmax, unsupported
from ..noise import Gaussian, Laplace, Noise
from .adjacency import Adjacency, between
from .confident import (
    Charging,
    confident_cost,
    log_answered,
    threshold_data_dependent,
    threshold_data_independent,
)
from .gnmax import gnmax_data_dependent, gnmax_data_independent
from .interactive import interactive_cost, log_screen
from .lnmax import lnmax_data_dependent, lnmax_laplace, pure_data_dependent
from .pairs import worst_neighbours
from .pure import pure_data_independent, pure_epsilon
from .worst_pair import worst_pair

Charged = NoisyArgmax | ConfidentGNMax | InteractiveGNMax
"""The mechanisms whose costs are known."""

Analysis = Literal["data-independent", "data-dependent", "exact", "worst-pair"]
ANALYSES: tuple[Analysis, ...] = get_args(Analysis)

MEANING: dict[str, str] = {
    "data-independent": "a guarantee, whatever the votes",
    "data-dependent": "a bound at these votes only, itself sensitive: no guarantee to publish",
    "exact": "of these votes against their worst neighbours: no guarantee for other votes",
    "worst-pair": "of the costliest pair found: another may cost more, so no guarantee",
}
"""What a cost says, in words for its reader."""


@between(Adjacency.REPLACE_ONE)
def query_cost(
    histogram: ArrayLike,
    mechanism: Charged,
    orders: ArrayLike,
    analysis: Analysis,
    *,
    charging: Charging = "all",
    refused: bool | None = None,
) -> Matrix:
    """Rényi cost (n,) of one query of a histogram (c,).

    charging: of queries that the teachers do not answer, for the two published analyses; `realised`
    needs `refused`, whether they gave this one no label (a confirmed label of the student's is none
    of theirs). The others are of the whole outcome, refusal included, in both directions. Raises
    ValueError for an invalid histogram, `realised` without `refused`, or a mechanism whose cost is
    not known by this analysis.
    """
    votes = as_histogram(histogram)
    if not isinstance(mechanism, Charged):
        raise unsupported(mechanism, "the cost of a query")
    if analysis == "exact":
        found = worst_neighbours(votes, mechanism, orders)
        return np.maximum(found.from_here, found.towards)
    if analysis == "worst-pair":
        return worst_pair(mechanism, votes.size, int(votes.sum()), orders).divergence
    dependent = analysis == "data-dependent"
    if isinstance(mechanism, NoisyArgmax):
        return _answer(votes, mechanism.noise, orders, dependent)
    if charging == "realised" and refused is None:
        raise ValueError("charging realised needs to know which queries were refused")
    if isinstance(mechanism, InteractiveGNMax):
        return interactive_cost(
            votes, mechanism, orders, analysis=analysis, charging=charging, answered=not refused
        )
    if charging != "realised":
        return confident_cost(votes, mechanism, orders, analysis=analysis, charging=charging)
    test = (
        threshold_data_dependent(votes, mechanism, orders)
        if dependent
        else threshold_data_independent(mechanism.threshold_noise.scale, orders)
    )
    return test if refused else test + _answer(votes, mechanism.noise, orders, dependent)


def answered_share(histogram: ArrayLike, mechanism: Charged) -> float:
    """The probability that a query of this histogram (c,) is answered by the teachers.

    Raises ValueError for an invalid histogram or a mechanism that is not known.
    """
    votes = as_histogram(histogram)
    if isinstance(mechanism, NoisyArgmax):
        return 1.0
    if isinstance(mechanism, ConfidentGNMax):
        return float(np.exp(log_answered(votes, mechanism)))
    if isinstance(mechanism, InteractiveGNMax):
        return float(np.exp(log_screen(votes, mechanism)[0]))
    raise unsupported(mechanism, "the share of answers")


@between(Adjacency.REPLACE_ONE)
def answer_data_independent(noise: Noise, orders: ArrayLike) -> Matrix:
    """Rényi cost (n,) of an answer by noisy argmax with this noise, whatever the votes."""
    if isinstance(noise, Gaussian):
        return gnmax_data_independent(noise.scale, orders)
    plain = pure_data_independent(pure_epsilon(noise), orders)
    if isinstance(noise, Laplace):
        return np.minimum(plain, lnmax_laplace(1.0 / noise.scale, orders))
    return plain


def _answer(votes: ArrayLike, noise: Noise, orders: ArrayLike, dependent: bool) -> Matrix:
    """The cost of an answer: GNMax's, or that of a pure mechanism."""
    plain = answer_data_independent(noise, orders)
    if not dependent:
        return plain
    if isinstance(noise, Gaussian):
        return gnmax_data_dependent(votes, noise.scale, orders)
    if isinstance(noise, Laplace):
        return np.minimum(plain, lnmax_data_dependent(votes, 1.0 / noise.scale, orders))
    logs = NoisyArgmax(noise).log_probabilities(-np.sort(-np.asarray(votes, dtype=np.float64)))
    log_q = logsumexp(logs[1:])
    return np.minimum(plain, pure_data_dependent(log_q, pure_epsilon(noise), orders))
