"""The checks: each turns labels into evidence and says what it means. None prints or stops."""

from .abstention import Abstention
from .accountant_soundness import AccountantSoundness
from .base import Check, Finding
from .budget_enforcement import BudgetEnforcement
from .class_probabilities import ClassProbabilities
from .histogram_leakage import HistogramLeakage
from .input_contract import InputContract
from .noise_scale import NoiseScale
from .privacy_claim import PrivacyClaimCheck
from .symmetry import Symmetry

__all__ = [
    "Abstention",
    "AccountantSoundness",
    "BudgetEnforcement",
    "Check",
    "ClassProbabilities",
    "Finding",
    "HistogramLeakage",
    "InputContract",
    "NoiseScale",
    "PrivacyClaimCheck",
    "Symmetry",
]
