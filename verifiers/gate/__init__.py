"""A run of all checks on a target."""

from .run import Progress, verify

__all__ = ["Progress", "verify"]
