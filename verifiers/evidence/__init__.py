"""E-values: evidence that stays valid under any stopping rule.

Each class accumulates one e-process: a nonnegative process whose expectation under its null is at
most 1 at any stopping time, so that by Ville's inequality it ever reaches 1/alpha with probability
at most alpha. All values are natural logs. Wagers are fixed before the labels they are made on.
"""

from .bounded_mean import log_e_value_above
from .call_copies import CallCopies
from .dependence import Dependence
from .dirichlet import dirichlet_log_e_value, prior_concentrations
from .frozen import Frozen
from .one_sided import log_e_value_larger
from .outcomes import count_outcomes, log_supremum_ratio
from .periodic import Periodic
from .pointed import PointedEvidence
from .proportion import proportion_interval
from .repetition import Repetition, log_ratios_of_copies
from .replay import Replay
from .same_law import SameLawEvidence
from .scale import ScaleEvidence

__all__ = [
    "CallCopies",
    "Dependence",
    "Frozen",
    "Periodic",
    "PointedEvidence",
    "Repetition",
    "Replay",
    "SameLawEvidence",
    "ScaleEvidence",
    "count_outcomes",
    "dirichlet_log_e_value",
    "log_e_value_above",
    "log_e_value_larger",
    "log_ratios_of_copies",
    "log_supremum_ratio",
    "prior_concentrations",
    "proportion_interval",
]
