"""What deployments release, a folder for each kind: labels, numbers, keys, tables."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kind import ReleaseKind

FOLDERS = ["labels", "numbers", "keys", "tables", "tally", "lawless", "batches", "same_as"]
"""Those that there are, in the order in which messages list them."""


@cache
def kinds() -> "tuple[ReleaseKind, ...]":
    """All kinds of release."""
    return tuple(import_module(f"{__name__}.{folder}.kind").KIND for folder in FOLDERS)


def kind_of(mechanism: str) -> "ReleaseKind | None":
    """The kind of a mechanism, by its name in a claim; None for one that nobody knows."""
    return next((kind for kind in kinds() if mechanism in kind.mechanisms), None)
