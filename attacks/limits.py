"""How well votes can be read at all: Fisher information, the Cramér-Rao bound, and their limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..reference import Histogram, Noise, NoisyArgmax, as_histogram
from ..reference.arrays import Matrix
from ..reference.mechanisms import ClaimedMechanism
from .answers import Answers, Likelihood
from .interior_point import Polytope, maximise
from .reconstruct import misplaced, reconstruct

Rows = NDArray[np.intp]

_DRAWS, _SIMULATED = 400, 100
"""Draws of the limit experiment, and simulated attacks: the mean is known to 2 and to 4 %."""

_SEEN_OFTEN = 10.0
"""Expected labels of every class from which the limit experiment stands for an attack."""

_SINGULAR = 1e-12
"""Smallest eigenvalue of the scaled information that rounding leaves meaningful."""

_SCALES = 24
"""Noise scales that are looked at before the best is refined."""


def fisher_information(histogram: ArrayLike, mechanism: ClaimedMechanism) -> Matrix:
    """Fisher information (c, c) that one query carries about the votes (c,), refusals counted.

    Its null vector is the shift (Wang et al. 2022, Theorem 2) unless refusals reveal it; where
    classes tie for the lead, what refusals say is put down to the first of them.
    Raises ValueError for an invalid histogram.
    """
    votes = as_histogram(histogram).astype(np.float64)[None]
    expected = Answers(np.exp(mechanism.log_probabilities(votes)), mechanism)
    return np.asarray(Likelihood([expected]).derivatives(votes, votes.argmax(-1))[2][0])


def cramer_rao(histogram: ArrayLike, mechanism: ClaimedMechanism, queries: float) -> Matrix:
    """The least covariance (c, c) of unbiased estimates of the votes (c,) whose total is known.

    Constrained as in Stoica and Ng 1998 (equation 11): estimates keep the total, and classes
    without votes, which estimates leave in one direction only, are taken as known. Infinite where
    noise too small leaves no information. Raises ValueError for an invalid histogram.
    """
    votes = _with_votes(histogram)
    leader = int(votes.argmax())
    free = np.flatnonzero((votes > 0) & (np.arange(votes.size) != leader))
    if not free.size:
        return np.zeros((votes.size, votes.size))
    basis = np.eye(votes.size)[:, free]
    basis[leader] = -1.0
    about = basis.T @ fisher_information(votes, mechanism) @ basis * queries
    # Scaled to a unit diagonal, as rare classes have many orders of magnitude less information.
    with np.errstate(divide="ignore"):
        scale = 1.0 / np.sqrt(np.diag(about))
    scaled = about * np.outer(scale, scale) if np.isfinite(scale).all() else np.zeros_like(about)
    if np.linalg.eigvalsh(scaled)[0] < _SINGULAR:
        unknown = np.zeros((votes.size, votes.size))
        seen = np.append(free, leader)
        unknown[np.ix_(seen, seen)] = np.inf
        return unknown
    return np.asarray(basis @ (np.linalg.inv(scaled) * np.outer(scale, scale)) @ basis.T)


def bound_on_error(histogram: ArrayLike, mechanism: ClaimedMechanism, queries: float) -> float:
    """The expected share of misplaced votes at the Cramér-Rao bound, errors being normal.

    sum over classes of sqrt(2 / pi) times the standard deviation, over 2 N. It is the limit where
    every class is seen often; `expected_error` is for the rest.
    """
    deviations = np.sqrt(np.diag(cramer_rao(histogram, mechanism, queries)))
    return float(np.sqrt(2.0 / np.pi) * deviations.sum() / (2.0 * as_histogram(histogram).sum()))


def expected_error(histogram: ArrayLike, mechanism: ClaimedMechanism, queries: float) -> float:
    """The share of votes that the maximum-likelihood attack misplaces on average.

    Where each class is expected ten times or more: in the local limit experiment, one Gaussian
    observation with the information of the answers, and the likeliest votes given it that are not
    negative and sum to N (Chernoff 1954). Where some class is rarer, or queries are refused: in
    attacks simulated as they are. The same draws every time, so that curves are smooth.
    Raises ValueError for an invalid histogram or one without votes.
    """
    votes = _with_votes(histogram).astype(np.float64)
    law = np.exp(mechanism.log_probabilities(votes))
    if mechanism.refuses or law.min() * queries < _SEEN_OFTEN:
        counts = np.random.default_rng(0).multinomial(round(queries), law / law.sum(), _SIMULATED)
        answers = Answers(counts.astype(np.float64), mechanism)
        read = reconstruct(answers, int(votes.sum()))
        return float(misplaced(read.histogram, votes).mean())
    information = fisher_information(histogram, mechanism) * queries
    variances, axes = np.linalg.eigh(information)
    drawn = np.random.default_rng(0).standard_normal((_DRAWS, votes.size))
    pull = (drawn * np.sqrt(np.maximum(variances, 0.0))) @ axes.T
    polytope = Polytope(votes.size, float(votes.sum()), None, bounded_below=True)
    experiment = _LimitExperiment(votes, information, pull, np.full(_DRAWS, float(queries)))
    start = polytope.inner_point(np.tile(votes + votes.sum() / votes.size, (_DRAWS, 1)))
    return float(misplaced(maximise(experiment, polytope, start).votes, votes).mean())


def best_scale(
    histogram: ArrayLike, noise: Noise, queries: float, between: tuple[float, float]
) -> float:
    """The noise scale in votes, of the family of `noise`, at which `queries` answers read best.

    Below it the noise eclipses rare classes, above it drowns them. between: scales to look at.
    """
    from scipy.optimize import minimize_scalar

    def error(log_scale: float) -> float:
        louder = noise.times(float(np.exp(log_scale)) / noise.scale)
        return expected_error(histogram, NoisyArgmax(louder), queries)

    low, high = np.log(between)
    grid = np.linspace(low, high, _SCALES)  # the curve may have a second valley
    best = int(np.argmin([error(float(scale)) for scale in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, _SCALES - 1)]
    found = minimize_scalar(error, bounds=ends, method="bounded", options={"xatol": 0.01})
    return float(np.exp(found.x))


def queries_for_error(histogram: ArrayLike, mechanism: ClaimedMechanism, error: float) -> float:
    """How many answers bring `expected_error` down to `error`, at most 10^12.

    Raises ValueError where so many do not suffice, or one answer does.
    """
    from scipy.optimize import brentq

    def excess(log_queries: float) -> float:
        return expected_error(histogram, mechanism, float(np.exp(log_queries))) - error

    most = float(np.log(1e12))
    if not excess(0.0) > 0 > excess(most):
        raise ValueError(f"error {error}: not between that of one answer and that of 10^12")
    return float(np.exp(brentq(excess, 0.0, most, xtol=1e-3)))


def errors_in_budget(
    histogram: ArrayLike, noise: Noise, queries: float, scales: Sequence[float]
) -> list[float]:
    """`expected_error` at each noise scale when all spend the same: queries grow as scale^2.

    queries: at the scale of `noise`. For Gaussian noise a query's data-independent Rényi cost is
    alpha / sigma^2 (Papernot et al. 2018, Proposition 8).
    """
    return [
        expected_error(
            histogram,
            NoisyArgmax(noise.times(scale / noise.scale)),
            queries * (scale / noise.scale) ** 2,
        )
        for scale in scales
    ]


def _with_votes(histogram: ArrayLike) -> Histogram:
    votes = as_histogram(histogram)
    if not votes.any():
        raise ValueError(f"histogram {votes.tolist()}: no votes to read")
    return votes


@dataclass(frozen=True)
class _LimitExperiment:
    """A quadratic log-likelihood: information (c, c) around the votes (c,), pulled by (b, c)."""

    votes: Matrix
    information: Matrix
    pull: Matrix
    queries: Matrix

    def rows(self, index: Rows) -> Self:
        return type(self)(self.votes, self.information, self.pull[index], self.queries[index])

    def derivatives(self, votes: Matrix, leader: Rows) -> tuple[Matrix, Matrix, Matrix]:
        away = votes - self.votes
        bend = away @ self.information
        value = ((self.pull - 0.5 * bend) * away).sum(-1)
        shape = (*votes.shape, votes.shape[1])
        return value, self.pull - bend, np.broadcast_to(self.information, shape).copy()
