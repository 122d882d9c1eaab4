"""E-values: evidence that stays valid under any stopping rule.

What is wagered on, and in which file:

- a law of the labels, known or any: `pointed`, `dirichlet`; where rows have laws of their own,
  `onset`, `cells`
- the scale of the noise: `scale`
- two streams of one law: `same_law`; a probability larger than another, a mean above a bound:
  `one_sided`
- labels that repeat, or avoid, earlier ones of their histogram: `repetition`
- labels that depend in any way on the one before, of their histogram or of another: `dependence`
- antithetic noise and systematic draws, whose counts in a call are too even: `dispersion`
- labels of a call whose order is not random: `ordered`
- noise that depends on earlier calls, under traffic as in production: `in_order`
- calls, histograms, starts or connections that share their noise: `kept_noise`, `shared_noise`,
  `replay`
- kept answers that are repeated after their store was emptied: `replay`
- refusals that tell two inputs apart, whose calls are counted beforehand: `refusals`

`power` says how many labels a wager takes, `outcomes` counts labels, `mixture` sums wagers.

Each class accumulates one e-process: a nonnegative process whose expectation under its null is at
most 1 at any stopping time, so that by Ville's inequality it ever reaches 1/alpha with probability
at most alpha. All values are natural logs. Wagers are fixed before the labels they are made on.
"""

from .dependence import Dependence, InTurn
from .dirichlet import dirichlet_log_e_value, prior_concentrations
from .dispersion import BlockDispersion, Dispersion
from .in_order import Conditional, Copies, Switching
from .kept_noise import CallCopies, Frozen, OfConnections
from .mixture import log_mixture_of
from .one_sided import log_e_value_above, log_e_value_larger
from .ordered import OrderInCalls
from .outcomes import Outcomes, as_outcomes, count_outcomes, log_supremum_ratio, telling_outcomes
from .pointed import PointedEvidence
from .repetition import Periodic, Repetition
from .replay import Recurrence, Replay, log_e_value_again
from .same_law import LevelsOfOneLaw, SameLawEvidence
from .scale import ScaleEvidence
from .shared_noise import Places, SharedNoise

__all__ = [
    "BlockDispersion",
    "CallCopies",
    "Conditional",
    "Copies",
    "Dependence",
    "Dispersion",
    "Frozen",
    "InTurn",
    "LevelsOfOneLaw",
    "OfConnections",
    "OrderInCalls",
    "Outcomes",
    "Periodic",
    "Places",
    "PointedEvidence",
    "Recurrence",
    "Repetition",
    "Replay",
    "SameLawEvidence",
    "ScaleEvidence",
    "SharedNoise",
    "Switching",
    "as_outcomes",
    "count_outcomes",
    "dirichlet_log_e_value",
    "log_e_value_above",
    "log_e_value_again",
    "log_e_value_larger",
    "log_mixture_of",
    "log_supremum_ratio",
    "prior_concentrations",
    "telling_outcomes",
]
