"""The anytime-valid confidence interval of the noise scale."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mixture_of
from .parts import Parts

_FINE_SPAN = 0.12
_FINE_STEP = 0.0025
_NAME = "scale "


def scale_factors(tolerance: float) -> Vector:
    """Factors (f,) of the claimed scale at which likelihoods are computed: 0.01 to 100.

    They are dense near 1, and include 1 and 1 +- tolerance. The dense step costs the mixture less
    than 0.2 nats against the best factor while the interval is wider than +- 1.25 %.
    """
    step = min(_FINE_STEP, tolerance / 4.0)
    fine = 1.0 + step * np.arange(-round(_FINE_SPAN / step), round(_FINE_SPAN / step) + 1)
    middle = np.exp(np.arange(0.12, 0.8, 0.02))
    wide = np.geomspace(2.25, 100.0, 24)
    away = np.concatenate([middle, wide])
    return np.unique(np.concatenate([1 / away, fine, away, [1.0, 1 - tolerance, 1 + tolerance]]))


def factors_named(names: Sequence[str]) -> Vector | None:
    """The factors (f,) of a mixture's parts, by their names; None where these are no scales."""
    if not all(name.startswith(_NAME) for name in names):
        return None
    return np.array([float(name.removeprefix(_NAME)) for name in names])


class ScaleEvidence:
    """E-processes against each scale factor (f,): the mixture of all likelihoods over its own.

    For the true factor this ratio is a nonnegative martingale. So the set of factors whose ratio
    has never reached 1/alpha covers it at all times with probability 1 - alpha. Half of the prior
    weight is spread over factors near 1, half over all.
    """

    SAVED = ("log_likelihoods", "highest")
    """Names of the attributes, all arrays, that a saved state holds."""

    def __init__(self, factors: Vector) -> None:
        self.factors = factors
        near = np.abs(factors - 1.0) <= _FINE_SPAN
        self.log_weights = np.log(0.5 * near / near.sum() + 0.5 / factors.size)
        self.log_likelihoods = np.zeros(factors.size)
        self.highest = np.full(factors.size, -np.inf)
        self._claimed = int(np.argmin(np.abs(factors - 1.0)))

    def observe(self, counts: Vector, log_laws: Vector) -> None:
        """Adds labels: counts (o,), and each factor's log-probabilities per label (f, o)."""
        seen = counts > 0
        self.add(log_laws[:, seen] @ counts[seen])

    def add(self, log_likelihoods: Vector) -> None:
        """Adds labels by their log-likelihood (f,) under each factor."""
        self.log_likelihoods += log_likelihoods
        self.highest = np.maximum(self.highest, self.log_e_values)

    @property
    def log_e_values(self) -> Vector:
        """Log e-value (f,) against each factor; infinite where a label seen is impossible."""
        mixture = log_mixture_of(self.log_likelihoods, self.log_weights)
        if mixture == -np.inf:  # no factor allows the labels seen
            return np.full(self.factors.size, np.inf)
        return np.asarray(mixture - self.log_likelihoods)

    @property
    def log_e_value(self) -> float:
        """The highest log e-value so far against the claimed scale."""
        return float(self.highest[self._claimed])

    @property
    def parts(self) -> Parts:
        """Every factor's likelihood ratio to the claimed scale, as evidence now."""
        claimed = self.log_likelihoods[self._claimed]
        logs = np.full(self.factors.size, np.inf)  # where the claim does not allow what was seen
        if np.isfinite(claimed):
            logs = self.log_likelihoods - claimed
        return Parts(self._names, self.log_weights, logs, self.factors)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"{_NAME}{factor!r}" for factor in self.factors.tolist())

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
        """The interval of factors not refuted at 1/alpha = exp(log_threshold); None if empty.

        Each end is the nearest refuted factor outside, 0 or infinity where none is refuted there,
        so that no factor between grid points is excluded untested.
        """
        open_ = np.flatnonzero(self.highest < log_threshold)
        if open_.size == 0:
            return None
        below, above = int(open_[0]) - 1, int(open_[-1]) + 1
        return (
            float(self.factors[below]) if below >= 0 else 0.0,
            float(self.factors[above]) if above < self.factors.size else np.inf,
        )
