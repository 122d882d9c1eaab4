"""The checks: each turns labels into evidence, and evidence into a finding."""

from .abstention import Abstention
from .accountant_soundness import AccountantSoundness
from .base import LabelsCheck
from .budget_enforcement import BudgetEnforcement
from .cached_answers import CachedAnswers
from .class_probabilities import ClassProbabilities
from .compared_streams import Symmetry, VoteMonotonicity
from .fresh_noise import FreshNoise
from .histogram_leakage import HistogramLeakage
from .input_contract import InputContract
from .noise_scale import NoiseScale
from .order import Order
from .privacy_audit import PrivacyAudit
from .privacy_claim import PrivacyClaimCheck

__all__ = [
    "Abstention",
    "AccountantSoundness",
    "BudgetEnforcement",
    "CachedAnswers",
    "ClassProbabilities",
    "FreshNoise",
    "HistogramLeakage",
    "InputContract",
    "LabelsCheck",
    "NoiseScale",
    "Order",
    "PrivacyAudit",
    "PrivacyClaimCheck",
    "Symmetry",
    "VoteMonotonicity",
]
