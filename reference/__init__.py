"""What a correct aggregator is: noise, histograms, mechanisms and their exact probabilities.

`log_probabilities` is the float64 form (numpy and JAX), `exact_probabilities` the mpmath oracle,
`enclose_probabilities` the rigorous one in ball arithmetic.
"""

if __name__ != "dpassay.reference":  # found as a bare folder: a second copy of every class
    raise ImportError(f"this package is dpassay.reference; do not import it as {__name__}")

from typing import TYPE_CHECKING, Any

from .budget import BudgetExhausted
from .ensemble import digit_histograms
from .generators import secure_generator
from .histograms import Histogram, as_histogram, consensus, neighbours, parse_histogram, tally
from .mechanisms import (
    REFUSAL,
    ConfidentGNMax,
    InteractiveGNMax,
    Mechanism,
    NoisyArgmax,
    SampledArgmax,
    UnknownMechanismError,
)
from .noise import Exponential, Gaussian, Gumbel, Laplace, Noise, parse_noise
from .probabilities import jacobian, log_derivatives, log_jacobian, log_probabilities, probabilities
from .sampling import Sampling

if TYPE_CHECKING:
    from .enclosures import enclose_probabilities
    from .oracle import exact_probabilities

__all__ = [
    "REFUSAL",
    "BudgetExhausted",
    "ConfidentGNMax",
    "Exponential",
    "Gaussian",
    "Gumbel",
    "Histogram",
    "InteractiveGNMax",
    "Laplace",
    "Mechanism",
    "Noise",
    "NoisyArgmax",
    "SampledArgmax",
    "Sampling",
    "UnknownMechanismError",
    "as_histogram",
    "consensus",
    "digit_histograms",
    "enclose_probabilities",
    "exact_probabilities",
    "jacobian",
    "log_derivatives",
    "log_jacobian",
    "log_probabilities",
    "neighbours",
    "parse_histogram",
    "parse_noise",
    "probabilities",
    "secure_generator",
    "tally",
]


def __getattr__(name: str) -> Any:
    """Loads the oracles, and with them mpmath and flint, only where they are used."""
    if name == "exact_probabilities":
        from .oracle import exact_probabilities

        return exact_probabilities
    if name == "enclose_probabilities":
        from .enclosures import enclose_probabilities

        return enclose_probabilities
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
