"""The checks: each turns labels into evidence, and evidence into a finding.

Those are named here of which a run needs more than the verdict.
"""

from .base import LabelsEvidence
from .class_probabilities import ClassProbabilities
from .fresh_noise import FreshNoise
from .input_contract import InputContract
from .noise_scale import NoiseScale
from .order import Order

__all__ = [
    "ClassProbabilities",
    "FreshNoise",
    "InputContract",
    "LabelsEvidence",
    "NoiseScale",
    "Order",
]
