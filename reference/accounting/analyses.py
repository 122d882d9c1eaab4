"""The Rényi cost of a query, or of each of many, under any mechanism, by the analysis asked for."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, logsumexp, xlog1py

from ..arrays import Matrix
from ..histograms import as_histogram
from ..mechanisms import KnownMechanism, SampledArgmax, ScreenedGNMax, UnknownMechanismError
from ..noise import Gaussian, Laplace, Noise
from ..sampling import Way
from .gnmax import as_orders
from .lnmax import lnmax_data_dependent, lnmax_laplace, pure_data_dependent
from .neighbourhood import MOVED_VOTE, Neighbourhood
from .pairs import worst_costs
from .pure import pure_data_independent, pure_epsilon
from .rounding import gaussian_answer, gaussian_answer_dependent, is_of_noisy_counts, log_unlikely
from .screened import Charging, screened_cost
from .worst_pair import worst_pair


def sampled_data_independent(mechanism: SampledArgmax, total: int, orders: ArrayLike) -> Matrix:
    """Rényi cost (n,) of one query at orders (n,), whatever the votes of `total` teachers.

    The same teachers can be drawn on both sides, so that the teacher who votes otherwise moves as
    many votes as he is drawn times: see `_of_moved`. A fixed number may cost less still (Wang,
    Balle and Kasiviswanathan 2019, arXiv 1808.00087, Theorem 9, computed by `dp-accounting`).
    Raises ValueError for too few teachers.
    """
    mechanism.sampling.check_total(total)
    a, sigma = as_orders(orders), mechanism.noise.scale
    drawn = mechanism.sampling.drawn
    if drawn is None:
        return _drawn_once(a, sigma, mechanism.sampling.amount)
    if mechanism.sampling.way is Way.WITH_REPLACEMENT:
        return _drawn_again(a, sigma, drawn, total)
    from dp_accounting import GaussianDpEvent, NeighboringRelation, SampledWithoutReplacementDpEvent
    from dp_accounting.rdp import RdpAccountant

    once, above = _drawn_once(a, sigma, drawn / total), a > 1.0  # its orders
    if above.any():
        accountant = RdpAccountant(a[above].tolist(), NeighboringRelation.REPLACE_ONE)
        event = GaussianDpEvent(sigma / np.sqrt(2.0))  # a moved vote changes two counts by one
        accountant.compose(SampledWithoutReplacementDpEvent(total, drawn, event))
        once[above] = np.minimum(once[above], accountant.rdp)
    return once


def _drawn_once(a: Matrix, sigma: float, share: float) -> Matrix:
    """The cost (n,) where the teacher who votes otherwise is drawn with the probability `share`."""
    with np.errstate(divide="ignore"):
        return _of_moved(a, sigma, np.arange(2.0), np.log([1.0 - share, share]))


def _drawn_again(a: Matrix, sigma: float, drawn: int, total: int) -> Matrix:
    """The cost (n,) where that teacher is drawn m times, m ~ Binomial(drawn, 1 / total)."""
    m = np.arange(drawn + 1.0)
    log_p = gammaln(drawn + 1.0) - gammaln(m + 1.0) - gammaln(drawn - m + 1.0)
    log_p += -m * np.log(total) + xlog1py(drawn - m, -1.0 / total)
    return _of_moved(a, sigma, m, log_p)


def _of_moved(a: Matrix, sigma: float, m: Matrix, log_p: Matrix) -> Matrix:
    """The cost (n,) of m moved votes, a m^2 / sigma^2, where m is random with log-weights (k,).

    It is log E exp((a - 1) a m^2 / sigma^2) / (a - 1), as exp((a - 1) D_a) is jointly convex (an
    f-divergence; van Erven and Harremoes 2014, arXiv 1206.2459, section III.B); at order 1,
    E m^2 / sigma^2.
    """
    moved = m**2 / sigma**2
    above = np.where(a > 1.0, a - 1.0, 1.0)
    cost = logsumexp(log_p + (above * a)[:, None] * moved, axis=-1) / above
    return np.asarray(np.where(a > 1.0, cost, (np.exp(log_p) * moved).sum()))


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
        raise UnknownMechanismError(mechanism, "the cost of a query")
    if analysis == "exact":
        return worst_costs(histograms, mechanism, a, neighbourhood)
    if analysis == "worst-pair":
        classes, totals = histograms.shape[1], histograms.sum(1).tolist()
        pairs = [worst_pair(mechanism, classes, n, a, neighbourhood) for n in totals]
        return np.stack([pair.divergence for pair in pairs])
    if isinstance(mechanism, ScreenedGNMax):
        found = screened_cost(
            histograms,
            mechanism,
            a,
            neighbourhood,
            analysis=analysis,
            charging=charging,
            refused=refused,
        )
    elif isinstance(mechanism.answering, SampledArgmax):  # no data-dependent analysis is known
        if neighbourhood != MOVED_VOTE:
            raise UnknownMechanismError(mechanism, f"the cost between {neighbourhood}")
        totals = histograms.sum(-1).tolist()
        found = np.stack([sampled_data_independent(mechanism.answering, n, a) for n in totals])
    else:
        dependent = analysis == "data-dependent"
        found = _answer(histograms, mechanism.noise, a, neighbourhood, dependent)
    return np.broadcast_to(found, (len(histograms), a.size))


def answered_share(histogram: ArrayLike, mechanism: KnownMechanism) -> float:
    """The probability that a query of this histogram (c,) is answered by the teachers.

    Raises ValueError for an invalid histogram or a mechanism that is not known.
    """
    if not isinstance(mechanism, KnownMechanism):
        raise UnknownMechanismError(mechanism, "the share of answers")
    return float(np.exp(mechanism.log_screening(as_histogram(histogram))[0]))


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
    votes: ArrayLike, noise: Noise, orders: ArrayLike, neighbourhood: Neighbourhood, dependent: bool
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
