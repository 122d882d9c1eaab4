"""Evidence by the parts of its mixture, which may be added up over runs."""

from dataclasses import dataclass

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mixture_of

WHOLE = ("",)
"""The name of the one part of evidence that is kept whole."""


@dataclass(frozen=True)
class Parts:
    """What a mixture of wagers is made of, each of expectation at most 1 under the null by itself.

    names: what each part wagers on, the same in every run; log_weights (p,): of the parts, which
    sum to at most 1; logs (p,): the current log e-value of each, never the highest of several
    looks, whose expectation is infinite; factors (p,): of the claimed scale, where each part wagers
    on one, by its likelihood ratio to the claimed scale; None elsewhere.
    """

    names: tuple[str, ...]
    log_weights: Vector
    logs: Vector
    factors: Vector | None = None

    @classmethod
    def whole(cls, log_e_value: float) -> "Parts":
        """Evidence as one part."""
        return cls(WHOLE, np.zeros(1), np.array([log_e_value]))

    @property
    def log_e_value(self) -> float:
        """Of the whole mixture, natural log."""
        return log_mixture_of(self.logs, self.log_weights)
