"""The anytime-valid interval of the noise scale: all scales that the labels do not refute."""

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mixture_of

_FINE_SPAN = 0.12
_FINE_STEP = 0.0025


def scale_factors(tolerance: float) -> Vector:
    """Factors of the claimed scale at which likelihoods are kept: from 0.01 to 100, dense near 1.

    1 and 1 +- tolerance are among them. The dense step lets the mixture lose less than 0.2 nats
    to the best factor while the interval reaches 1.25 % to either side.
    """
    step = min(_FINE_STEP, tolerance / 4.0)
    fine = 1.0 + step * np.arange(-round(_FINE_SPAN / step), round(_FINE_SPAN / step) + 1)
    middle = np.exp(np.arange(0.12, 0.8, 0.02))
    wide = np.geomspace(2.25, 100.0, 24)
    away = np.concatenate([middle, wide])
    return np.unique(np.concatenate([1 / away, fine, away, [1.0, 1 - tolerance, 1 + tolerance]]))


class ScaleEvidence:
    """Likelihoods of all scale factors, mixed against each one of them as the null.

    For the true factor the mixture over its likelihood is a nonnegative martingale, so the set of
    factors whose ratio has never reached 1/alpha covers it at all times with probability 1 - alpha.
    Half the prior weight is spread evenly over the factors near 1, half over all.
    """

    SAVED = ("log_likelihoods", "highest")
    """What it knows, as arrays, for those who keep it."""

    def __init__(self, factors: Vector) -> None:
        self.factors = factors
        near = np.abs(factors - 1.0) <= _FINE_SPAN
        self.log_weights = np.log(0.5 * near / near.sum() + 0.5 / factors.size)
        self.log_likelihoods = np.zeros(factors.size)
        self.highest = np.full(factors.size, -np.inf)

    def observe(self, counts: Vector, log_laws: Vector) -> None:
        """Adds labels: counts (o,), and each factor's log-probabilities per label (f, o)."""
        seen = counts > 0
        self.add(log_laws[:, seen] @ counts[seen])

    def add(self, log_likelihoods: Vector) -> None:
        """Adds labels by the log-probability (f,) that each factor gives them."""
        self.log_likelihoods += log_likelihoods
        self.highest = np.maximum(self.highest, self.log_e_values)

    @property
    def log_e_values(self) -> Vector:
        """Log e-value (f,) of each factor as the null; infinite where it forbids a label seen."""
        mixture = log_mixture_of(self.log_likelihoods, self.log_weights)
        if mixture == -np.inf:  # no factor allows the labels seen
            return np.full(self.factors.size, np.inf)
        return np.asarray(mixture - self.log_likelihoods)

    @property
    def log_e_value(self) -> float:
        """Log e-value of the claimed scale as the null, the highest so far."""
        claimed = int(np.argmin(np.abs(self.factors - 1.0)))
        return float(self.highest[claimed])

    @property
    def best(self) -> float:
        """The likeliest factor, refined by a parabola through its neighbours."""
        i = int(np.argmax(self.log_likelihoods))
        if 0 < i < self.factors.size - 1:
            x = np.log(self.factors[i - 1 : i + 2])
            y = self.log_likelihoods[i - 1 : i + 2]
            if np.isfinite(y).all():
                a, b, _ = np.polyfit(x - x[1], y - y[1], 2)
                if a < 0:
                    return float(np.exp(np.clip(x[1] - b / (2 * a), x[0], x[2])))
        return float(self.factors[i])

    def interval(self, log_threshold: float) -> tuple[float, float] | None:
        """Smallest and largest factor not refuted at 1/alpha = exp(log_threshold); None if none.

        Each end is the nearest refuted factor outside, so that nothing untested is claimed: 0 or
        infinity where no factor on that side is refuted.
        """
        open_ = np.flatnonzero(self.highest < log_threshold)
        if open_.size == 0:
            return None
        below, above = int(open_[0]) - 1, int(open_[-1]) + 1
        return (
            float(self.factors[below]) if below >= 0 else 0.0,
            float(self.factors[above]) if above < self.factors.size else np.inf,
        )
