"""Engines that release tables, broken and correct: each a few lines, with what it gets wrong."""

from . import frames, means, norms, partitions  # noqa: F401 - put their engines among the broken ones
from .broken import BROKEN
from .correct import CORRECT
from .shelf import Entry

__all__ = ["BROKEN", "CORRECT", "Entry"]
