"""The checks of a deployment without a law."""

from ...run.registry import Entry, Least, Registry

CHECKS = Registry(
    "",
    (
        Entry("input-contract", 0.0),
        Entry("fresh-noise", 1 / 16),
        Entry("privacy-audit", 15 / 16, least=Least("share")),
    ),
    simplest_share=0.0,
)
