"""Engines that release tables, broken and correct: each a few lines, with what it gets wrong."""

from . import (  # noqa: F401 - put their engines among the broken ones
    frames,
    means,
    norms,
    partitions,
    roundings,
    singled_out,
)
from .broken import BROKEN
from .correct import CORRECT

__all__ = ["BROKEN", "CORRECT"]
