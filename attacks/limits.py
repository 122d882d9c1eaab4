"""How well votes can be read at all: Fisher information, the Cramér-Rao bound, and their limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar

from ..reference import ConfidentGNMax, Noise, NoisyArgmax, as_histogram
from .answers import Answers, Likelihood
from .interior_point import maximise
from .polytope import Polytope
from .reconstruct import misplaced

Matrix = NDArray[np.float64]
Rows = NDArray[np.intp]
Attacked = NoisyArgmax | ConfidentGNMax

_DRAWS = 400
"""Draws of the limit experiment: the mean error is then known to about 2 %."""


def fisher_information(histogram: ArrayLike, mechanism: Attacked) -> Matrix:
    """Fisher information (c, c) that one query carries about the votes (c,), refusals counted.

    Its null vector is the shift (Wang et al. 2022, Theorem 2) unless refusals reveal it; where
    classes tie for the lead, what refusals say is put down to the first of them.
    Raises ValueError for an invalid histogram.
    """
    votes = as_histogram(histogram).astype(np.float64)[None]
    expected = Answers(np.exp(mechanism.log_probabilities(votes)), mechanism)
    return np.asarray(Likelihood([expected]).derivatives(votes, votes.argmax(-1))[2][0])


def cramer_rao(histogram: ArrayLike, mechanism: Attacked, queries: float) -> Matrix:
    """The least covariance (c, c) of unbiased estimates of the votes (c,) whose total is known.

    Constrained as in Stoica and Ng 1998 (equation 11): estimates keep the total, and classes
    without votes, which estimates leave in one direction only, are taken as known.
    Raises ValueError for an invalid histogram.
    """
    votes = as_histogram(histogram)
    leader = int(votes.argmax())
    free = [label for label in np.flatnonzero(votes) if label != leader]
    if not free:
        return np.zeros((votes.size, votes.size))
    basis = np.eye(votes.size)[:, free]
    basis[leader] = -1.0
    about = basis.T @ fisher_information(votes, mechanism) @ basis * queries
    # Scaled to a unit diagonal, as rare classes have many orders of magnitude less information.
    scale = 1.0 / np.sqrt(np.diag(about))
    inverse = np.linalg.inv(about * np.outer(scale, scale)) * np.outer(scale, scale)
    return np.asarray(basis @ inverse @ basis.T)


def bound_on_error(histogram: ArrayLike, mechanism: Attacked, queries: float) -> float:
    """The expected share of misplaced votes at the Cramér-Rao bound, errors being normal.

    sum over classes of sqrt(2 / pi) times the standard deviation, over 2 N. It is the limit where
    every class is seen often; `expected_error` is for the rest.
    """
    deviations = np.sqrt(np.diag(cramer_rao(histogram, mechanism, queries)))
    return float(np.sqrt(2.0 / np.pi) * deviations.sum() / (2.0 * as_histogram(histogram).sum()))


def expected_error(histogram: ArrayLike, mechanism: Attacked, queries: float) -> float:
    """The share of votes that the maximum-likelihood attack misplaces, on average, in the limit.

    The local limit experiment: one Gaussian observation with the information of `queries` answers,
    and the likeliest votes given it that are not negative and sum to N (Chernoff 1954). The mean
    of 400 draws, always the same ones, so that curves are smooth. It takes expected answers for
    Gaussian, which classes seen a few times or never are not.
    """
    votes = as_histogram(histogram).astype(np.float64)
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

    def error(log_factor: float) -> float:
        louder = noise.times(float(np.exp(log_factor)))
        return expected_error(histogram, NoisyArgmax(louder), queries)

    bounds = np.log(np.array(between) / noise.scale)
    found = minimize_scalar(error, bounds=tuple(bounds), method="bounded", options={"xatol": 0.01})
    return float(noise.scale * np.exp(found.x))


def queries_for_error(histogram: ArrayLike, mechanism: Attacked, error: float) -> float:
    """How many answers bring `expected_error` down to `error`, at most 10^15.

    Raises ValueError where so many do not suffice, or one answer does.
    """

    def excess(log_queries: float) -> float:
        return expected_error(histogram, mechanism, float(np.exp(log_queries))) - error

    most = float(np.log(1e15))
    if not excess(0.0) > 0 > excess(most):
        raise ValueError(f"error {error}: not between that of one answer and that of 10^15")
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
