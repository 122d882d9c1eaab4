"""Hypothesis strategies for histograms, neighbouring pairs and claims, and laws of privacy.

A `Law` is a property that every correct account keeps; `Law.check` holds a function of yours to it,
and says what breaks it, shrunk. `LAWS` has all of them.
"""

from ..kinds.labels.strategies import claims, drawn_votes, examples, histograms, neighbours
from .law import Law, guarantees, pairs
from .laws import (
    COMPOSITION,
    CONVERSION,
    FILTER,
    GAUSSIANS,
    GROUP,
    LAPLACE_SUM,
    LAWS,
    ODOMETER,
    POST_PROCESSING,
    SUBSAMPLING,
)

__all__ = [
    "COMPOSITION",
    "CONVERSION",
    "FILTER",
    "GAUSSIANS",
    "GROUP",
    "LAPLACE_SUM",
    "LAWS",
    "ODOMETER",
    "POST_PROCESSING",
    "SUBSAMPLING",
    "Law",
    "claims",
    "drawn_votes",
    "examples",
    "guarantees",
    "histograms",
    "neighbours",
    "pairs",
]
