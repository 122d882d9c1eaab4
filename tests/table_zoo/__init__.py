"""Engines that release tables, broken and correct: each a few lines, with what it gets wrong."""

from . import partitions  # noqa: F401 - puts its engines among the broken ones
from .broken import BROKEN
from .correct import CORRECT
from .shelf import Entry

__all__ = ["BROKEN", "CORRECT", "Entry"]
