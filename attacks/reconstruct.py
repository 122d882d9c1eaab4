"""The attack as one function: from the answers to a query, the votes behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..reference import Gaussian
from ..reference.arrays import Matrix
from .answers import Answers, Likelihood
from .maximum_likelihood import maximum_likelihood
from .posterior import PosteriorDraws, sample_posterior

Method = Literal["mle", "posterior", "gradient-descent"]


Votes = NDArray[np.int64]

COVERAGE = 0.95


def intervals(draws: Votes) -> Votes:
    """Two-sided 95 % intervals (b, c, 2) of whole votes, from draws (s, b, c), ends included.

    Equal tails: at most 2.5 % of the draws lie beyond either end. Whole numbers make short
    intervals hold more than 95 %.
    """
    tail = (1.0 - COVERAGE) / 2.0
    ends = np.quantile(draws, [tail, 1.0 - tail], axis=0, method="inverted_cdf")
    return np.moveaxis(ends, 0, -1).astype(np.int64)


def best_points(draws: Votes) -> Votes:
    """The whole histograms (b, c) with the draws' total and the least expected L1 distance.

    The medians minimise it class by class; votes are then added or taken where that costs least,
    which is optimal because the distance is a sum of convex functions, one per class.
    """
    medians = np.quantile(draws, 0.5, axis=0, method="inverted_cdf").astype(np.int64)
    missing = draws[0].sum(-1) - medians.sum(-1)
    for row in np.flatnonzero(missing):
        step = int(np.sign(missing[row]))
        column = draws[:, row]
        for _ in range(abs(int(missing[row]))):
            here = medians[row]
            cost = np.abs(column - here - step).sum(0) - np.abs(column - here).sum(0)
            cost = np.where(here + step >= 0, cost, np.iinfo(np.int64).max)
            medians[row, cost.argmin()] += step
    return medians


METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Reconstruction:
    """Votes (..., c) read from answers, and how sure one may be of them.

    histogram: real for `mle` and `gradient-descent`, whole for `posterior`; log_likelihood: (...)
    of it, less the multinomial coefficient; gap: nats (...) by which other votes can at most exceed
    the likelihood of `mle`'s (a bound where the number of teachers is known, else an estimate), NaN
    for the other methods; converged: (...) whether the method reached what it aims at: a small gap,
    chains that agree, an objective below T.
    """

    method: Method
    likelihood: Likelihood
    teachers: int | None
    histogram: Matrix
    log_likelihood: Matrix
    gap: Matrix
    converged: NDArray[np.bool_]
    draws: PosteriorDraws | None = None

    @property
    def queries(self) -> Matrix:
        """Queries (...) that were read, refused ones included."""
        return self.likelihood.queries.reshape(self.likelihood.shape[:-1])

    @cached_property
    def interval(self) -> NDArray[np.int64]:
        """Two-sided 95 % intervals (..., c, 2) of whole votes, from the posterior.

        Whatever the method: the same draws serve all. Raises ValueError where the number of
        teachers is not known.
        """
        return intervals(self._posterior.votes).reshape(*self.histogram.shape, 2)

    @cached_property
    def misplaced(self) -> Matrix:
        """Share (..., 3) of the votes that the histogram misplaces: mean, and 95 % interval.

        Under the posterior, whatever the method. Raises as `interval` does.
        """
        votes = self._posterior.votes
        shares = misplaced(self.histogram.reshape(votes.shape[1:]), votes)
        ends = np.quantile(shares, [0.025, 0.975], axis=0)
        return np.stack([shares.mean(0), *ends], -1).reshape(*self.histogram.shape[:-1], 3)

    @cached_property
    def _posterior(self) -> PosteriorDraws:
        if self.teachers is None:
            raise ValueError("intervals need the number of teachers")
        return self.draws or sample_posterior(self.likelihood, self.teachers, _fixed())


def reconstruct(
    answers: Answers | Sequence[Answers], teachers: int | None = None, method: Method = "mle"
) -> Reconstruction:
    """The vote histograms behind repeated answers to queries.

    answers: of one mechanism, or several batches of the same queries (at other noise scales, say),
    which are pooled; teachers: the number of votes in each histogram, without which `mle` alone
    works; method: `mle` (the likeliest votes), `posterior` (the whole histograms of least expected
    L1 error under the prior of `dpassay.attacks.prior`), `gradient-descent` (Algorithm 2 of Wang et
    al. 2022, as published). The same answers give the same result.
    Raises ValueError for what a method cannot do.
    """
    likelihood = Likelihood((answers,) if isinstance(answers, Answers) else tuple(answers))
    if method not in METHODS:
        raise ValueError(f"method {method!r}: expected one of {', '.join(METHODS)}")
    if teachers is not None and (isinstance(teachers, bool) or int(teachers) != teachers):
        raise ValueError(f"teachers {teachers!r}: expected a whole number")
    if teachers is not None and teachers < 1:
        raise ValueError(f"teachers {teachers}: expected at least 1")
    if teachers is None and method != "mle":
        raise ValueError(f"method {method} needs the number of teachers")
    draws, gap = None, np.full(len(likelihood.queries), np.nan)
    if method == "mle":
        fit = maximum_likelihood(likelihood, teachers)
        votes, gap, converged = fit.votes, fit.gap, fit.converged
        value = fit.log_likelihood
    elif method == "posterior":
        draws = sample_posterior(likelihood, teachers or 0, _fixed())
        votes, converged = best_points(draws.votes).astype(np.float64), draws.mixed
        value = likelihood.value(votes)
    else:
        votes, converged = _algorithm_2(likelihood, teachers or 0)
        value = likelihood.value(votes)
    shape = likelihood.shape
    return Reconstruction(
        method,
        likelihood,
        teachers,
        votes.reshape(shape),
        value.reshape(shape[:-1]),
        gap.reshape(shape[:-1]),
        converged.reshape(shape[:-1]),
        draws,
    )


def misplaced(histogram: ArrayLike, truth: ArrayLike) -> Matrix:
    """Share (...) of the votes that an estimate (..., c) puts into a wrong class.

    The normalised L1 distance of Wang et al. 2022, section 4.1: sum |H - estimate| / (2 sum H).
    """
    actual = np.asarray(truth, dtype=np.float64)
    distance = np.abs(np.asarray(histogram, dtype=np.float64) - actual).sum(-1)
    return np.asarray(distance / (2.0 * np.abs(actual).sum(-1)))


def _fixed() -> np.random.Generator:
    return np.random.default_rng(0)


def _algorithm_2(likelihood: Likelihood, teachers: int) -> tuple[Matrix, NDArray[np.bool_]]:
    from .gradient_descent import gradient_descent  # loads JAX

    (batch,) = likelihood.answers if len(likelihood.answers) == 1 else (None,)
    if batch is None or not isinstance(batch.mechanism.noise, Gaussian):
        raise ValueError("gradient-descent reads one batch of answers with gaussian noise")
    return gradient_descent(batch.labels, batch.mechanism.noise.scale, teachers)
