"""The checks of keys: those of numbers, by their ids and shares, as far as keys have them."""

from dataclasses import replace

from ...findings.note import Note
from ...run.registry import Entry, Least, Registry
from ..numbers.registry import CHECKS as OF_NUMBERS

_CHECKS = {
    "input-contract": "...numbers.checks.input_contract:InputContract",
    "independence": ".keys_together:KeysIndependence",
    "fresh-noise": ".keys_together:KeysFreshNoise",
    "partition-release": ".partition_release:PartitionRelease",
    "privacy-audit": ".privacy_audit:KeysPrivacyAudit",
    "privacy-claim": ".privacy_claim:KeysPrivacyClaim",
}
"""Checks of keys, by their ids among those of numbers."""


def _entry(entry: Entry) -> Entry:
    check = _CHECKS.get(entry.id)
    if check is None:
        absent = Note("not-of-this-kind", "the deployment releases keys, no numbers")
        return replace(entry, check="", absent=absent)
    least = Least("correlation") if entry.id == "fresh-noise" else entry.least  # of pairs of keys
    judges = entry.judges_noise or entry.id == "partition-release"  # keys come by noise on counts
    return replace(entry, check=check, absent=None, least=least, judges_noise=judges)


CHECKS = Registry(
    f"{__package__}.checks",
    tuple(_entry(entry) for entry in OF_NUMBERS.entries),
    OF_NUMBERS.simplest_share,
)
