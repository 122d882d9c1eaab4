"""The checks of labels, in the order of a report: a new one is a line here, and a file in checks/.

Checks of one phase run in this order; those that may use up a budget come last.
"""

from ...run.registry import Entry, Least, Registry

CHECKS = Registry(
    f"{__package__}.checks",
    (
        Entry("input-contract", 0.0, ".input_contract:LabelsInputContract"),
        Entry(
            "class-probabilities",
            1 / 4,
            ".class_probabilities:ClassProbabilities",
            least=Least("total_variation", 0.5),
            judges_noise=True,
        ),
        Entry(
            "noise-scale",
            1 / 8,
            ".noise_scale:LabelsNoiseScale",
            least=Least("factor", 0.5),
            judges_noise=True,
        ),
        Entry(
            "shift-invariance",
            1 / 16,
            ".compared_streams:LabelsShiftInvariance",
            least=Least("total_variation", 0.5),
        ),
        Entry(
            "permutation-equivariance",
            1 / 16,
            ".compared_streams:LabelsPermutationEquivariance",
            least=Least("total_variation", 0.5),
        ),
        Entry(
            "vote-monotonicity",
            1 / 16,
            ".compared_streams:VoteMonotonicity",
            least=Least("total_variation", 0.5),
        ),
        Entry(
            "fresh-noise",
            1 / 8,
            ".fresh_noise:LabelsFreshNoise",
            ".cached_answers:CachedAnswers",
            least=Least("share"),
            judges_noise=True,
        ),
        Entry("order", 1 / 16, ".order:Order", least=Least("factor", 0.5)),
        Entry("abstention", 1 / 16, ".abstention:Abstention"),
        Entry("accountant-soundness", 0.0, ".accountant_soundness:LabelsAccountantSoundness"),
        Entry("privacy-claim", 0.0, ".privacy_claim:PrivacyClaimCheck", rests_on_noise=True),
        Entry("privacy-audit", 1 / 16, ".privacy_audit:LabelsPrivacyAudit"),
        Entry("histogram-leakage", 1 / 16, ".histogram_leakage:LabelsHistogramLeakage"),
        Entry("budget-enforcement", 0.0, ".budget_enforcement:LabelsBudgetEnforcement"),
    ),
    simplest_share=1 / 16,
)

SHARES, SIMPLEST_SHARE = CHECKS.shares, CHECKS.simplest_share
