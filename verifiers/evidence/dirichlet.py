"""The e-value against any deviation from a known law: Dirichlet mixtures over all laws."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ...reference.arrays import Vector

DIFFUSE_WEIGHT = 0.25
"""Weight of the Jeffreys prior, which is best against gross deviations of any kind."""

_CONTENDS = 2.0  # an outcome is frequent from this probability on, in units of the effect
_MANY = 20  # rare outcomes from which the law is split into two levels


def prior_concentrations(log_q: Vector, effect: float) -> tuple[tuple[float, float], ...]:
    """Concentrations of Dirichlet priors centred at the null, with their weights.

    At concentration k0 the typical total variation between a law drawn from the prior and Q is
    `effect`. k0 and 5 k0 are near the best for detecting such a deviation with probability 0.99
    (measured; flat within 10 %). log_q: log-probabilities (o,); effect: total variation.
    """
    q = np.minimum(np.exp(log_q), 1.0)  # a sum of probabilities may round to a hair above
    k0 = max(1.0, float(0.4 * np.sqrt(q * (1.0 - q)).sum() / effect) ** 2)
    return ((k0, 0.25), (5.0 * k0, 0.5))


def dirichlet_log_e_value(counts: Vector, log_q: Vector, effect: float) -> float:
    """Log of DirichletMultinomial(counts) / Multinomial(counts; Q), mixed over priors.

    counts: labels seen per outcome (o,); log_q: the null's log-probabilities (o,); effect: total
    variation that matters. Under the null its expectation is exactly 1 for every number of labels,
    and over the labels it is a martingale (a ratio of predictive probabilities). Where few outcomes
    are frequent and many are rare, the dimensions of the rare ones would cost power. There it is
    the mean of two martingales: the e-value with all rare outcomes merged into one, and its product
    with the e-value of the rare ones among themselves.
    """
    split = split_levels(log_q, effect)
    if split is None:
        return _mixed(counts, log_q, effect)
    among_few, among_rest = level_log_e_values(counts, split)
    return float(among_few + np.logaddexp(0.0, among_rest) - np.log(2.0))


class Levels(NamedTuple):
    """A law split into two: over frequent outcomes and the merged rest, and within the rest.

    rest: whether each outcome (o,) is rare; few: log-probabilities of the frequent ones and, last,
    of the rest; among: of rare outcomes given that one comes; effect: to be seen, over both.
    """

    rest: NDArray[np.bool_]
    few: Vector
    among: Vector
    effect: float

    @property
    def rare(self) -> float:
        """Probability of the rest, at least the smallest float."""
        return max(float(np.exp(self.few[-1])), float(np.finfo(np.float64).tiny))

    @property
    def among_effect(self) -> float:
        """Total variation within the rest if half the effect lies there."""
        return min(0.5, 0.5 * self.effect / self.rare)


def split_levels(log_q: Vector, effect: float) -> Levels | None:
    """The law (o,) as two levels; None where none is frequent, or only few are rare."""
    rest = log_q < np.log(_CONTENDS * effect)
    if rest.all() or np.count_nonzero(rest & (log_q > -np.inf)) < _MANY:
        return None
    total = float(np.logaddexp.reduce(log_q[rest]))
    return Levels(rest, np.append(log_q[~rest], total), log_q[rest] - total, effect)


def rare_share(log_q: Vector, effect: float) -> float:
    """Probability of the rare outcomes of a law (o,); 0 where it is not split into two levels."""
    levels = split_levels(log_q, effect)
    return 0.0 if levels is None else levels.rare


def level_log_e_values(counts: Vector, levels: Levels) -> tuple[float, float]:
    """Log e-values of counts (o,): of frequent outcomes and the rest, and within the rest."""
    coarse = np.append(counts[~levels.rest], counts[levels.rest].sum())
    return (
        _mixed(coarse, levels.few, levels.effect),
        _mixed(counts[levels.rest], levels.among, levels.among_effect),
    )


def _mixed(counts: Vector, log_q: Vector, effect: float) -> float:
    """Log of the mixture over priors, on all outcomes at once."""
    seen = counts > 0
    n = counts[seen]
    if n.size == 0:
        return 0.0
    null = float((n * log_q[seen]).sum())
    if null == -np.inf:
        return np.inf
    diffuse = _log_marginal(n, np.full(n.size, np.log(0.5)), 0.5 * counts.size)
    parts = [np.log(DIFFUSE_WEIGHT) + diffuse - null]
    for concentration, weight in prior_concentrations(log_q, effect):
        log_prior = np.log(concentration) + log_q[seen]
        parts.append(np.log(weight) + _log_marginal(n, log_prior, concentration) - null)
    return float(np.logaddexp.reduce(parts))  # faster than scipy's logsumexp


def _log_marginal(n: Vector, log_prior: Vector, concentration: float) -> float:
    """Log-probability of a label sequence with counts n > 0 under Dirichlet(exp(log_prior)).

    Gamma(n + a)/Gamma(a) is written as a Gamma(n + a)/Gamma(1 + a): a may underflow, but not log a.
    """
    prior = np.exp(log_prior)
    rising = log_prior + gammaln(n + prior) - gammaln(1.0 + prior)
    total = float(gammaln(concentration) - gammaln(n.sum() + concentration))
    return total + float(rising.sum())
