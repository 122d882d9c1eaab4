"""The gate: claims, targets, evidence, checks and their verdicts."""

if __name__ != "dpassay.verifiers":  # found as a bare folder: a second copy of every class
    raise ImportError(f"this package is dpassay.verifiers; do not import it as {__name__}")

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .testing.conformance import Inconclusive, assert_conforms, assert_replays

__all__ = ["Inconclusive", "assert_conforms", "assert_replays"]


def __getattr__(name: str) -> Any:
    """Loads the gate only where it is used: pytest imports this package at every start."""
    if name in __all__:
        from .testing import conformance

        return getattr(conformance, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
