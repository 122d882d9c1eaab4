"""The checks of a deployment without a law."""

from ...run.registry import Entry, Least, Registry

CHECKS = Registry(
    "",
    (
        Entry("input-contract", 1 / 64),
        Entry("fresh-noise", 3 / 64),
        Entry("privacy-audit", 15 / 16, least=Least("share")),
    ),
    simplest_share=0.0,
)
