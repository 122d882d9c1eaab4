"""Aggregators of numbers, broken and correct: each a few lines, with the public fault it is of.

One file a class of fault. An aggregator is made anew for each run, as a function (values, size) ->
releases. Sources name the repository and the issue, or the version in which it was seen.
"""

from . import (
    causes,
    centre,
    clipping,
    correct,
    families,
    independence,
    keys,
    low_bits,
    missing,
    privacy,
    records,
    reuse,
    scale,
    wide,
)
from .shelf import Aggregate, Make, entry

_FILES = (
    correct,
    scale,
    families,
    missing,
    centre,
    independence,
    clipping,
    low_bits,
    privacy,
    causes,
    keys,
    records,
    reuse,
    wide,
)

BROKEN = [entry for file in _FILES for entry in file.SHELF.broken_ones]
CORRECT = [entry for file in _FILES for entry in file.SHELF.correct_ones]

__all__ = ["BROKEN", "CORRECT", "Aggregate", "Make", "entry"]
