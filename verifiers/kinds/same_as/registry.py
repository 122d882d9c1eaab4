"""The checks of a deployment that claims the law of another."""

from ...run.registry import Entry, Least, Registry

CHECKS = Registry(
    __package__,
    (
        Entry("input-contract", 0.0),
        Entry("same-law", 1.0, ".same_law:SameLaw", least=Least("share")),
    ),
    simplest_share=0.0,
)
