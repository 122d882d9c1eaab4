"""Aggregators that release numbers: their noise with its rounding, and what they compute.

`families` names the laws of noise (`continuous`, `discrete`, `shares` of parties), `noise` has the
law of what is released, with rounding and range, and `noise_text` its text form in claims;
`aggregations` and `thresholded` say what is computed, and `costs` what it costs.
"""

from .aggregations import (
    Aggregation,
    Clipping,
    Move,
    NoisyGradient,
    NoisyHistogram,
    NoisySum,
    Releases,
    sample,
    sensitivity,
)
from .families import Additive, DiscreteGaussian, DiscreteLaplace, Shares
from .noise import NumberNoise
from .noise_text import parse_number_noise
from .thresholded import ThresholdedHistogram

__all__ = [
    "Additive",
    "Aggregation",
    "Clipping",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Move",
    "NoisyGradient",
    "NoisyHistogram",
    "NoisySum",
    "NumberNoise",
    "Releases",
    "Shares",
    "ThresholdedHistogram",
    "parse_number_noise",
    "sample",
    "sensitivity",
]
