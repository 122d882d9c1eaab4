"""Plain references: mechanisms written so that one can read them, and for nothing else.

None is fast, checks floats, or hides its low bits: they say what a law is where no exact one is at
hand, for a target to be held to. Each takes the generator that it draws from.
"""

from .choices import exponential_mechanism, permute_and_flip, quantile, top_k
from .local import randomised_response, rappor
from .sums import above_threshold, ratio_of_sums, running_sums

__all__ = [
    "above_threshold",
    "exponential_mechanism",
    "permute_and_flip",
    "quantile",
    "randomised_response",
    "rappor",
    "ratio_of_sums",
    "running_sums",
    "top_k",
]
