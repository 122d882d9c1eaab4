"""What can be read from released labels: reconstruction of vote histograms, and its limits.

`reconstruct` is the attack; `limits` says how well any can do.
"""

if __name__ != "dpassay.attacks":  # found as a bare folder: a second copy of every class
    raise ImportError(f"this package is dpassay.attacks; do not import it as {__name__}")

from .answers import Answers
from .limits import (
    best_scale,
    bound_on_error,
    cramer_rao,
    errors_in_budget,
    expected_error,
    fisher_information,
    queries_for_error,
)
from .reconstruct import METHODS, Method, Reconstruction, misplaced, reconstruct

__all__ = [
    "METHODS",
    "Answers",
    "Method",
    "Reconstruction",
    "best_scale",
    "bound_on_error",
    "cramer_rao",
    "errors_in_budget",
    "expected_error",
    "fisher_information",
    "misplaced",
    "queries_for_error",
    "reconstruct",
]
