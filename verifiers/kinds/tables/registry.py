"""The checks of tables: two of their own, and those of numbers and keys that engines have too."""

from dataclasses import replace

from ...run.registry import Entry, Least, Registry
from ..numbers.registry import CHECKS as OF_NUMBERS

_SHARED = ("noise-law", "noise-scale", "location", "independence", "fresh-noise")
"""Checks of numbers, asked of each aggregate."""

CHECKS = Registry(
    f"{__package__}.checks",
    (
        Entry("input-contract", 1 / 64, ("input_contract",)),
        Entry("empty-partitions", 7 / 64, ("empty_partitions",), least=Least()),
        Entry("contribution-bounding", 1 / 4, ("contribution_bounding",), least=Least()),
        Entry(
            "partition-release",
            OF_NUMBERS.shares["partition-release"],
            ("partition_release",),
            least=Least(),
            judges_noise=True,
        ),
        *(replace(OF_NUMBERS.entry(check), files=("of_numbers",)) for check in _SHARED),
        OF_NUMBERS.entry("joint"),
        Entry("privacy-claim", 0.0, ("privacy_claim",), rests_on_noise=True),
    ),
    simplest_share=0.0,
)
