"""The Rényi cost of a query, or of each of many, under any mechanism, by the analysis asked for."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp, xlog1py

from ..arrays import Matrix
from ..histograms import Histogram, as_histogram
from ..mechanisms import KnownMechanism, SampledArgmax, ScreenedGNMax, UnknownMechanismError
from ..noise import Gaussian, Laplace, Noise, Rounded
from ..sampling import Way
from .conversions import ORDERS, best_epsilon, to_epsilon
from .gnmax import (
    as_orders,
    gaussian_answer,
    gaussian_data_dependent,
    is_of_noisy_counts,
    log_q_union,
    log_unlikely,
    threshold_data_dependent,
    threshold_data_independent,
    two_count_sigma,
)
from .neighbourhood import MOVED_VOTE, Neighbourhood
from .pairs import worst_costs
from .pure import (
    lnmax_data_dependent,
    lnmax_laplace,
    pure_data_dependent,
    pure_data_independent,
    pure_epsilon,
)
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
Charging = Literal["expected", "realised", "all"]

MEANING: dict[str, str] = {
    "data-independent": "a guarantee, whatever the votes, which may be published",
    "data-dependent": "a bound at these votes only, itself not private: no guarantee to publish",
    "exact": "of these votes against their worst neighbours, itself not private: no guarantee for "
    "other votes",
    "worst-pair": "of the costliest pair found: another may cost more, so no guarantee",
}
"""What a cost says, in words for its reader."""


def query_cost(
    histograms: ArrayLike,
    mechanism: KnownMechanism,
    orders: ArrayLike,
    analysis: Analysis,
    *,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    charging: Charging = "all",
    refused: ArrayLike | None = None,
) -> Matrix:
    """Rényi cost (n,) of one query of a histogram (c,), or (m, n) of one of each of many (m, c).

    neighbourhood: which histograms the cost is between; charging: of queries behind a screen, for
    the two published analyses: `all` charges every query as answered, `expected` the answer's cost
    times the chance of an answer, as the code released with Papernot et al. 2018 does: an estimate,
    and no guarantee a deployment may use; `realised` the test alone where the teachers gave no
    label, by `refused`, one of each query, which is to be published with the label, as charges
    depend on it. Confirming a student's own label costs nothing more. The other analyses are of the
    whole outcome, refusal included, in both directions. Raises ValueError for an invalid histogram
    (many are taken to be valid), `realised` without `refused`, more neighbours than `exact` can
    try, or a mechanism whose cost is not known by this analysis.
    """
    a = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    if not isinstance(mechanism, KnownMechanism):
        raise UnknownMechanismError(mechanism, "the cost of a query")
    single = np.ndim(histograms) == 1
    votes = as_histogram(histograms)[None] if single else np.asarray(histograms)
    if analysis == "exact":
        found = worst_costs(votes, mechanism, a, neighbourhood)
    elif analysis == "worst-pair":
        classes, totals = votes.shape[1], votes.sum(1).tolist()
        pairs = [worst_pair(mechanism, classes, n, a, neighbourhood) for n in totals]
        found = np.stack([pair.divergence for pair in pairs])
    else:
        test, answer = _published(votes, mechanism, a, analysis, neighbourhood)
        if isinstance(mechanism, ScreenedGNMax) and charging == "expected":
            answer = np.exp(mechanism.log_screening(votes)[:, :1]) * answer
        elif isinstance(mechanism, ScreenedGNMax) and charging == "realised":
            if refused is None:
                raise ValueError("charging realised needs to know which queries were refused")
            answer = np.where(np.atleast_1d(np.asarray(refused))[:, None], 0.0, answer)
        found = np.broadcast_to(test + answer, (len(votes), a.size))
    return np.asarray(found[0] if single else found)


def _published(
    votes: Histogram,
    mechanism: KnownMechanism,
    orders: Matrix,
    analysis: Analysis,
    neighbourhood: Neighbourhood,
) -> tuple[Matrix, Matrix]:
    """Costs (m, n), or of any votes (n,), of the threshold's test and of an answer after it."""
    if isinstance(mechanism.answering, SampledArgmax):  # no data-dependent analysis is known
        each = [
            release_costs(mechanism, orders, neighbourhood, teachers=total)
            for total in votes.sum(-1).tolist()
        ]
        return np.stack([test for test, _ in each]), np.stack([answer for _, answer in each])
    test, answer = release_costs(mechanism, orders, neighbourhood)
    if analysis == "data-independent":
        return test, answer
    if isinstance(mechanism, ScreenedGNMax):
        test = threshold_data_dependent(votes, mechanism, orders, neighbourhood)
    noise = mechanism.noise
    if isinstance(noise.unrounded, Gaussian):
        if not is_of_noisy_counts(noise):
            return test, answer  # Theorem 6 needs that all orders cost order / sigma^2 at most
        # Proposition 7 is of counts that never tie
        log_q = log_q_union(votes, noise.scale)
        if isinstance(noise, Rounded):
            log_q = log_unlikely(votes, noise)
        sigma = two_count_sigma(noise.scale, neighbourhood)
        return test, gaussian_data_dependent(log_q, sigma, orders)
    if isinstance(noise, Laplace):
        dependent = lnmax_data_dependent(votes, 1.0 / noise.scale, orders, neighbourhood)
    else:
        epsilon = pure_epsilon(noise, neighbourhood)
        dependent = pure_data_dependent(log_unlikely(votes, noise), epsilon, orders)
    return test, np.minimum(answer, dependent)


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


