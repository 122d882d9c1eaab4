"""Tallies behind masks or encrypted: broken deployments, and correct ones that look alike."""

from zoo_entry import Entry

from .again import SHELF as AGAIN
from .encrypted import SHELF as ENCRYPTED
from .masks import SHELF as MASKS
from .sums import SHELF as SUMS

ENTRIES: list[Entry] = [*MASKS, *SUMS, *ENCRYPTED, *AGAIN]
__all__ = ["BROKEN", "CORRECT", "ENTRIES"]

BROKEN = [entry for entry in ENTRIES if entry.caught]
CORRECT = [entry for entry in ENTRIES if not entry.caught]
