"""The checks of numbers, in the order of a report: each is a line here and a file in checks/."""

from ...findings.note import Note
from ...run.registry import Entry, Least, Registry

_NO_KEYS = Note("not-of-this-kind", "the deployment releases numbers, no keys")

CHECKS = Registry(
    f"{__package__}.checks",
    (
        Entry("input-contract", 1 / 64, ".input_contract:InputContract"),
        Entry(
            "noise-law",
            1 / 4,
            ".noise_law:NoiseLaw",
            least=Least("total_variation", 0.5),
            judges_noise=True,
        ),
        Entry(
            "noise-scale",
            1 / 8,
            ".noise_scale:NoiseScale",
            least=Least("factor", 0.5),
            judges_noise=True,
        ),
        Entry("location", 1 / 16, ".location:Location", least=Least("offset")),
        Entry(
            "shift-invariance",
            1 / 16,
            ".invariance:ShiftInvariance",
            least=Least("total_variation", 0.6),
        ),
        Entry(
            "permutation-equivariance",
            1 / 32,
            ".invariance:PermutationEquivariance",
            least=Least("total_variation", 0.6),
        ),
        Entry("joint", 1 / 32, ".joint:Joint", least=Least("share", 0.5), judges_noise=True),
        Entry(
            "independence",
            1 / 16,
            ".independence:Independence",
            least=Least("correlation"),
            judges_noise=True,
        ),
        Entry(
            "fresh-noise",
            1 / 16,
            ".fresh_noise:FreshNoise",
            least=Least("share"),
            judges_noise=True,
        ),
        Entry("clipping", 1 / 16, ".clipping:ClippingCheck", least=Least("beyond")),
        Entry("sensitivity", 1 / 16, ".clipping:Sensitivity", least=Least("beyond")),
        Entry("support", 1 / 32, ".support:Support", least=Least("share")),
        Entry("floating-point", 1 / 32, ".floating_point:FloatingPoint"),
        Entry("partition-release", 1 / 32, absent=_NO_KEYS, least=Least()),
        Entry("privacy-audit", 1 / 32, ".privacy_audit:PrivacyAudit"),
        Entry("accountant-soundness", 0.0, ".accountant_soundness:AccountantSoundness"),
        Entry("privacy-claim", 0.0, ".privacy_claim:NumbersPrivacyClaim", rests_on_noise=True),
        Entry("gradient-leakage", 1 / 32, ".gradient_leakage:GradientLeakage"),
        Entry("histogram-leakage", 0.0, ".histogram_leakage:HistogramLeakage"),
        Entry("budget-enforcement", 0.0, ".budget_enforcement:BudgetEnforcement"),
    ),
    simplest_share=1 / 64,
)

SHARES, SIMPLEST_SHARE = CHECKS.shares, CHECKS.simplest_share
