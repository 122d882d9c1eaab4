"""Rows of users through an engine: bounding, aggregates with noise, selection of partitions."""

from .bounding import Bounding, NormBound
from .rows import Rows
from .table import Aggregate, NoisyTable, Selection, Threshold, TruncatedGeometric

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
