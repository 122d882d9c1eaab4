"""The checks of tables: two of their own, and those of numbers and keys that engines have too."""

from ...run.registry import Entry, Registry
from ..numbers.registry import SHARES as OF_NUMBERS
from ..numbers.registry import shared

_SHARED = ("noise-law", "noise-scale", "location", "independence", "fresh-noise")
"""Checks of numbers, asked of each aggregate."""

CHECKS = Registry(
    f"{__package__}.checks",
    (
        Entry("input-contract", 0.0, ("input_contract",)),
        Entry("empty-partitions", 1 / 8, ("empty_partitions",)),
        Entry("contribution-bounding", 1 / 4, ("contribution_bounding",)),
        Entry(
            "partition-release",
            OF_NUMBERS["partition-release"],
            ("partition_release",),
            judges_noise=True,
        ),
        *(shared(check, "of_numbers") for check in _SHARED),
        shared("joint", "joint"),
        Entry("privacy-claim", 0.0, ("privacy_claim",), rests_on_noise=True),
    ),
    simplest_share=0.0,
)
