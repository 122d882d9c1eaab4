"""Aggregators that release numbers: their noise with its rounding, and what they compute.

`families` has the exact laws of the noise, `noise` the text form that claims use, with rounding as
part of the law; `aggregations` and `thresholded` what is computed, and `costs` what it costs.
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
from .families import Additive, DiscreteGaussian, DiscreteLaplace
from .noise import NumberNoise, parse_number_noise
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
    "ThresholdedHistogram",
    "parse_number_noise",
    "sample",
    "sensitivity",
]
