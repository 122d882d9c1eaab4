"""The checks of tables: two of their own, and those of numbers and keys that engines have too."""

from dataclasses import replace

from ...run.registry import Entry, Least, Registry
from ..numbers.registry import CHECKS as OF_NUMBERS

_OF_EACH = {
    "noise-law": ".of_numbers:TableNoiseLaw",
    "noise-scale": ".of_numbers:TableNoiseScale",
    "location": ".of_numbers:TableLocation",
    "independence": ".of_numbers:TableIndependence",
    "fresh-noise": ".of_numbers:TableFreshNoise",
    "joint": ".joint:TableJoint",
}
"""Checks of numbers, asked of each aggregate."""

CHECKS = Registry(
    f"{__package__}.checks",
    (
        Entry("input-contract", 1 / 64, ".input_contract:TableInputContract"),
        Entry("empty-partitions", 7 / 64, ".empty_partitions:EmptyPartitions", least=Least()),
        Entry(
            "contribution-bounding",
            1 / 4,
            ".contribution_bounding:ContributionBounding",
            least=Least(),
        ),
        Entry(
            "partition-release",
            OF_NUMBERS.shares["partition-release"],
            ".partition_release:TablePartitionRelease",
            least=Least(),
            judges_noise=True,
        ),
        *(replace(OF_NUMBERS.entry(name), check=check) for name, check in _OF_EACH.items()),
        Entry("privacy-claim", 0.0, ".privacy_claim:TablePrivacyClaim", rests_on_noise=True),
    ),
    simplest_share=0.0,
)
