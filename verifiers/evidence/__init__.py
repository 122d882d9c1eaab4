"""E-values: evidence that stays valid under any stopping rule.

Each class accumulates one e-process: a nonnegative process whose expectation under its null is at
most 1 at any stopping time, so that by Ville's inequality it ever reaches 1/alpha with probability
at most alpha. All values are natural logs. Wagers are fixed before the labels they are made on.
"""

from .bounded_mean import log_e_value_above
from .call_copies import CallCopies
from .dependence import Dependence
from .dirichlet import dirichlet_log_e_value, prior_concentrations
from .dispersion import BlockDispersion, Dispersion
from .frozen import Frozen
from .in_turn import InTurn
from .mixture import log_mixture_of
from .one_sided import log_e_value_larger
from .outcomes import (
    Outcomes,
    as_outcomes,
    count_outcomes,
    log_supremum_ratio,
    telling_outcomes,
)
from .periodic import Periodic
from .pointed import PointedEvidence
from .proportion import proportion_interval
from .repetition import Repetition
from .replay import Replay
from .same_law import SameLawEvidence
from .scale import ScaleEvidence
from .shared_noise import Places, SharedNoise

__all__ = [
    "BlockDispersion",
    "CallCopies",
    "Dependence",
    "Dispersion",
    "Frozen",
    "InTurn",
    "Outcomes",
    "Periodic",
    "Places",
    "PointedEvidence",
    "Repetition",
    "Replay",
    "SameLawEvidence",
    "ScaleEvidence",
    "SharedNoise",
    "as_outcomes",
    "count_outcomes",
    "dirichlet_log_e_value",
    "log_e_value_above",
    "log_e_value_larger",
    "log_mixture_of",
    "log_supremum_ratio",
    "prior_concentrations",
    "proportion_interval",
    "telling_outcomes",
]
