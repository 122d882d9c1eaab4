"""The checks of a deployment without a law."""

from ...run.registry import Entry, Registry

CHECKS = Registry(
    "", (Entry("input-contract", 0.0), Entry("privacy-audit", 1.0)), simplest_share=0.0
)
