"""The checks of samplers; those of share 0 prove."""

from ...run.registry import Entry, Least, Registry

CHECKS = Registry(
    __package__,
    (
        Entry("input-contract", 0.0),
        Entry("repeats", 0.0, ".checks:Repeats", least=Least()),
        Entry("coverage", 0.0, ".checks:Coverage", least=Least()),
        Entry("batch-size", 0.3, ".checks:BatchSize", least=Least()),
        Entry("inclusion", 0.2, ".checks:Inclusion", least=Least()),
        Entry("independence", 0.5, ".checks:BatchIndependence", least=Least()),
        Entry("privacy-claim", 0.0, ".price:BatchesPrivacyClaim"),
    ),
    simplest_share=0.0,
)
