"""Rows of users through an engine: bounding, aggregates with noise, selection of partitions."""

from .bounding import Bounding
from .norms import NormBound
from .rows import Rows
from .selection import Selection, Threshold, TruncatedGeometric
from .table import Aggregate, NoisyTable

__all__ = [
    "Aggregate",
    "Bounding",
    "NoisyTable",
    "NormBound",
    "Rows",
    "Selection",
    "Threshold",
    "TruncatedGeometric",
]
