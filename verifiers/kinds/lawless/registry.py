"""The checks of a deployment without a law."""

from ...run.registry import Entry, Least, Registry

CHECKS = Registry(
    __package__,
    (
        Entry("input-contract", 1 / 64),
        Entry("fresh-noise", 3 / 64, ".fresh_replies:FreshReplies"),
        Entry("privacy-audit", 15 / 16, ".privacy_audit:LawlessPrivacyAudit", least=Least("share")),
    ),
    simplest_share=0.0,
)
