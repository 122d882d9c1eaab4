"""The checks of tallies: three of their own, and those of numbers that rounds have."""

from ...run.registry import Entry, Registry
from ..numbers.registry import shared

_SHARED = ("noise-law", "noise-scale", "location", "joint", "independence", "fresh-noise")
"""Checks of numbers, which look at the rounds to which all parties send."""

_OWN = 1 / 8
"""Share of each of the others: that of all checks of numbers which rounds do not have, by three."""

CHECKS = Registry(
    f"{__package__}.checks",
    (
        Entry("input-contract", 0.0, ("of_numbers",)),
        Entry("mask-uniformity", _OWN, ("mask_uniformity",)),
        Entry("wrap-around", _OWN, ("wrap_around",)),
        Entry("recovery", _OWN, ("recovery",)),
        *(shared(check, "of_numbers") for check in _SHARED),
        Entry("privacy-claim", 0.0, ("privacy_claim",), rests_on_noise=True),
    ),
    simplest_share=1 / 32,
)

SHARES = CHECKS.shares
