"""The checks of keys: those of numbers, by their ids and shares, as far as keys have them."""

from dataclasses import replace

from ...findings.note import Note
from ...run.registry import Entry, Least, Registry
from ..numbers.registry import CHECKS as OF_NUMBERS

_FILES = {
    "input-contract": "input_contract",
    "independence": "keys_together",
    "fresh-noise": "keys_together",
    "partition-release": "partition_release",
    "privacy-audit": "privacy_audit",
    "privacy-claim": "privacy_claim",
}
"""Checks of keys, and where they stand under checks/."""


def _entry(entry: Entry) -> Entry:
    file = _FILES.get(entry.id)
    if file is None:
        absent = Note("not-of-this-kind", "the deployment releases keys, no numbers")
        return replace(entry, files=(), absent=absent)
    least = Least("correlation") if entry.id == "fresh-noise" else entry.least  # of pairs of keys
    judges = entry.judges_noise or entry.id == "partition-release"  # keys come by noise on counts
    return replace(entry, files=(file,), absent=None, least=least, judges_noise=judges)


CHECKS = Registry(
    f"{__package__}.checks",
    tuple(_entry(entry) for entry in OF_NUMBERS.entries),
    OF_NUMBERS.simplest_share,
)
