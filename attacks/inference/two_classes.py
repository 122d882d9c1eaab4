"""Votes between two classes, read exactly: one number behind each query, so nothing is sampled.

`v`, the votes of the first class, is from 0 to N, and the posterior a table over v. The prior is
that of `dpassay.attacks.prior`; what it leaves open, the share w of contenders and the
concentration a, is summed out on a grid: for each query by itself, or for all that are attacked
together.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from ...reference.arrays import Matrix, Vector
from ..prior import CONCENTRATIONS, MOST_CONTEND, log_prior

Belief = Literal["alone", "together"]
"""Whether an attacker fits what the prior leaves open to each query, or to all of them."""
BELIEFS: tuple[Belief, ...] = get_args(Belief)

_SHARES = 60  # values of w
_DIGITS = 9  # of an expectation: what rounding alone tells apart is a tie


@dataclass(frozen=True)
class Posterior:
    """Chances (k, N + 1) of each v, for the k different counts; row: (b,) of each query's."""

    chances: Matrix
    row: NDArray[np.int64]

    @property
    def teachers(self) -> int:
        """N."""
        return int(self.chances.shape[1]) - 1

    @cached_property
    def histograms(self) -> NDArray[np.int64]:
        """The median v, which has the least expected error, as histograms (b, 2)."""
        middle = (self.chances.cumsum(1) >= 0.5 - 1e-12).argmax(1)[self.row]
        return np.stack([middle, self.teachers - middle], -1)

    def mean(self, of: ArrayLike) -> Vector:
        """The expectation (b,) of a function of v, given as its values (N + 1,)."""
        means = self.chances @ np.asarray(of, dtype=np.float64)
        return np.asarray(np.round(means, _DIGITS)[self.row])


def posterior(counts: ArrayLike, log_laws: Matrix, belief: Belief = "together") -> Posterior:
    """The law of v behind each of the counts (b, o) of outcomes.

    log_laws: log-probabilities (N + 1, o) of the outcomes for v = 0 to N, whatever the mechanism
    does to the votes; belief: `alone` averages the prior over what it leaves open, `together` fits
    it to all counts by Bayes's rule. Raises ValueError for an unknown belief.
    """
    if belief not in BELIEFS:
        raise ValueError(f"belief {belief!r}: expected one of {', '.join(BELIEFS)}")
    seen, row, many = np.unique(
        np.asarray(counts, dtype=np.float64), axis=0, return_inverse=True, return_counts=True
    )
    log_likelihood = seen @ np.maximum(log_laws, -1e300).T  # 0 times minus infinity is nothing
    likelihood = np.exp(log_likelihood - log_likelihood.max(1, keepdims=True))
    joint = likelihood * _expected_prior(likelihood, many if belief == "together" else None)
    return Posterior(joint / joint.sum(1, keepdims=True), row.reshape(-1))


def _expected_prior(likelihood: Matrix, many: NDArray[np.int64] | None) -> Matrix:
    """The prior (k, N + 1) of each row, over what it leaves open given the rows.

    many: how often each row came, None where the others are not looked at. A row's own evidence is
    divided out of the weights, as its likelihood brings it again.
    """
    prior = _priors(likelihood.shape[1] - 1)
    evidence = likelihood @ prior.T
    if many is None:
        return np.broadcast_to(prior.mean(0), likelihood.shape)
    log_evidence = np.log(np.maximum(evidence, 1e-300))
    together = many @ log_evidence
    others = np.exp(together - logsumexp(together) - log_evidence + log_evidence.max(1)[:, None])
    return np.asarray(others @ prior)


@lru_cache(maxsize=4)
def _priors(teachers: int) -> Matrix:
    """Laws (g, N + 1) of v, one for each concentration a and share w of the grid."""
    first = np.arange(teachers + 1)
    votes = np.stack([first, teachers - first], -1)
    shares = (np.arange(_SHARES) + 0.5) * MOST_CONTEND / _SHARES
    laws = np.zeros((CONCENTRATIONS.size, _SHARES, teachers + 1))
    for contends in ((False, False), (True, False), (False, True), (True, True)):
        who = np.broadcast_to(np.array(contends), votes.shape)
        for i, a in enumerate(CONCENTRATIONS):
            law = np.exp(log_prior(votes, who, np.full(teachers + 1, a)))
            found = sum(contends)
            laws[i] += (shares**found * (1.0 - shares) ** (2 - found))[:, None] * law
    return np.asarray((laws / laws.sum(-1, keepdims=True)).reshape(-1, teachers + 1))
