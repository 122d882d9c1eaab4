"""How well labels are explained by something that each call draws once for all its answers."""

import numpy as np
from scipy.special import gammaln

from .....reference.arrays import Matrix, Vector

CONCENTRATIONS = 2.0 ** np.arange(9)
"""Concentrations of the Dirichlet law, about the claimed law, from which calls draw a law."""

_LEAK = 0.01  # share of independent screening, so that no call rules out one screening per call
_LEAST_CHANCE = 1e-12


class OnceACall:
    """Log-likelihood ratios of two explanations against the claim, for diagnosis only.

    log_q: the claimed log-laws (streams, o); refuses: whether the last outcome is a refusal. Either
    each call draws its own law, from a Dirichlet law about the claimed one, or it draws once
    whether all its answers are refused. Calls for one label do not count. The best concentration is
    taken, so these are no e-values.
    """

    def __init__(self, log_q: Matrix, *, refuses: bool) -> None:
        self._log_q = np.maximum(log_q, np.log(_LEAST_CHANCE))
        self._refuses = refuses
        self._of_laws = np.zeros(CONCENTRATIONS.size)
        self.screened = 0.0

    def observe(self, stream: int, counts: Vector) -> None:
        """Adds the outcomes (o,) of one call, as counts."""
        size = float(counts.sum())
        if size < 2.0:
            return
        seen = counts > 0
        n, log_q = counts[seen], self._log_q[stream][seen]
        prior = CONCENTRATIONS[:, None] * np.exp(log_q)
        one = gammaln(CONCENTRATIONS) - gammaln(CONCENTRATIONS + size)
        self._of_laws += one + (gammaln(prior + n) - gammaln(prior)).sum(-1) - float(n @ log_q)
        if self._refuses:
            self.screened += _screened_once(float(counts[-1]), size, self._log_q[stream][-1])

    @property
    def own_law(self) -> float:
        """Log-ratio of "each call has its own law", at the best concentration."""
        return float(self._of_laws.max())


def _screened_once(refused: float, size: float, log_chance: float) -> float:
    """Log-ratio of one screening per call; log_chance: of a refusal under the claim."""
    log_answered = float(np.log(max(-np.expm1(log_chance), _LEAST_CHANCE)))
    independent = refused * log_chance + (size - refused) * log_answered
    if 0.0 < refused < size:
        return float(np.log(_LEAK))
    together = log_chance if refused else log_answered
    return float(np.logaddexp(np.log1p(-_LEAK) + together, np.log(_LEAK) + independent)) - (
        independent
    )
