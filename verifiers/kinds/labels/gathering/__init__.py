"""A run of all checks on a target."""

from ....run.events import Progress
from .run import verify

__all__ = ["Progress", "verify"]
