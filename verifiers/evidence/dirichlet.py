"""The e-value against any deviation from a known law: Dirichlet mixtures over all laws."""

import numpy as np
from scipy.special import gammaln

from ...reference.arrays import Vector

DIFFUSE_WEIGHT = 0.25
"""Weight of the Jeffreys prior, which wins on gross deviations of any kind."""


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
    far it is a martingale (a ratio of predictive probabilities).
    """
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
