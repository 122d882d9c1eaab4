"""The checks of tallies: three of their own, and those of numbers that rounds have."""

from ...run.registry import Entry, Least, Registry
from ..numbers.registry import CHECKS as OF_NUMBERS

_SHARED = ("noise-law", "noise-scale", "location", "joint", "independence", "fresh-noise")
"""Checks of numbers, which look at the rounds to which all parties send."""

_OWN = 1 / 8
"""Share of each of the others: that of all checks of numbers which rounds do not have, by three."""

CHECKS = Registry(
    f"{__package__}.checks",
    (
        Entry("input-contract", 0.0, OF_NUMBERS.entry("input-contract").check),
        Entry("mask-uniformity", _OWN, ".mask_uniformity:MaskUniformity", least=Least()),
        Entry("wrap-around", _OWN, ".wrap_around:WrapAround", least=Least()),
        Entry("recovery", _OWN, ".recovery:Recovery", least=Least(), rests_on_noise=True),
        *(OF_NUMBERS.entry(check) for check in _SHARED),
        Entry("privacy-claim", 0.0, ".privacy_claim:TallyPrivacyClaim", rests_on_noise=True),
    ),
    simplest_share=1 / 32,
)
