"""The checks: each turns labels into evidence, and evidence into a finding.

Those are named here of which a run needs more than the verdict.
"""

from .base import LabelsEvidence
from .class_probabilities import ClassProbabilities
from .fresh_noise import LabelsFreshNoise
from .input_contract import LabelsInputContract
from .noise_scale import LabelsNoiseScale
from .order import Order

__all__ = [
    "ClassProbabilities",
    "LabelsEvidence",
    "LabelsFreshNoise",
    "LabelsInputContract",
    "LabelsNoiseScale",
    "Order",
]
