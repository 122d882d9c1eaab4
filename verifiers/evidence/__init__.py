"""E-values: evidence that stays valid under any stopping rule.

Each class accumulates one e-process: a nonnegative process whose expectation under its null is at
most 1 at any stopping time, so that by Ville's inequality it ever reaches 1/alpha with probability
at most alpha. All values are natural logs. Wagers are fixed before the labels they are made on.
"""

from .bounded_mean import log_e_value_above
from .dirichlet import dirichlet_log_e_value, prior_concentrations
from .pointed import PointedEvidence
from .proportion import proportion_interval
from .same_law import SameLawEvidence
from .scale import ScaleEvidence

__all__ = [
    "PointedEvidence",
    "SameLawEvidence",
    "ScaleEvidence",
    "dirichlet_log_e_value",
    "log_e_value_above",
    "prior_concentrations",
    "proportion_interval",
]
