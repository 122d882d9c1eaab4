"""The checks of samplers; those of share 0 prove."""

from ...run.registry import Entry, Registry

CHECKS = Registry(
    "",
    (
        Entry("input-contract", 0.0),
        Entry("repeats", 0.0),
        Entry("coverage", 0.0),
        Entry("batch-size", 0.3),
        Entry("inclusion", 0.2),
        Entry("independence", 0.5),
        Entry("privacy-claim", 0.0),
    ),
    simplest_share=0.0,
)
