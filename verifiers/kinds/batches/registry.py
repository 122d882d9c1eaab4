"""The checks of samplers; those of share 0 prove."""

from ...run.registry import Entry, Least, Registry

CHECKS = Registry(
    "",
    (
        Entry("input-contract", 0.0),
        Entry("repeats", 0.0, least=Least()),
        Entry("coverage", 0.0, least=Least()),
        Entry("batch-size", 0.3, least=Least()),
        Entry("inclusion", 0.2, least=Least()),
        Entry("independence", 0.5, least=Least()),
        Entry("privacy-claim", 0.0),
    ),
    simplest_share=0.0,
)