def release_costs(
    mechanism: KnownMechanism,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    *,
    teachers: int | None = None,
) -> tuple[Matrix, Matrix]:
    """Rényi costs (n,) of the threshold's test, 0 without one, and of an answer after it.

    By the data-independent analyses; a refused query costs its test, an answered one both. So do
    those of Interactive-GNMax, where the student's label was confirmed as where there is none
    (`query_cost`). teachers: of whom some are drawn, where they are. Raises
    UnknownMechanismError for any other mechanism, and where it is of drawn teachers, without their
    number or between other votes than one moved.
    """
    if not isinstance(mechanism, KnownMechanism):
        raise UnknownMechanismError(mechanism, "costs by the number of queries")
    if isinstance(mechanism.answering, SampledArgmax):
        if teachers is None or neighbourhood != MOVED_VOTE:
            raise UnknownMechanismError(mechanism, "costs by the number of queries")
        answer = sampled_data_independent(mechanism.answering, teachers, orders)
        return np.zeros_like(answer), answer
    answer = answer_data_independent(mechanism.noise, orders, neighbourhood)
    if isinstance(mechanism, ScreenedGNMax):
        noise = mechanism.threshold_noise
        return threshold_data_independent(noise.scale, orders, neighbourhood), answer
    return np.zeros_like(answer), answer


class CountedCost:
    """Epsilon of so many answered and refused queries of one mechanism."""

    def __init__(
        self,
        mechanism: KnownMechanism,
        neighbourhood: Neighbourhood = MOVED_VOTE,
        *,
        teachers: int | None = None,
    ) -> None:
        self._how = mechanism, neighbourhood, teachers
        self._refused, answer = release_costs(mechanism, ORDERS, neighbourhood, teachers=teachers)
        self._answered = self._refused + answer

    def epsilon(self, answered: int, refused: int, delta: float) -> float:
        """The epsilon of all of them together at `delta`, on the grid of orders."""
        if answered + refused == 0:
            return 0.0
        costs = answered * self._answered + refused * self._refused
        return to_epsilon(ORDERS, costs, delta).epsilon

    def least_epsilon(self, answered: int, refused: int, delta: float) -> float:
        """As `epsilon`, over all orders, and by pure privacy where that is less: what is told."""
        if answered + refused == 0:
            return 0.0
        mechanism, neighbourhood, teachers = self._how

        def cost(orders: Matrix) -> Matrix:
            screen, answer = release_costs(mechanism, orders, neighbourhood, teachers=teachers)
            return np.asarray((answered + refused) * screen + answered * answer)

        pure = pure_epsilon(mechanism.noise, neighbourhood)
        return best_epsilon(cost, delta, pure=(answered + refused) * pure).epsilon


def knn_data_independent(sigma: float, sampling: float, orders: ArrayLike) -> Matrix:
    """Rényi cost (n,) of one query, records drawn with probability `sampling`, orders (n,).

    sigma: of the noise on each count; neighbours: data sets with one record more or less, unlike
    those of every other cost here. Where k records vote, one more among them displaces the k-th, so
    that two counts change by one each, sqrt(2) in all: a Gaussian mechanism under Poisson sampling
    (Zhu et al. 2020, Private-kNN, Theorem 6), computed by `dp-accounting`; order / sigma^2 where
    all records are drawn. Raises ValueError for a probability outside (0, 1].
    """
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    if not 0 < sampling <= 1:
        raise ValueError(f"sampling {sampling:g}: expected a probability above 0")
    a = as_orders(orders)
    accountant = RdpAccountant(a.tolist())
    accountant.compose(PoissonSampledDpEvent(sampling, GaussianDpEvent(sigma / np.sqrt(2.0))))
    return np.asarray(accountant.rdp, dtype=np.float64)
