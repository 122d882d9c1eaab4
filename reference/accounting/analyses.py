"""The Rényi cost of a query, or of each of many, under any mechanism, by the analysis asked for."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Matrix
from ..histograms import as_histogram
from ..mechanisms import (
    ClaimedMechanism,
    ConfidentGNMax,
    InteractiveGNMax,
    KnownMechanism,
    NoisyArgmax,
    SampledArgmax,
    UnknownMechanismError,
    unsupported,
)
from ..noise import Gaussian, Laplace, Noise
from .adjacency import Adjacency, between
from .confident import (
    Charging,
    confident_cost,
    log_answered,
    threshold_data_dependent,
    threshold_data_independent,
)
from .interactive import interactive_cost, log_screen
from .lnmax import lnmax_data_dependent, lnmax_laplace, pure_data_dependent
from .neighbourhood import MOVED_VOTE, Neighbourhood
from .pairs import worst_costs, worst_neighbours
from .pure import pure_data_independent, pure_epsilon
from .rounding import (
    gaussian_answer,
    gaussian_answer_dependent,
    is_of_noisy_counts,
    log_unlikely,
)
from .sampled import sampled_data_independent
from .worst_pair import worst_pair

Analysis = Literal["data-independent", "data-dependent", "exact", "worst-pair"]
ANALYSES: tuple[Analysis, ...] = get_args(Analysis)

MEANING: dict[str, str] = {
    "data-independent": "a guarantee, whatever the votes, which may be published",
    "data-dependent": "a bound at these votes only, itself not private: no guarantee to publish",
    "exact": "of these votes against their worst neighbours, itself not private: no guarantee for "
    "other votes",
    "worst-pair": "of the costliest pair found: another may cost more, so no guarantee",
}
"""What a cost says, in words for its reader."""


@between(Adjacency.REPLACE_ONE)
def query_cost(
    histogram: ArrayLike,
    mechanism: KnownMechanism,
    orders: ArrayLike,
    analysis: Analysis,
    *,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    charging: Charging = "all",
    refused: bool | None = None,
) -> Matrix:
    """Rényi cost (n,) of one query of a histogram (c,).

    neighbourhood: which histograms the cost is between; charging: of queries that the teachers do
    not answer, for the two published analyses; `realised` needs `refused`, whether they gave this
    one no label (a confirmed label of the student's is none of theirs). The others are of the whole
    outcome, refusal included, in both directions. Raises ValueError for an invalid histogram,
    `realised` without `refused`, more neighbours than `exact` can try, or a mechanism whose cost is
    not known by this analysis.
    """
    given = None if refused is None else np.array([refused])
    votes = as_histogram(histogram)[None]
    costs = query_costs(
        votes,
        mechanism,
        orders,
        analysis,
        neighbourhood=neighbourhood,
        charging=charging,
        refused=given,
    )
    return np.asarray(costs[0])


@between(Adjacency.REPLACE_ONE)
def query_costs(
    histograms: NDArray[np.int64],
    mechanism: KnownMechanism,
    orders: ArrayLike,
    analysis: Analysis,
    *,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    charging: Charging = "all",
    refused: NDArray[np.bool_] | None = None,
) -> Matrix:
    """Rényi costs (m, n) of one query of each of many histograms (m, c), all at once.

    refused: (m,), by `realised` charging alone; charging and errors are those of `query_cost`, but
    that histograms are taken to be valid.
    """
    a = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    if not isinstance(mechanism, KnownMechanism):
        raise unsupported(mechanism, "the cost of a query")
    if analysis == "exact":
        if not isinstance(mechanism, InteractiveGNMax):
            return worst_costs(histograms, mechanism, a, neighbourhood)
        return np.stack([_exact(votes, mechanism, a, neighbourhood) for votes in histograms])
    if analysis == "worst-pair":
        classes, totals = histograms.shape[1], histograms.sum(1).tolist()
        pairs = [worst_pair(mechanism, classes, n, a, neighbourhood) for n in totals]
        return np.stack([pair.divergence for pair in pairs])
    if charging == "realised" and refused is None and not _always_answers(mechanism):
        raise ValueError("charging realised needs to know which queries were refused")
    if isinstance(mechanism, InteractiveGNMax):
        answered = [True] * len(histograms) if refused is None else (~refused).tolist()
        return np.stack(
            [
                interactive_cost(
                    votes,
                    mechanism,
                    a,
                    neighbourhood,
                    analysis=analysis,
                    charging=charging,
                    answered=given,
                )
                for votes, given in zip(histograms, answered, strict=True)
            ]
        )
    dependent = analysis == "data-dependent"
    found = _published(
        histograms,
        mechanism,
        a,
        neighbourhood,
        dependent=dependent,
        charging=charging,
        refused=refused,
    )
    return np.broadcast_to(found, (len(histograms), a.size))


def _always_answers(mechanism: KnownMechanism) -> bool:
    return isinstance(mechanism, NoisyArgmax | SampledArgmax)


def _exact(
    votes: NDArray[np.int64],
    mechanism: KnownMechanism,
    orders: Matrix,
    neighbourhood: Neighbourhood,
) -> Matrix:
    """Cost (n,) against the worst neighbours in both directions."""
    found = worst_neighbours(votes, mechanism, orders, neighbourhood)
    return np.maximum(found.from_here, found.towards)


def _published(
    votes: NDArray[np.int64],
    mechanism: ClaimedMechanism,
    orders: Matrix,
    neighbourhood: Neighbourhood,
    *,
    dependent: bool,
    charging: Charging,
    refused: NDArray[np.bool_] | None,
) -> Matrix:
    """Costs (m, n), or (n,) where they are the same for all histograms (m, c)."""
    if isinstance(mechanism, NoisyArgmax):
        return _answer(votes, mechanism.noise, orders, neighbourhood, dependent)
    if isinstance(mechanism, SampledArgmax):  # no data-dependent analysis is known
        if neighbourhood != MOVED_VOTE:
            raise UnknownMechanismError(mechanism, f"the cost between {neighbourhood}")
        costs = [sampled_data_independent(mechanism, int(n), orders) for n in votes.sum(-1)]
        return np.stack(costs)
    if charging != "realised":
        analysis: Literal["data-independent", "data-dependent"] = (
            "data-dependent" if dependent else "data-independent"
        )
        return confident_cost(
            votes, mechanism, orders, neighbourhood, analysis=analysis, charging=charging
        )
    test = (
        threshold_data_dependent(votes, mechanism, orders, neighbourhood)
        if dependent
        else threshold_data_independent(mechanism.threshold_noise.scale, orders, neighbourhood)
    )
    answer = _answer(votes, mechanism.noise, orders, neighbourhood, dependent)
    return np.where(np.asarray(refused)[:, None], test, test + answer)


def answered_share(histogram: ArrayLike, mechanism: KnownMechanism) -> float:
    """The probability that a query of this histogram (c,) is answered by the teachers.

    Raises ValueError for an invalid histogram or a mechanism that is not known.
    """
    votes = as_histogram(histogram)
    if isinstance(mechanism, NoisyArgmax | SampledArgmax):
        return 1.0
    if isinstance(mechanism, ConfidentGNMax):
        return float(np.exp(log_answered(votes, mechanism)))
    if isinstance(mechanism, InteractiveGNMax):
        return float(np.exp(log_screen(votes, mechanism)[0]))
    raise unsupported(mechanism, "the share of answers")


@between(Adjacency.REPLACE_ONE)
def answer_data_independent(
    noise: Noise, orders: ArrayLike, neighbourhood: Neighbourhood = MOVED_VOTE
) -> Matrix:
    """Rényi cost (n,) of an answer by noisy argmax with this noise, whatever the votes."""
    if isinstance(noise.unrounded, Gaussian):
        return gaussian_answer(noise, orders, neighbourhood)
    plain = pure_data_independent(pure_epsilon(noise, neighbourhood), orders)
    if isinstance(noise.unrounded, Laplace) and is_of_noisy_counts(noise):
        return np.minimum(plain, lnmax_laplace(1.0 / noise.scale, orders, neighbourhood))
    return plain


def _answer(
    votes: ArrayLike,
    noise: Noise,
    orders: ArrayLike,
    neighbourhood: Neighbourhood,
    dependent: bool,
) -> Matrix:
    """The cost of an answer: GNMax's, or that of a pure mechanism."""
    plain = answer_data_independent(noise, orders, neighbourhood)
    if not dependent:
        return plain
    if isinstance(noise.unrounded, Gaussian):
        return gaussian_answer_dependent(votes, noise, orders, neighbourhood)
    if isinstance(noise, Laplace):
        gamma = 1.0 / noise.scale
        return np.minimum(plain, lnmax_data_dependent(votes, gamma, orders, neighbourhood))
    epsilon = pure_epsilon(noise, neighbourhood)
    return np.minimum(plain, pure_data_dependent(log_unlikely(votes, noise), epsilon, orders))
