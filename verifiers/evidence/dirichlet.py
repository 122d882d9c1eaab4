"""The e-value against any deviation from a known law: Dirichlet mixtures over all laws."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ...reference.arrays import Vector

DIFFUSE_WEIGHT = 0.25
"""Weight of the Jeffreys prior, which wins on gross deviations of any kind."""

_CONTENDS = 2.0  # times the effect, from which an outcome is one of few
_MANY = 20  # rare outcomes, from which they are a level of their own


def prior_concentrations(log_q: Vector, effect: float) -> tuple[tuple[float, float], ...]:
    """Concentrations of Dirichlet priors centred at the null, with their weights.

    Centred priors waste least on deviations of the size that matters: at concentration k0 the
    typical total variation between a draw and Q is `effect`; k0 and 5 k0 are near the best for
    detecting it with probability 0.99 (measured; flat within 10 %).
    log_q: log-probabilities (o,); effect: total variation.
    """
    q = np.minimum(np.exp(log_q), 1.0)  # a sum of probabilities may round to a hair above
    k0 = max(1.0, float(0.4 * np.sqrt(q * (1.0 - q)).sum() / effect) ** 2)
    return ((k0, 0.25), (5.0 * k0, 0.5))


def dirichlet_log_e_value(counts: Vector, log_q: Vector, effect: float) -> float:
    """Log of DirichletMultinomial(counts) / Multinomial(counts; Q), mixed over priors.

    counts: labels seen per outcome (o,); log_q: the null's log-probabilities (o,). Its expectation
    under the null is exactly 1 for every number of labels, and as a function of the labels seen so
    far it is a martingale (a ratio of predictive probabilities). Where a few outcomes contend and
    many others are rare, a deviation among the few would be paid for by all dimensions of the rest:
    there it is a mean of the e-value of the few, the rest counted as one, and of its product with
    the e-value of the rest among themselves, each of which is such a martingale.
    """
    split = split_levels(log_q, effect)
    if split is None:
        return _mixed(counts, log_q, effect)
    among_few, among_rest = level_log_e_values(counts, split)
    return float(among_few + np.logaddexp(0.0, among_rest) - np.log(2.0))


class Levels(NamedTuple):
    """A law of few outcomes, the rest as one (the last), and that of the rest among themselves.

    rest: which outcomes those are (o,); few, among: log-probabilities; effect: to be seen in all.
    """

    rest: NDArray[np.bool_]
    few: Vector
    among: Vector
    effect: float

    @property
    def rare(self) -> float:
        """Probability of the rest; not 0 where it is too small for a float."""
        return max(float(np.exp(self.few[-1])), float(np.finfo(np.float64).tiny))

    @property
    def among_effect(self) -> float:
        """Half the effect, moved within the rest alone, as a share of its own law."""
        return min(0.5, 0.5 * self.effect / self.rare)


def split_levels(log_q: Vector, effect: float) -> Levels | None:
    """The levels of a law (o,); None where one does: no outcome contends, or the rest are few."""
    rest = log_q < np.log(_CONTENDS * effect)
    if rest.all() or np.count_nonzero(rest & (log_q > -np.inf)) < _MANY:
        return None
    total = float(np.logaddexp.reduce(log_q[rest]))
    return Levels(rest, np.append(log_q[~rest], total), log_q[rest] - total, effect)


def rare_share(log_q: Vector, effect: float) -> float:
    """Probability of the rare outcomes of a law (o,) that has two levels; else 0."""
    levels = split_levels(log_q, effect)
    return 0.0 if levels is None else levels.rare


def level_log_e_values(counts: Vector, levels: Levels) -> tuple[float, float]:
    """The log e-values of counts (o,) on both levels."""
    coarse = np.append(counts[~levels.rest], counts[levels.rest].sum())
    return (
        _mixed(coarse, levels.few, levels.effect),
        _mixed(counts[levels.rest], levels.among, levels.among_effect),
    )


def _mixed(counts: Vector, log_q: Vector, effect: float) -> float:
    """The mixture over priors on all outcomes at once."""
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
    return float(np.logaddexp.reduce(parts))  # scipy checks its arguments for longer


def _log_marginal(n: Vector, log_prior: Vector, concentration: float) -> float:
    """Log-probability of a label sequence with counts n > 0 under Dirichlet(exp(log_prior)).

    Gamma(n + a)/Gamma(a) is written as a Gamma(n + a)/Gamma(1 + a): a may underflow, log a not.
    """
    prior = np.exp(log_prior)
    rising = log_prior + gammaln(n + prior) - gammaln(1.0 + prior)
    total = float(gammaln(concentration) - gammaln(n.sum() + concentration))
    return total + float(rising.sum())
